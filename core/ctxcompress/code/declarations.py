"""The syntax of Python, Java, Go and Rust: what their statements define, and what they export."""

from collections.abc import Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from ctxcompress.code.syntax import Declaration, Scope, Syntax, text_of
from ctxcompress.data.passages import NodeKind

__all__ = ["GO", "JAVA", "PYTHON", "RUST"]

if TYPE_CHECKING:
    from tree_sitter import Node as Tree


_IMPORTS = frozenset(
    "import_statement import_from_statement future_import_statement package_declaration import_declaration "
    "package_clause use_declaration extern_crate_declaration".split()
)


_PYTHON_KINDS = MappingProxyType(
    {
        "function_definition": (NodeKind.FUNCTION, "name"),
        "class_definition": (NodeKind.CLASS, "name"),
        "type_alias_statement": (NodeKind.TYPE, "left"),
    }
)


def _python(tree: "Tree", scope: Scope, source: bytes) -> Declaration | None:
    if tree.type in _IMPORTS:
        return Declaration(NodeKind.IMPORTS, "", tree)
    definition = tree.child_by_field_name("definition") if tree.type == "decorated_definition" else tree
    if definition is None:
        return None
    if definition.type in _PYTHON_KINDS:
        kind, field = _PYTHON_KINDS[definition.type]
        named = definition.child_by_field_name(field) or definition
        name = text_of(_first_name(named, ("identifier",)), source)
        return Declaration(kind, name, definition, _is_public(name, scope), kind is NodeKind.CLASS)
    if tree.type != "expression_statement" or scope.local:
        return None
    assignment = tree.children[0]
    target = assignment.child_by_field_name("left") if assignment.type == "assignment" else None
    if target is None or target.type != "identifier":
        return None
    name = text_of(target, source)
    return Declaration(NodeKind.CONSTANT, name, tree, _is_public(name, scope))


def _is_public(name: str, scope: Scope) -> bool:
    if scope.names is not None:
        return name in scope.names
    return not name.startswith("_") or (name.startswith("__") and name.endswith("__"))


def _python_names(trees: "Sequence[Tree]", source: bytes) -> frozenset[str] | None:
    """Return the names in the lists that are assigned or added to `__all__`, or None without `__all__`."""
    names: set[str] | None = None
    for tree in trees:
        value = _value_of_all(tree, source)
        if value is not None and value.type in ("list", "tuple"):
            strings = (part for part in value.children if part.type == "string" and part.child_count == 3)
            names = (names or set()) | {text_of(string.children[1], source) for string in strings}
    return None if names is None else frozenset(names)


def _value_of_all(tree: "Tree", source: bytes) -> "Tree | None":
    if tree.type != "expression_statement" or tree.children[0].type not in ("assignment", "augmented_assignment"):
        return None
    assignment = tree.children[0]
    name = text_of(assignment.child_by_field_name("left"), source)
    return assignment.child_by_field_name("right") if name == "__all__" else None


def _is_docstring(tree: "Tree", _: bytes) -> bool:
    return tree.type == "expression_statement" and tree.child_count == 1 and tree.children[0].type == "string"


PYTHON = Syntax(
    declaration=_python,
    blocks=frozenset(("block",)),
    names=_python_names,
    is_doc=_is_docstring,
    dedents=True,
)


_JAVA_KINDS = MappingProxyType(
    {
        "class_declaration": NodeKind.CLASS,
        "record_declaration": NodeKind.CLASS,
        "interface_declaration": NodeKind.TYPE,
        "annotation_type_declaration": NodeKind.TYPE,
        "enum_declaration": NodeKind.TYPE,
        "method_declaration": NodeKind.FUNCTION,
        "constructor_declaration": NodeKind.FUNCTION,
        "compact_constructor_declaration": NodeKind.FUNCTION,
        "annotation_type_element_declaration": NodeKind.FUNCTION,
        "field_declaration": NodeKind.CONSTANT,
        "constant_declaration": NodeKind.CONSTANT,
    }
)


