"""Outlines of whole files by tree-sitter, where its grammars are installed (the extra `code`)."""

from collections.abc import Callable
from importlib import import_module
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

_CHUNK = 1 << 16
"""Bytes that the parser is given at a time."""
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

    None where it cannot be said for sure: the language is none of these, the extra `code` is not installed, or the
    text is not valid in the language. Takes time linear in the length of the text.
    """
    if language not in _GRAMMARS:
        return None
    package, function, syntax = _GRAMMARS[language]
    parser = _parser(package, function)
    if parser is None:
        return None
    source = text.encode("utf-8", "replace")  # lone surrogates, which may only be in strings and comments
    try:
        tree = parser.parse(_reader(source), progress_callback=lambda _, has_error: has_error)
    except ValueError:  # stopped at an error: to recover from many takes far longer than to parse
        return None
    return None if tree.root_node.has_error else outline_of(tree.root_node, text, source, syntax)


def _parser(package: str, function: str) -> "Parser | None":
    try:
        tree_sitter, grammar = import_module("tree_sitter"), import_module(package)
    except ImportError:
        return None
    parser: Parser = tree_sitter.Parser(tree_sitter.Language(getattr(grammar, function)()))
    return parser


def _reader(source: bytes) -> Callable[[int, object], bytes]:
    """What gives the parser the source in parts, as it must be for it to tell how it goes."""
    return lambda offset, _: source[offset : offset + _CHUNK]
