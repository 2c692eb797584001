"""Long docstrings: their entries are kept alone, and what is kept is still a docstring."""

import ast

import pytest

from ctxcompress import Passage, compress
from ctxcompress.data.passages import NodeKind
from ctxcompress.segment.docstrings import docstring_parts
from ctxcompress.segment.source_code import code_segments, outline

OTHERS = ("depth", "width", "grace", "retries", "priority", "quota", "colour", "weight")
NUMPYDOC = "Parameters\n----------\n" + "".join(
    f"{name} : int\n    The {name} of the pond that is used when its ducks are counted. It must be positive.\n"
    for name in OTHERS
)
GOOGLE = "Args:\n" + "".join(
    f"    {name} (int): The {name} of the pond that is used when its ducks are counted.\n        It must be positive.\n"
    for name in OTHERS
)
SPHINX = "".join(
    f":param {name}: The {name} of the pond that is used when its ducks are counted.\n    It must be positive.\n"
    f":type {name}: int\n"
    for name in OTHERS
)
DOCS = {
    "numpydoc": NUMPYDOC
    + "linger : float\n    Seconds that a duck stays: 2.5.\n\nReturns\n-------\nint\n    The ducks.\n",
    "google": GOOGLE + "    linger (float): Seconds that a duck stays: 2.5.\n\nReturns:\n    The ducks.\n",
    "sphinx": SPHINX + ":param linger: Seconds that a duck stays: 2.5.\n:type linger: float\n:returns: The ducks.\n",
}
METHODS = "".join(
    f'    def count_{name}_{n}(self, value):\n        """Count the {name} of the pond."""\n'
    f"        total = value + {n}\n        self.{name}_{n} = total\n        return total * {n}\n\n"
    for n in range(8)
    for name in ("duck", "frog", "reed", "stone", "heron", "newt", "lily")
)


def source(doc, opening='"""Dig a pond.\n\n', newline="\n"):
    lines = "".join(f"        {line}".rstrip(" ") for line in doc.splitlines(keepends=True))
    names = ", ".join((*OTHERS, "linger"))
    head = f'class Pond:\n    """Hold ducks."""\n\n    def __init__(self, {names}):\n        {opening}'
    text = f'{head}{lines}        """\n        self.depth = depth\n        self.width = width\n\n{METHODS}'
    return text.replace("\n", newline)


def kept(text, query, budget):
    return compress(query, [Passage("p", text, file_path="pond.py")], max_tokens=budget).text


def parts_of(text):
    return code_segments(text, outline(text, "pond.py"), 200)


def docstring(text):
    (pond,) = [node for node in ast.parse(text).body if isinstance(node, ast.ClassDef)]
    (init,) = [node for node in pond.body if getattr(node, "name", "") == "__init__"]
    return ast.get_docstring(init)


@pytest.mark.parametrize("budget", [150, 200, 300, 500, 1000])
@pytest.mark.parametrize("opening", ['"""Dig a pond.\n\n', '"""\n', 'r"""\n        Dig a pond.\n\n'])
@pytest.mark.parametrize("style", DOCS)
def test_the_entry_that_is_asked_about_is_kept_in_its_docstring(style, opening, budget):
    found = docstring(kept(source(DOCS[style], opening), "what is the default of linger?", budget))
    assert "Seconds that a duck stays: 2.5." in found
    assert "linger" in found


@pytest.mark.parametrize("style", DOCS)
def test_markers_show_what_is_missing_in_a_docstring(style):
    found = docstring(kept(source(DOCS[style]), "what is the default of linger?", 150)).splitlines()
    assert found[0] == "Dig a pond."
    (entry,) = [number for number, line in enumerate(found) if "linger" in line and "type" not in line]
    assert found[entry - 1].strip() == "..."
    assert found[-1].strip() == "..."


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("style", DOCS)
def test_whatever_is_kept_parses(style, newline):
    text = source(DOCS[style], newline=newline)
    for name in ("linger", "colour", "ducks"):
        for budget in range(60, 700, 40):
            ast.parse(kept(text, f"what is {name}?", budget))


@pytest.mark.parametrize("style", DOCS)
def test_the_entries_of_a_docstring_are_segments(style):
    text = source(DOCS[style])
    segments = parts_of(text)
    entries = {item.label: item for item in segments if item.unit is NodeKind.DOC and item.label}
    assert set(entries) >= {*OTHERS, "linger"}
    linger = entries["linger"]
    assert linger.heading == ("Pond", "__init__")
    needed = "".join(text[segments[n].start : segments[n].end] for n in sorted(linger.needs))
    assert needed.count('"""') == 2
    assert "def __init__(" in needed
    assert "".join(text[item.start : item.end] for item in segments) == text


def test_a_short_docstring_stays_whole():
    doc = "linger : float\n    Seconds.\n\ndepth : int\n    Metres.\n"
    (item,) = [item for item in parts_of(source(doc)) if "linger : float" in source(doc)[item[1] : item[2]]]
    assert item.label == ""
    assert "depth : int" in source(doc)[item.start : item.end]


def test_a_later_paragraph_of_an_entry_needs_the_first():
    more = "\n\n".join(
        f"    Paragraph {n} about what a duck that lingers does all the day long. " * 4 for n in range(4)
    )
    text = source(f"{NUMPYDOC}linger : float\n    Seconds.\n\n{more}\n\nreeds : int\n    Number of reeds.\n")
    segments = parts_of(text)
    first, *later = [n for n, item in enumerate(segments) if item.label == "linger"]
    assert later
    assert all(first in segments[n].needs for n in later)


@pytest.mark.parametrize(
    ("doc", "entries"),
    [
        ("Note: ducks are birds: all of them\nswim.\n", ["Note"]),
        ("Dig it for\nducks: they like it.\n", []),
        ("x\n    The x.\ny, z\n    Others.\n", ["x", "y, z"]),
        ("*args : tuple\n    Rest.\n**options\n    More.\n", ["*args", "**options"]),
        ("Args:\n  x: One.\n  y: Two\n    lines.\n\nRaises:\n  ValueError: Never.\n", ["x", "y", "ValueError"]),
        ("@param x: One.\n@return: Two.\n", ["x", "return"]),
        ("Example::\n\n    x: y\n", ["x"]),
        ("Parameters\n----------\n", []),
        (">>> {1: 2}\n{1: 2}\n", []),
    ],
)
def test_what_is_an_entry(doc, entries):
    parts = list(docstring_parts(doc, 0, len(doc), 500))
    assert [part.entry for part in parts if part.entry] == entries
    assert "".join(doc[part.start : part.end] for part in parts) == doc


@pytest.mark.parametrize(
    "line", ["a, " * 20_000, ":param " + "a " * 20_000, "a (" * 20_000, "a." * 20_000, "a\n" * 20_000]
)
def test_long_lines_are_no_burden(line):
    assert list(docstring_parts(line, 0, len(line), 500))
