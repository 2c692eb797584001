"""Statements of many clauses, cases or entries: what is kept of them parses, and holds what is asked about."""

import ast
from functools import partial
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from source_parsing import parses

from ctxcompress import Passage, compress

N = 60


def clauses(first, other, last=""):
    return first + "".join(other.replace("N", str(n)) for n in range(1, N)) + last


ELIF = clauses(
    "if a == 0:\n    s = apply0(s)\n", "elif a == N:\n    s = applyN(s)\n    log('did N')\n", "else:\n    pass\n"
)
EXCEPT = clauses("try:\n    s = apply0(s)\n", "except ErrorN:\n    s = applyN(s)\n    log('did N')\n")
TRY_ELSE = EXCEPT + "else:\n    s = 1\nfinally:\n    close(s)\n"
MATCH = clauses("match a:\n", "    case N:\n        s = applyN(s)\n        log('did N')\n")
WRAPPED = "def reducer(s, a):\n" + "".join(f"    {line}\n" for line in ELIF.splitlines()) + "    return s\n"
ELSE_IF = clauses(
    "if (a == 0) {\n    s = apply0(s);\n", "} else if (a == N) {\n    s = applyN(s);\n    log(N);\n", "}\n"
)
HANGING = clauses("if (a == 0) {\n    s = apply0(s);\n}\n", "else if (a == N) {\n    s = applyN(s);\n    log(N);\n}\n")
SWITCH = clauses("switch (a) {\n", "case N:\n    s = applyN(s);\n    log('did N');\n    break;\n", "}\n")
CODES = (
    "# Codes of the widgets,\n# by name.\nCODES = {\n" + "".join(f"    'k{n}': 'apply{n}',\n" for n in range(N)) + "}\n"
)
NESTED = "CODES = {\n    'a': [\n" + "".join(f"        'apply{n}',\n" for n in range(N)) + "    ],\n    'b': 1,\n}\n"
SUM = "TOTAL = (\n    first\n" + "".join(f"    + apply{n}(rate, amount, {n})\n" for n in range(N)) + ")\n"

PYTHON = {
    "elif": ELIF,
    "except": EXCEPT,
    "try else": TRY_ELSE,
    "match": MATCH,
    "in a function": WRAPPED,
    "table": CODES,
    "nested table": NESTED,
    "sum": SUM,
}
BRACES = {"else if": ELSE_IF, "hanging else": HANGING, "switch": SWITCH}
TEXTS = [(name, "a.py") for name in PYTHON] + [(name, "a.js") for name in BRACES]


def kept(text, path, query, budget):
    # Something else to keep, so that a statement is not all that there is.
    more = (
        "def lookup(code):\n    return code\n" if path == "a.py" else "function lookup(code) {\n    return code;\n}\n"
    )
    return compress(query, [Passage("a", f"{text}\n\n{more}", file_path=path)], max_tokens=budget).text


@pytest.mark.parametrize(("name", "path"), [case for case in TEXTS if case[0] != "sum"])
def test_the_clause_that_is_asked_about_is_kept(name, path):
    text = kept({**PYTHON, **BRACES}[name], path, "what does apply37 do", 150)
    assert "apply37" in text
    assert "apply58" not in text
    assert parses(text, "python" if path == "a.py" else "javascript")


@given(name=st.sampled_from(TEXTS), budget=st.integers(80, 400), number=st.integers(0, N))
def test_what_is_kept_can_be_parsed(name, budget, number):
    name, path = name
    text = kept({**PYTHON, **BRACES}[name], path, f"apply{number}", budget)
    if name != "sum":  # one expression, which has no part that could stand alone
        assert parses(text, "python" if path == "a.py" else "javascript"), text


