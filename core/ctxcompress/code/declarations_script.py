"""The syntax of JavaScript and TypeScript: what their statements define, and what they export."""

from collections.abc import Iterator, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from ctxcompress.code.syntax import Declaration, Scope, Syntax, text_of
from ctxcompress.data.passages import NodeKind

__all__ = ["SCRIPT"]

if TYPE_CHECKING:
    from tree_sitter import Node as Tree


_KINDS = MappingProxyType(
    {
        "function_declaration": NodeKind.FUNCTION,
        "generator_function_declaration": NodeKind.FUNCTION,
        "function_signature": NodeKind.FUNCTION,
        "method_definition": NodeKind.FUNCTION,
        "method_signature": NodeKind.FUNCTION,
        "abstract_method_signature": NodeKind.FUNCTION,
        "class_declaration": NodeKind.CLASS,
        "abstract_class_declaration": NodeKind.CLASS,
        "interface_declaration": NodeKind.TYPE,
        "type_alias_declaration": NodeKind.TYPE,
        "enum_declaration": NodeKind.TYPE,
        "internal_module": NodeKind.NAMESPACE,
        "module": NodeKind.NAMESPACE,
    }
)
_FUNCTIONS = frozenset(("arrow_function", "function_expression", "generator_function"))
_MAY_CONTAIN = _FUNCTIONS | {"call_expression"}
"""Arguments of a call that can contain its main function."""
_VALUES = MappingProxyType({**dict.fromkeys(_FUNCTIONS, NodeKind.FUNCTION), "class": NodeKind.CLASS})
_FIELDS = frozenset(("field_definition", "public_field_definition", "property_signature"))
_VARIABLES = frozenset(("lexical_declaration", "variable_declaration"))
_EXPORTS = ("exports.", "module.exports")
_TRANSPARENT = frozenset(
    "expression_statement parenthesized_expression await_expression lexical_declaration variable_declaration "
    "unary_expression return_statement as_expression satisfies_expression non_null_expression".split()
)
"""Nodes whose first child is the expression that matters."""


def _declaration(tree: "Tree", scope: Scope, source: bytes) -> Declaration | None:
    tree = _inside("ambient_declaration", tree)
    if tree.type == "import_statement":
        return Declaration(NodeKind.IMPORTS, "", tree)
    if tree.type == "export_statement":
        return _exported(tree, scope, source)
    if tree.type == "expression_statement":
        return _expression(tree.children[0], scope, source)
    if tree.type in _VARIABLES:
        return _variable(tree, scope, source)
    if tree.type in _FIELDS:
        return _value(tree, _field_name(tree, source), tree.child_by_field_name("value"), scope, source)
    if tree.type not in _KINDS:
        return None
    kind = _KINDS[tree.type]
    return _declare(kind, tree, _field_name(tree, source), tree, scope, source)


def _declare(kind: NodeKind, tree: "Tree", name: str, node: "Tree", scope: Scope, source: bytes) -> Declaration:
    """Return a definition of this kind. node: the node with the body."""
    is_type = tree.type in ("interface_declaration", "class_declaration", "abstract_class_declaration")
    owner = is_type or kind is NodeKind.CLASS
    return Declaration(kind, name, node, _is_exported(tree, name, scope, source), owner, owner)


def _is_exported(tree: "Tree", name: str, scope: Scope, source: bytes) -> bool:
    if not scope.exports_members:
        return name.startswith(_EXPORTS) or name in (scope.names or ())
    hidden = (text_of(part, source) for part in tree.children if part.type == "accessibility_modifier")
    return not name.startswith("#") and all(word == "public" for word in hidden)


def _field_name(tree: "Tree", source: bytes) -> str:
    return text_of(tree.child_by_field_name("name") or tree.child_by_field_name("property"), source).strip("'\"")


def _exported(tree: "Tree", scope: Scope, source: bytes) -> Declaration | None:
    if tree.child_by_field_name("source") is not None:
        return Declaration(NodeKind.IMPORTS, "", tree)
    inner = tree.child_by_field_name("declaration")
    value = tree.child_by_field_name("value")
    if inner is None and value is None:
        return None
    found = _declaration(inner, scope, source) if inner is not None else None
    if found is None:
        found = _value(tree, "default", value, scope, source) or Declaration(NodeKind.CONSTANT, "default", tree)
    name = found.name or "default"
    return Declaration(found.kind, name, found.node, True, found.owner, found.exports_members)