def _java(tree: "Tree", scope: Scope, source: bytes) -> Declaration | None:
    if tree.type in _IMPORTS:
        return Declaration(NodeKind.IMPORTS, "", tree)
    if tree.type not in _JAVA_KINDS or (scope.local and _JAVA_KINDS[tree.type] is NodeKind.CONSTANT):
        return None
    named = tree.child_by_field_name("declarator") or tree
    name = text_of(named.child_by_field_name("name"), source)
    words = {part.type for held in tree.children if held.type == "modifiers" for part in held.children}
    exported = scope.exports_members or not words.isdisjoint(("public", "protected"))
    kind = _JAVA_KINDS[tree.type]
    exports_members = tree.type in ("interface_declaration", "annotation_type_declaration")
    return Declaration(kind, name, tree, exported, kind is not NodeKind.FUNCTION, exports_members)


JAVA = Syntax(
    declaration=_java,
    blocks=frozenset(
        ("block", "class_body", "interface_body", "annotation_type_body", "constructor_body", "enum_body_declarations")
    ),
)


_GO_KINDS = MappingProxyType(
    {
        "function_declaration": NodeKind.FUNCTION,
        "method_declaration": NodeKind.FUNCTION,
        "type_declaration": NodeKind.TYPE,
        "const_declaration": NodeKind.CONSTANT,
        "var_declaration": NodeKind.CONSTANT,
    }
)


def _go(tree: "Tree", scope: Scope, source: bytes) -> Declaration | None:
    if tree.type in _IMPORTS:
        return Declaration(NodeKind.IMPORTS, "", tree)
    if tree.type not in _GO_KINDS or (scope.local and _GO_KINDS[tree.type] is NodeKind.CONSTANT):
        return None
    named = tree.child_by_field_name("name") or _first_name(tree, ("identifier", "type_identifier"))
    name = text_of(named, source)
    receiver = tree.child_by_field_name("receiver")
    owner = text_of(_first_name(receiver, ("type_identifier",)), source) if receiver is not None else ""
    exported = name[:1].isupper()
    return Declaration(_GO_KINDS[tree.type], f"{owner}.{name}" if owner else name, tree, exported, receiver is not None)


GO = Syntax(declaration=_go, blocks=frozenset(("block",)))


def _first_name(tree: "Tree", types: Sequence[str]) -> "Tree | None":
    """Return the first node in a tree that has one of these types."""
    pending = [tree]
    while pending:
        node = pending.pop()
        if node.type in types:
            return node
        pending += reversed(node.children)
    return None


_RUST_KINDS = MappingProxyType(
    {
        "function_item": NodeKind.FUNCTION,
        "function_signature_item": NodeKind.FUNCTION,
        "macro_definition": NodeKind.FUNCTION,
        "struct_item": NodeKind.TYPE,
        "enum_item": NodeKind.TYPE,
        "union_item": NodeKind.TYPE,
        "type_item": NodeKind.TYPE,
        "associated_type": NodeKind.TYPE,
        "trait_item": NodeKind.TYPE,
        "impl_item": NodeKind.NAMESPACE,
        "mod_item": NodeKind.NAMESPACE,
        "foreign_mod_item": NodeKind.NAMESPACE,
        "const_item": NodeKind.CONSTANT,
        "static_item": NodeKind.CONSTANT,
    }
)


def _rust(tree: "Tree", scope: Scope, source: bytes) -> Declaration | None:
    if tree.type in _IMPORTS or (tree.type == "mod_item" and tree.child_by_field_name("body") is None):
        return Declaration(NodeKind.IMPORTS, "", tree)
    if tree.type not in _RUST_KINDS or (scope.local and _RUST_KINDS[tree.type] is NodeKind.CONSTANT):
        return None
    if tree.type == "impl_item":
        name = text_of(_first_name(tree.child_by_field_name("type") or tree, ("type_identifier",)), source)
        return Declaration(NodeKind.NAMESPACE, name, tree, True, True, tree.child_by_field_name("trait") is not None)
    name = text_of(tree.child_by_field_name("name"), source)
    is_foreign = tree.type == "foreign_mod_item"
    exported = scope.exports_members or is_foreign or any(part.type == "visibility_modifier" for part in tree.children)
    is_trait = tree.type == "trait_item"
    return Declaration(_RUST_KINDS[tree.type], name, tree, exported, is_trait, is_trait)


def _is_inner_doc(tree: "Tree", source: bytes) -> bool:
    return source[tree.start_byte : tree.start_byte + 3] in (b"//!", b"/*!")


RUST = Syntax(declaration=_rust, blocks=frozenset(("block", "declaration_list")), is_doc=_is_inner_doc)