COLUMNS = "".join(f"    place{n} numeric(4) DEFAULT ({n}),\n" for n in range(N))
ROUTINE = "".join(f"    v{n} := place{n} * 2;\n" for n in range(N))
QUERY = "".join(f"    OR (house.place{n} > 2)\n" for n in range(N))
STATEMENTS = {
    "brackets": ("a.sql", f"CREATE TABLE house (\n{COLUMNS}    door integer\n);\n", ("CREATE TABLE house (", ");")),
    "dollars": ("a.sql", f"CREATE FUNCTION house() RETURNS int\nAS $$\n{ROUTINE}$$;\n", ("CREATE FUNCTION", "$$;")),
    "quotes": ("a.py", f'QUERY = """\n{QUERY}"""\n', ('QUERY = """', '"""\n')),
    "backticks": ("a.js", f"const query = `\n{QUERY}`;\n", ("const query = `", "`;")),
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_statement_larger_than_the_budget_is_cut_between_its_lines(name):
    path, text, edges = STATEMENTS[name]
    passages = [Passage("a", text, file_path=path), Passage("b", "ALTER TABLE house OWNER TO me;\n", file_path="b.sql")]
    left = compress("what is place37?", passages, max_tokens=120).text
    assert "place37" in left
    assert "place20" not in left
    assert all(edge in left for edge in edges)
    assert {line.strip() for line in left.splitlines()} & {"-- ...", "# ...", "// ..."}


def test_a_line_of_a_long_statement_stays_with_the_line_that_it_goes_on_from():
    calls = "".join(f"    list{n}\n        .map(first)\n        .filter(second{n}),\n" for n in range(N))
    for number in range(0, N, 7):
        left = kept(f"join(\n{calls});\n", "a.js", f"second{number}", 100)
        assert parses(left, "javascript"), left


def test_what_is_left_out_of_a_chain_is_marked():
    lines = kept(ELSE_IF, "a.js", "what does apply37 do", 70).splitlines()
    at = lines.index("} else if (a == 37) {")
    marked = [number for number, line in enumerate(lines) if line.strip() == "// ..."]
    assert min(marked) < at < max(marked)
    lines = kept(WRAPPED, "a.py", "what does apply37 do", 70).splitlines()
    assert "        # ..." in lines[: lines.index("    elif a == 37:")]


def test_the_else_of_a_try_stays_with_what_it_belongs_to():
    text = TRY_ELSE.replace("    s = apply0(s)\n", "    s = apply0(s)\n" * 4)
    trees = [ast.parse(kept(text, "a.py", "apply0", budget)) for budget in range(40, 240, 4)]
    statements = [node for tree in trees for node in tree.body if isinstance(node, ast.Try)]
    assert len(statements) > 10
    assert all(statement.handlers and statement.orelse and statement.finalbody for statement in statements)


def test_clauses_are_not_cut_where_the_indentation_is_wrong():
    # The "else" stands below the outer "if", and belongs to the inner one.
    inner = "    if (b) {\n        apply1(s);\n} else {\n" + "    apply2(s);\n" * N + "    }\n"
    text = f"if (a) {{\n    apply0(s);\n}} else if (c) {{\n{inner}}}\n"
    for budget in range(30, 500, 30):
        left = kept(text, "a.js", "apply0", budget)
        assert parses(left, "javascript"), left


def test_a_docstring_below_a_comment_is_cut_within_its_quotes():
    paragraphs = "\n\n".join(
        f"The {word} of the house {n} is there for the colour of the wall and nothing else. " * 3
        for n, word in enumerate(("desk", "lamp", "lift", "door") * 3)
    )
    text = f'#\n# All rights are ours.\n#\n"""\nHouses.\n\n{paragraphs}\n"""\n\nclass House:\n    number = 1\n'
    for budget in range(30, 200, 10):
        ast.parse(kept(text, "a.py", "the lift of house 6", budget))


@pytest.mark.parametrize("count", [1_000, 20_000])
def test_many_clauses_are_no_burden(count):
    random = Random(0)
    names = partial(random.choice, ("red", "green", "blue"))
    text = "if a:\n    pass\n" + "".join(f"elif a == {n}:\n    {names()}({n})\n" for n in range(count))
    assert compress("green", [Passage("a", text, file_path="a.py")], max_tokens=100).tokens <= 100
