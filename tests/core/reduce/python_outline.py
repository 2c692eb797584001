"""Outlines of Python by its own parser, to check what is made of outlines apart from how they are found."""

import ast

from ctxcompress.data.passages import Node, NodeKind

__all__ = ["python_outline"]

_DEFINES = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def python_outline(text):
    """The outline of a module that parses, of which each statement has lines of its own."""
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    starts[-1] = len(text)
    return _nodes(ast.parse(text).body, starts, 0, len(text), "")


def _nodes(body, starts, start, end, prefix):
    """A node begins where the one before it ends: comments and blank lines go with what follows."""
    ends = [starts[statement.end_lineno or 0] for statement in body[:-1]] + [end]
    begins = [start, *ends[:-1]]
    return tuple(
        _node(statement, starts, begin, stop, prefix) for statement, begin, stop in zip(body, begins, ends, strict=True)
    )


def _node(statement, starts, start, end, prefix):
    if not isinstance(statement, _DEFINES):
        doc = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        imports = isinstance(statement, ast.Import | ast.ImportFrom)
        kind = NodeKind.DOC if doc else NodeKind.IMPORTS if imports else NodeKind.STATEMENT
        return Node(kind, start, end)
    name, is_class = prefix + statement.name, isinstance(statement, ast.ClassDef)
    kind = NodeKind.CLASS if is_class else NodeKind.METHOD if prefix else NodeKind.FUNCTION
    signature, body = starts[statement.lineno - 1], starts[_last_line_of_head(statement)]
    if statement.body[0].lineno == statement.lineno:  # all on one line
        return Node(kind, start, end, name, signature)
    children = _nodes(statement.body, starts, body, end, name + ".")
    return Node(kind, start, end, name, signature, body, end, children=children)


def _last_line_of_head(statement):
    """Before its first statement, its decorators and the comments that may stand above it: the last line of the
    signature is the last one of its arguments, bases or annotations."""
    parts = []
    if isinstance(statement, ast.ClassDef):
        parts += [*statement.bases, *(keyword.value for keyword in statement.keywords)]
    else:
        parts += [part for part in ast.walk(statement.args) if hasattr(part, "end_lineno")]
        parts += [statement.returns] if statement.returns else []
    return max([statement.lineno, *(getattr(part, "end_lineno", 0) or 0 for part in parts)])
