"""The syntax of C and C++: what their declarations define, and what they export."""

from types import MappingProxyType
from typing import TYPE_CHECKING

from ctxcompress.code.syntax import COMMENTS, Declaration, Scope, Syntax, text_of
from ctxcompress.data.passages import NodeKind

__all__ = ["CPP", "C"]

if TYPE_CHECKING:
    from tree_sitter import Node as Tree


_KINDS = MappingProxyType(
    {
        "namespace_definition": NodeKind.NAMESPACE,
        "linkage_specification": NodeKind.NAMESPACE,
        "preproc_def": NodeKind.CONSTANT,
        "preproc_function_def": NodeKind.FUNCTION,
        "concept_definition": NodeKind.TYPE,
        "alias_declaration": NodeKind.TYPE,
        "class_specifier": NodeKind.CLASS,
        "struct_specifier": NodeKind.TYPE,
        "union_specifier": NodeKind.TYPE,
        "enum_specifier": NodeKind.TYPE,
    }
)
"""Nodes whose name is a field -> kind."""
_IMPORTS = frozenset(("preproc_include", "using_declaration"))
_DECLARATIONS = frozenset(("declaration", "field_declaration"))
_NAMES = frozenset(
    "identifier field_identifier type_identifier destructor_name operator_name operator_cast template_function".split()
)


def _declaration(tree: "Tree", scope: Scope, source: bytes) -> Declaration | None:
    if tree.type in _IMPORTS:
        return Declaration(NodeKind.IMPORTS, "", tree)
    tree = _declared(tree)
    declarator = tree.child_by_field_name("declarator")
    if tree.type in _KINDS:
        return _named_declaration(_KINDS[tree.type], tree, scope, source)
    if tree.type == "type_definition":
        return Declaration(NodeKind.TYPE, _name(declarator, source), tree, True)
    if tree.type != "function_definition" and tree.type not in _DECLARATIONS:
        return None
    is_function = tree.type == "function_definition" or _is_function(declarator)
    if scope.local and not is_function:
        return None
    name = _name(declarator, source)
    static = any(part.type == "storage_class_specifier" for part in tree.children[:2]) and not scope.owner
    kind = NodeKind.FUNCTION if is_function else NodeKind.CONSTANT
    exported = scope.exports_members if scope.owner else not (static and _is_static(tree, source))
    return Declaration(kind, name, tree, exported, is_function and "." in name)


def _declared(tree: "Tree") -> "Tree":
    """Return what a template, a linkage specification or a declaration of only a type declares."""
    while tree.type in ("template_declaration", "linkage_specification") or tree.type in _DECLARATIONS:
        if tree.type in _DECLARATIONS:
            inner = tree.child_by_field_name("type") if tree.child_by_field_name("declarator") is None else None
        elif tree.type == "template_declaration":
            inner = next(part for part in reversed(tree.children) if part.is_named and part.type not in COMMENTS)
        else:
            inner = tree.child_by_field_name("body")
        if inner is None or inner.type == "declaration_list":
            break
        tree = inner
    return tree


def _named_declaration(kind: NodeKind, tree: "Tree", scope: Scope, source: bytes) -> Declaration | None:
    """Return the definition of a node whose name is a field."""
    if scope.local and kind in (NodeKind.CONSTANT, NodeKind.FUNCTION):
        return None
    name = _qualified_name(tree.child_by_field_name("name"), source)
    is_open = tree.type != "class_specifier"
    exported = scope.exports_members if scope.owner else bool(name) or tree.type == "linkage_specification"
    is_type = kind in (NodeKind.CLASS, NodeKind.TYPE)
    return Declaration(kind, name, tree, exported, is_type, is_open)


def _is_static(tree: "Tree", source: bytes) -> bool:
    return any(part.type == "storage_class_specifier" and text_of(part, source) == "static" for part in tree.children)


def _is_function(declarator: "Tree | None") -> bool:
    """Return whether a declarator declares a function rather than a variable or a function pointer."""
    while declarator is not None and declarator.type in ("pointer_declarator", "reference_declarator"):
        declarator = _inner(declarator)
    if declarator is None or declarator.type != "function_declarator":
        return False
    inner = _inner(declarator)
    return inner is not None and inner.type != "parenthesized_declarator"


def _inner(declarator: "Tree") -> "Tree | None":
    named = declarator.child_by_field_name("declarator")
    if named is not None or declarator.type not in ("reference_declarator", "parenthesized_declarator"):
        return named
    return next((part for part in declarator.children if part.is_named), None)


def _name(declarator: "Tree | None", source: bytes) -> str:
    """Return the name that a declarator declares, with dots between its parts."""
    while declarator is not None and declarator.type not in _NAMES and declarator.type != "qualified_identifier":
        declarator = _inner(declarator)
    return _qualified_name(declarator, source)


def _qualified_name(name: "Tree | None", source: bytes) -> str:
    """Return a qualified name with dots between its parts and without template arguments."""
    parts = []
    while name is not None and name.type == "qualified_identifier":
        parts.append(_name_part(name.child_by_field_name("scope"), source))
        name = name.child_by_field_name("name")
    return ".".join(part for part in (*parts, _name_part(name, source)) if part)


def _name_part(name: "Tree | None", source: bytes) -> str:
    """Return one part of a name."""
    if name is not None and name.type in ("template_type", "template_function"):
        name = name.child_by_field_name("name")
    return text_of(name, source).replace("::", ".")


C = Syntax(declaration=_declaration, blocks=frozenset(("compound_statement", "declaration_list")))
CPP = Syntax(
    declaration=_declaration, blocks=frozenset(("compound_statement", "declaration_list", "field_declaration_list"))
)
