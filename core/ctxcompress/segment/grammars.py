"""Outlines of whole files by tree-sitter, where its grammars are installed (the extra `code`)."""

import re
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from types import MappingProxyType
from typing import TYPE_CHECKING

from ctxcompress.outline import Node
from ctxcompress.segment.cutting import outline_of
from ctxcompress.segment.declarations import GO, JAVA, PYTHON, RUST
from ctxcompress.segment.declarations_c import CPP, C
from ctxcompress.segment.declarations_script import SCRIPT

if TYPE_CHECKING:
    from tree_sitter import Parser

__all__ = ["parsed_outline"]

_SAFE = (0, 26, 1)
"""The first tree-sitter that takes a text in parts and can be stopped. Older ones crash the interpreter then, and may
be installed without the extra `code`."""
_CHUNK = 1 << 12
"""Bytes that the parser is given at a time."""
_READS = 50
"""How often it may ask for each part, on average. About twice is enough; but Python's grammar looks from each comment
to the end of all that follow one another, which takes time quadratic in their number."""
_FEWEST_READS = 1_000
"""How often it may ask whatever the length: at each of many levels of indentation that end together, say."""
_GRAMMARS = MappingProxyType(
    {
        "python": ("tree_sitter_python", "language", PYTHON),
        "javascript": ("tree_sitter_javascript", "language", SCRIPT),
        "typescript": ("tree_sitter_typescript", "language_typescript", SCRIPT),
        "tsx": ("tree_sitter_typescript", "language_tsx", SCRIPT),
        "java": ("tree_sitter_java", "language", JAVA),
        "go": ("tree_sitter_go", "language", GO),
        "rust": ("tree_sitter_rust", "language", RUST),
        "c": ("tree_sitter_c", "language", C),
        "cpp": ("tree_sitter_cpp", "language", CPP),
    }
)
"""Language -> the package of its grammar, the function there, and what is what in its trees."""


def parsed_outline(text: str, language: str) -> tuple[Node, ...] | None:
    """The outline of a whole file: its top-level nodes, which partition the text.

    language: python, javascript, typescript, tsx, java, go, rust, c or cpp.

    None where it cannot be said for sure: the language is none of these, the extra `code` is not installed or its
    tree-sitter is too old, or the text is not valid in the language. Takes time linear in the length of the text.
    """
    if language not in _GRAMMARS:
        return None
    package, function, syntax = _GRAMMARS[language]
    parser = _parser(package, function)
    if parser is None:
        return None
    source = text.encode("utf-8", "replace")  # lone surrogates, which may only be in strings and comments
    reader = _Reader(source, _FEWEST_READS + _READS * len(source) // _CHUNK)
    try:
        tree = parser.parse(reader, progress_callback=lambda _, has_error: has_error or reader.left < 0)
    except ValueError:  # stopped: to recover from an error takes far longer than to parse what has none
        return None
    return None if tree.root_node.has_error or reader.left < 0 else outline_of(tree.root_node, text, source, syntax)


def _parser(package: str, function: str) -> "Parser | None":
    if not _is_safe():
        return None
    try:
        tree_sitter, grammar = import_module("tree_sitter"), import_module(package)
    except ImportError:
        return None
    parser: Parser = tree_sitter.Parser(tree_sitter.Language(getattr(grammar, function)()))
    return parser


@cache
def _is_safe() -> bool:
    try:
        numbers = tuple(map(int, re.findall(r"\d+", version("tree-sitter"))))
    except PackageNotFoundError:
        return False
    return numbers >= _SAFE


@dataclass(slots=True)
class _Reader:
    """Gives the parser the source in parts, and nothing once it has asked too often."""

    source: bytes
    left: int
    """How often it may still ask."""

    def __call__(self, offset: int, _: object) -> bytes:
        self.left -= 1
        return self.source[offset : offset + _CHUNK] if self.left >= 0 else b""
