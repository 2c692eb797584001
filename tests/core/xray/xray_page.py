"""Reads a page back: its elements as a tree, and the texts of the passages out of it."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = ("meta", "input")
OURS = frozenset(
    "html head meta title style body header main section nav article details summary h1 h2 h3 p a b i bdi small strong "
    "sup mark del ins div span ol li dl dt dd table thead tbody tr th td svg rect line fieldset legend label input "
    "blockquote code".split()
)
OMITTED = "\0"
"""Stands for a character that is not on the page."""


@dataclass
class Node:
    """An element."""

    name: str
    attributes: dict[str, str]
    inside: list["Node | str"] = field(default_factory=list)

    @property
    def classes(self):
        return self.attributes.get("class", "").split()

    def all(self):
        """This one and all in it."""
        yield self
        for part in self.inside:
            if isinstance(part, Node):
                yield from part.all()

    def find(self, name, of_class=None):
        return [node for node in self.all() if node.name == name and (of_class is None or of_class in node.classes)]

    @property
    def text(self):
        return "".join(part if isinstance(part, str) else part.text for part in self.inside)


class _Reader(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.root = Node("", {})
        self.open = [self.root]

    def handle_starttag(self, tag, attrs):
        assert tag in OURS, f"<{tag}> is none of ours"
        node = Node(tag, dict(attrs))
        assert len(node.attributes) == len(attrs)
        self.open[-1].inside.append(node)
        if tag not in VOID:
            self.open.append(node)

    def handle_endtag(self, tag):
        assert self.open.pop().name == tag, f"</{tag}> closes what is not open"

    def handle_data(self, data):
        self.open[-1].inside.append(data)

    def handle_comment(self, data):
        raise AssertionError(f"a comment: {data}")

    def unknown_decl(self, data):
        raise AssertionError(f"a declaration: {data}")

    def handle_pi(self, data):
        raise AssertionError(f"an instruction: {data}")


def read(page):
    """The page as a tree. Fails where an element is not closed, or is none of those that a page has."""
    page.encode()  # it can be written
    reader = _Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == [reader.root], f"<{reader.open[-1].name}> is not closed"
    return reader.root


def check_safe(root):
    """No scripts, no styles but the one, nothing from elsewhere; every link goes to a place on the page."""
    nodes = list(root.all())
    ids = [node.attributes["id"] for node in nodes if "id" in node.attributes]
    assert len(ids) == len(set(ids))
    for node in nodes:
        told = set(node.attributes)
        assert not told & {"style", "src", "srcset", "action"}
        assert not any(name.startswith("on") for name in told)
        if "href" in told:
            assert node.attributes["href"].startswith("#")
            assert node.attributes["href"][1:] in ids
        for name in ("aria-labelledby",):
            assert node.attributes.get(name) is None or node.attributes[name] in ids


def written(node):
    """The characters of a passage's text in this element, with one sign for each that is omitted."""
    found = []
    for part in node.inside:
        if isinstance(part, str):
            found.append(part)
        elif part.name == "bdi" and part.classes == ["u"]:
            found.append(chr(int(part.text.removeprefix("U+"), 16)))
        elif part.name == "bdi" and part.classes == ["more"]:
            found.append(OMITTED * int(part.text.split()[0].replace(",", "")))
        elif not (part.name in ("sup", "summary") or part.classes in (["why"], ["m"], ["to"])):
            found.append(written(part))
    return "".join(found)


def shows(shown, text):
    """Whether what is shown is the text, but for what is said to be omitted."""
    return len(shown) == len(text) and all(a in (b, OMITTED) for a, b in zip(shown, text, strict=True))
