"""Tells whether source code is valid, as tree-sitter reads it."""

import functools
import importlib

from tree_sitter import Language, Parser

_FUNCTIONS = {
    "python": ("tree_sitter_python", "language"),
    "javascript": ("tree_sitter_javascript", "language"),
    "typescript": ("tree_sitter_typescript", "language_typescript"),
    "tsx": ("tree_sitter_typescript", "language_tsx"),
    "java": ("tree_sitter_java", "language"),
    "go": ("tree_sitter_go", "language"),
    "rust": ("tree_sitter_rust", "language"),
    "c": ("tree_sitter_c", "language"),
    "cpp": ("tree_sitter_cpp", "language"),
}


@functools.cache
def _parser(language):
    module, function = _FUNCTIONS[language]
    return Parser(Language(getattr(importlib.import_module(module), function)()))


def parses(text, language):
    return not _parser(language).parse(text.encode()).root_node.has_error
