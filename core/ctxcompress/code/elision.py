"""Markers for what is left out of source code: so that a reader sees that something is missing, and a parser finds a
body where there has to be one."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ctxcompress.data.passages import Node, NodeKind, Span

__all__ = ["PROSE", "Elision", "Marks", "comment_sign", "marks_for"]

_HASHES = frozenset("python ruby shell perl r julia elixir yaml toml".split())
_DASHES = frozenset(("sql", "lua", "haskell"))
_HOLDERS = frozenset((NodeKind.CLASS, NodeKind.TYPE, NodeKind.NAMESPACE))


def comment_sign(language: str) -> str:
    """What begins a comment in a programming language; "//" for an unknown one."""
    if language in _HASHES:
        return "#"
    return "--" if language in _DASHES else "//"


class Elision:
    """Tells where in a text with an outline markers have to stand."""

    __slots__ = ("_language", "_nodes", "_text")

    def __init__(self, text: str, nodes: Sequence[Node], language: str) -> None:
        self._text, self._nodes, self._language = text, nodes, language

    def markers(self, spans: Sequence[Span]) -> list[tuple[int, str]]:
        """(end of the span after which it stands, its text with the line break before it), where only these spans of
        the text are kept.

        One stands for all that is left out of a function between two of its statements, where nothing is left in a
        body, and for other clauses of a statement; what is left out of a class beside other members needs none. In
        Python it is `...` where the body would be empty, which is not allowed there, else a comment. JSON has no
        comments, and no markers.
        """
        if self._language == "json" or not spans or tuple(spans) == ((0, len(self._text)),):
            return []
        found: dict[int, str] = {}
        for place, mark in self._of_nodes(self._nodes, _Kept(self._text, spans)):
            if place not in found or comment_sign(self._language) not in mark:
                found[place] = mark
        return sorted(found.items())

    def _of_nodes(self, nodes: Sequence[Node], kept: "_Kept") -> Iterator[tuple[int, str]]:
        for node in nodes:
            if node.body < 0 or not kept.any(node.start, node.end):
                continue
            if node.kind is NodeKind.STATEMENT:
                yield from self._clauses(node, kept)
            if not kept.has_end(node.start, node.body):  # another clause is kept, not the one with the body
                continue
            gone = [not kept.any(child.start, child.end) for child in node.children]
            if all(gone) or (self._language == "python" and not self._has_statement(node, gone)):
                yield from self._empty(node, kept)
            elif node.kind not in _HOLDERS:
                yield from self._gaps(node, gone, kept)
            yield from self._of_nodes(node.children, kept)

    def _has_statement(self, node: Node, gone: Sequence[bool]) -> bool:
        """Whether something that is kept of a body is no mere comment."""
        lines = (
            line
            for child, is_gone in zip(node.children, gone, strict=True)
            if not is_gone
            for line in self._text[child.start : child.end].split("\n")
        )
        return any(line.strip() and not line.lstrip().startswith("#") for line in lines)

    def _empty(self, node: Node, kept: "_Kept") -> Iterator[tuple[int, str]]:
        anchor = kept.last_before(node.tail)  # comments may be kept of it
        yield self._marker(node.children[0], anchor, self._nothing(node))

    def _nothing(self, node: Node) -> str:
        """What stands for all of a body, where the language allows none that is empty."""
        if self._language != "python":
            return ""
        head = self._text[node.start : node.body].lstrip()
        return "case _: ..." if head.startswith("match ") else "..."

    def _gaps(self, node: Node, gone: Sequence[bool], kept: "_Kept") -> Iterator[tuple[int, str]]:
        before = False
        for child, is_gone in zip(node.children, gone, strict=True):
            is_blank = not self._text[child.start : child.end].strip()
            if is_gone and not before and not is_blank:
                yield self._marker(child, kept.last_before(child.start), "")
            before = is_gone if not is_blank else before

    def _clauses(self, node: Node, kept: "_Kept") -> Iterator[tuple[int, str]]:
        for start, end in ((node.start, node.body), (node.tail, node.end)):
            for gap in kept.gaps(start, end):
                anchor = kept.last_before(gap)
                if anchor >= node.start and "\n" in self._text[anchor:gap]:
                    yield self._marker(node.children[0], anchor, "")

    def _marker(self, node: Node, anchor: int, what: str) -> tuple[int, str]:
        """A line of its own, indented as the node is."""
        part = self._text[node.start : node.end]
        line = part[len(part) - len(part.lstrip()) - 1 :: -1] if part[:1].isspace() else ""
        indent = line[: len(line) - len(line.lstrip(" \t"))]
        newline = "\r\n" if self._text.find("\r\n", anchor, node.end) >= 0 else "\n"
        return anchor, f"{newline}{indent[::-1]}{what or comment_sign(self._language) + ' ...'}"


class _Kept:
    """Spans that are kept, to be asked."""

    def __init__(self, text: str, spans: Sequence[Span]) -> None:
        self._text, self._spans = text, spans
        self._starts = [start for start, _ in spans]
        self._ends = [end for _, end in spans]

    def any(self, start: int, end: int) -> bool:
        """Whether something but white space is kept between two offsets."""
        first, last = bisect_right(self._ends, start), bisect_left(self._starts, end)
        return any(self._text[max(a, start) : min(b, end)].strip() for a, b in self._spans[first:last])

    def has_end(self, start: int, end: int) -> bool:
        """Whether the last thing between two offsets is kept, white space apart."""
        return self.last_before(end) == start + len(self._text[start:end].rstrip())

    def gaps(self, start: int, end: int) -> Iterator[int]:
        """Where something but white space between two offsets begins that is not kept."""
        first, last = bisect_right(self._ends, start), bisect_left(self._starts, end)
        for a, b in (*self._spans[first:last], (end, end)):
            if self._text[start:a].strip():
                yield a - len(self._text[start:a].lstrip())
            start = max(start, b)

    def last_before(self, offset: int) -> int:
        """Where the last thing that is kept before an offset ends, white space apart; -1 if nothing is."""
        for start, end in reversed(self._spans[: bisect_left(self._starts, offset)]):
            bare = self._text[start : min(end, offset)].rstrip()
            if bare:
                return start + len(bare)
        return -1


_COMMENTS = {"#": ("# ", "##", "#\t", "#\n", "#\r"), "--": ("--",), "//": ("//", "/*", "* ", "*/")}
_SCRIPTS = frozenset(("javascript", "typescript", "tsx"))


@dataclass(frozen=True, slots=True)
class Marks:
    """How one language marks a gap."""

    gap: str
    """For what stood between two others."""
    body: str
    """For a whole body, which in Python must not be empty."""
    comments: tuple[str, ...] = ()
    """How lines begin that are nothing but comment."""
    is_script: bool = False
    """Whether the language is JavaScript or TypeScript."""


PROSE = Marks("[…]", "[…]")


def marks_for(language: str) -> Marks:
    """How gaps are marked in source code of this language, as `source_language` calls it."""
    sign = comment_sign(language)
    if language == "python":
        return Marks("# ...", "...", ("#",))
    return Marks(f"{sign} ...", f"{sign} ...", _COMMENTS[sign], language in _SCRIPTS)