def _variable(tree: "Tree", scope: Scope, source: bytes) -> Declaration | None:
    declarators = [part for part in tree.children if part.type == "variable_declarator"]
    if not declarators:
        return None
    named = declarators[0].child_by_field_name("name")
    value = declarators[0].child_by_field_name("value") if len(declarators) == 1 else None
    if value is not None and _is_require(value, source):
        return Declaration(NodeKind.IMPORTS, "", tree)
    name = text_of(named, source) if named is not None and named.type == "identifier" else ""
    return _value(tree, name, value, scope, source)


def _is_require(value: "Tree", source: bytes) -> bool:
    while value.type == "member_expression" and value.children:
        value = value.children[0]
    return value.type == "call_expression" and text_of(value.child_by_field_name("function"), source) == "require"


def _value(tree: "Tree", name: str, value: "Tree | None", scope: Scope, source: bytes) -> Declaration | None:
    """Return what a name with a value defines: a function, a class or a constant."""
    kind = _VALUES.get(value.type, NodeKind.CONSTANT) if value is not None else NodeKind.CONSTANT
    if scope.local and not scope.owner and kind is NodeKind.CONSTANT:
        return None
    return _declare(kind, tree, name, tree if value is None else value, scope, source)


def _expression(tree: "Tree", scope: Scope, source: bytes) -> Declaration | None:
    """Return what an assignment or a namespace defines. A namespace is an expression in the grammar."""
    if tree.type == "internal_module":
        return _declaration(tree, scope, source)
    if tree.type != "assignment_expression":
        return None
    name, value = text_of(tree.child_by_field_name("left"), source), tree.child_by_field_name("right")
    is_value = value is not None and value.type in _VALUES
    return _value(tree, name, value, scope, source) if is_value or name.startswith(_EXPORTS) else None


def _function_in(tree: "Tree") -> "Tree | None":
    """Return the function that is the last argument of a call, or that the statement only assigns or calls."""
    found: Tree | None = tree
    while found is not None and found.type not in _FUNCTIONS:
        found = _inner(found)
    return found


def _inner(tree: "Tree") -> "Tree | None":
    """Return the part of an expression that contains its function."""
    if tree.type in ("call_expression", "new_expression"):
        arguments = tree.child_by_field_name("arguments")
        given = list(_named_children(arguments)) if arguments is not None else []
        last = next(
            (part for part in reversed(given) if _inside("parenthesized_expression", part).type in _MAY_CONTAIN), None
        )
        return last or tree.child_by_field_name("function")
    for field in ("value", "right", "declaration"):
        inner = tree.child_by_field_name(field)
        if inner is not None:
            return inner
    if tree.type in _TRANSPARENT:
        return next(_named_children(tree), None)
    return None


def _inside(wrapper: str, tree: "Tree") -> "Tree":
    """Return what nodes of the type `wrapper` contain, such as the expression in parentheses; else the node itself."""
    while tree.type == wrapper and (inner := next(_named_children(tree), None)) is not None:
        tree = inner
    return tree


def _named_children(tree: "Tree") -> "Iterator[Tree]":
    return (part for part in tree.children if part.is_named and part.type != "comment")


def _names(trees: "Sequence[Tree]", source: bytes) -> frozenset[str]:
    """Return the names exported separately: `export { a }`, `export default a`, `module.exports = { a }`."""
    names: set[str] = set()
    for tree in trees:
        if tree.type == "export_statement" and tree.child_by_field_name("source") is None:
            listed = [part for clause in tree.children if clause.type == "export_clause" for part in clause.children]
            names |= {text_of(part.child_by_field_name("name"), source) for part in listed if part.is_named}
            names.add(text_of(tree.child_by_field_name("value"), source))
        elif tree.type == "expression_statement" and tree.children[0].type == "assignment_expression":
            names |= _names_assigned(tree.children[0], source)
    return frozenset(names)


def _names_assigned(tree: "Tree", source: bytes) -> set[str]:
    value = tree.child_by_field_name("right")
    targets = [tree]
    while value is not None and value.type == "assignment_expression":  # exports = module.exports = a
        targets.append(value)
        value = value.child_by_field_name("right")
    written = (text_of(target.child_by_field_name("left"), source) for target in targets)
    if value is None or not any(name == "exports" or name.startswith(_EXPORTS) for name in written):
        return set()
    parts = value.children if value.type == "object" else [value]
    values = (part.child_by_field_name("value") if part.type == "pair" else part for part in parts)
    names = (part for part in values if part is not None)
    return {text_of(part, source) for part in names if part.type in ("identifier", "shorthand_property_identifier")}


SCRIPT = Syntax(
    declaration=_declaration,
    blocks=frozenset(("statement_block", "class_body", "interface_body")),
    names=_names,
    function_in=_function_in,
    joining=b"([`+-*/<{",
)
