"""How docstrings are shown in the reference: lines that begin with the name of a parameter, an option or a member as a
list, and the descriptions of options and of pydantic's fields as their docstrings."""

import ast
import re
from collections.abc import Callable
from typing import Any

from griffe import Attribute, Class, Docstring, ExprCall, ExprKeyword, Extension, Function, Module

_ENTRY = re.compile(r"(?P<name>\w++): (?P<rest>.*)")


class NamesInDocstrings(Extension):
    """`max_tokens: the budget.` in the docstring of what has a `max_tokens` becomes an item of a list."""

    def on_module(self, *, mod: Module, **_: Any) -> None:
        _rewrite(mod, mod.members.__contains__)

    def on_class(self, *, cls: Class, **_: Any) -> None:
        """Once all of the class is there, its fields too."""
        init = cls.members.get("__init__")
        parameters = {parameter.name for parameter in init.parameters} if isinstance(init, Function) else set()
        _rewrite(cls, lambda name: name in cls.members or name in parameters)

    def on_function(self, *, func: Function, **_: Any) -> None:
        names = {parameter.name.lstrip("*") for parameter in func.parameters}
        _rewrite(func, names.__contains__)

    def on_attribute_instance(self, *, attr: Attribute, **_: Any) -> None:
        """Before the fields of a dataclass become parameters."""
        if isinstance(attr.value, ExprCall) and str(attr.value.function) == "option":
            default, description, *_ = attr.value.arguments
            attr.docstring = Docstring(ast.literal_eval(str(description)), parent=attr)
            attr.value = default

    def on_attribute(self, *, attr: Attribute, **_: Any) -> None:
        if attr.docstring is None and isinstance(attr.value, ExprCall) and str(attr.value.function) == "Field":
            for argument in attr.value.arguments:
                # A description that is a name is not written out here, as those of tools' arguments are not.
                if isinstance(argument, ExprKeyword) and argument.name == "description" and _is_text(argument.value):
                    attr.docstring = Docstring(ast.literal_eval(str(argument.value)), parent=attr)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value[:1] in "'\""


def _rewrite(found: Class | Function | Module, is_name: Callable[[str], bool]) -> None:
    if found.docstring is not None:
        found.docstring.value = listed(found.docstring.value, is_name)


def listed(text: str, is_name: Callable[[str], bool]) -> str:
    """The docstring with its entries as items. An entry goes on where lines are indented, and to the next entry or the
    end of its paragraph; one that begins in the middle of a line begins an item, too."""
    lines: list[str] = []
    inside = False
    for line in text.splitlines():
        entry = _ENTRY.match(line)
        if entry and is_name(entry["name"]):
            lines += [] if inside else [""]
            lines.append(f"- `{entry['name']}`: {entry['rest']}")
            inside = True
        elif inside and line.strip():
            lines.append(f"  {line.strip()}")
        else:
            inside = False
            lines.append(line)
    return "\n".join(lines)
