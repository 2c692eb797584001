"""Write what follows from the options that ctxcompress.config.options declares: `make options`.

That is the keywords of calls as a TypedDict, the fields of the adapters as a pydantic model (type checkers and editors
know both), and the page of the options. A test fails where the files differ from what this writes.
"""

import ast
import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

CORE = Path(__file__).parents[1] / "core" / "ctxcompress"
PAGE = Path(__file__).parent / "options.md"
WIDTH = 120

KEYWORDS = '''"""The options as keywords of a call. `make options` writes this from ctxcompress.config.options."""

{imports}

__all__ = ["Options"]


class Options(TypedDict, total=False):
    """The options of CompressionConfig as keywords of a call."""

{fields}
'''

FIELDS = '''"""The options as fields of a pydantic model. `make options` writes this from ctxcompress.config.options.

Only the adapters import it: pydantic comes with their frameworks.
"""

{imports}

__all__ = ["OptionFields"]


class OptionFields(BaseModel):
    """The options of CompressionConfig as fields, each with its description."""

{fields}


for _name, _field in OptionFields.model_fields.items():  # pydantic would parse this file again for the docstrings
    _field.description = OPTIONS[_name].description
'''

VALUES = ("Format", "Mode", "Order", "OnEmpty", "OnError", "ScoreKind", "Scorer", "Tier | None")
"""Types of options whose values have names."""

TABLE = """# Options

All are keywords of `CompressionConfig`, `compress`, `CtxCompressor` and `CtxCompressPostprocessor`, keys of a
[TOML or JSON file](how-to/configuration.md), and `--set NAME=VALUE` of the command. The
[reference](reference/config.md) says more of each.

| option | default | |
|---|---|---|
{rows}

The adapters also take `preset`, a [named set of options](reduction.md#presets), or `config` in its place: a
`CompressionConfig`, or the path of a file.
"""

# An adapter takes models of its framework, too; the core checks the items of must_keep; a cache is of a class that
# pydantic need not check.
OBJECTS = {
    "encoder": "object | None",
    "llm": "object | None",
    "cache": "object | None",
    "telemetry": "bool | object",
    "must_keep": "Sequence[object]",
}
# What JSON Schema says of fields that have no type in it.
SCHEMA_TYPES = {"encoding": "string", "encoder": "object", "llm": "object", "cache": "object", "telemetry": "boolean"}


@dataclass(frozen=True, slots=True)
class Declared:
    """An option as the source declares it."""

    name: str
    type: str
    default: str
    description: str


def main() -> None:
    for path, text in written().items():
        path.write_text(text, encoding="utf-8")


def written() -> dict[Path, str]:
    """Return the text of each file that follows from the declarations."""
    source = (CORE / "config" / "options.py").read_text(encoding="utf-8")
    module = ast.parse(source)
    options = list(_declared(module, source))
    return {
        CORE / "config" / "keywords.py": _keywords(options, module),
        CORE / "adapters" / "option_fields.py": _fields(options, module),
        PAGE: TABLE.format(rows="\n".join(map(_row, options))),
    }


def _declared(module: ast.Module, source: str) -> Iterator[Declared]:
    config = next(node for node in module.body if isinstance(node, ast.ClassDef) and node.name == "CompressionConfig")
    for node in config.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and isinstance(node.value, ast.Call):
            default, description, *_ = node.value.args
            shown = (ast.get_source_segment(source, part) or "" for part in (node.annotation, default))
            yield Declared(node.target.id, *shown, ast.literal_eval(description))


def _row(option: Declared) -> str:
    """Return the row of an option: its first sentence, and all of them where they name its values."""
    has_values = option.type in VALUES
    text = option.description if has_values else re.split(r"(?<=\.) ", option.description)[0]
    return f"| `{option.name}` | `{' '.join(option.default.split())}` | {text} |"


def _keywords(options: Sequence[Declared], module: ast.Module) -> str:
    imports = _imports(module, [option.type for option in options], {"typing": ["TypedDict"]})
    return KEYWORDS.format(imports=imports, fields="\n".join(f"    {option.name}: {option.type}" for option in options))


def _fields(options: Sequence[Declared], module: ast.Module) -> str:
    hints = {option.name: OBJECTS.get(option.name, option.type) for option in options}
    others = {"pydantic": ["BaseModel", "Field"], "ctxcompress.config.options": ["OPTIONS"]}
    imports = _imports(module, hints.values(), others)
    fields = "\n".join(_field(option, hints[option.name]) for option in options)
    return FIELDS.format(imports=imports, fields=fields)


def _field(option: Declared, hint: str) -> str:
    start = "default_factory=dict" if option.default == "{}" else f"default={option.default}"
    schema = f', json_schema_extra={{"type": "{SCHEMA_TYPES[option.name]}"}}' if option.name in SCHEMA_TYPES else ""
    is_plain = option.default != "{}" and not schema
    value = option.default if is_plain else f"Field({start}{schema})"
    text = textwrap.fill(f'"""{option.description}"""', WIDTH - 4, break_long_words=False, break_on_hyphens=False)
    return f"    {option.name}: {hint} = {value}\n{textwrap.indent(text, '    ')}"


def _imports(module: ast.Module, hints: Iterable[str], others: dict[str, list[str]]) -> str:
    """Return the imports of the options' module that `hints` need, with others, as the formatter sorts them."""
    used = {node.id for hint in hints for node in ast.walk(ast.parse(hint)) if isinstance(node, ast.Name)}
    found = {name: list(names) for name, names in others.items()}
    for node in module.body:
        if isinstance(node, ast.ImportFrom):
            found.setdefault(str(node.module), []).extend(name.name for name in node.names if name.name in used)
    lines = {name: f"from {name} import {', '.join(_sorted(names))}" for name, names in found.items() if names}
    groups = [
        [lines[name] for name in sorted(lines) if name.split(".")[0] in roots]
        for roots in (("collections", "typing"), ("pydantic",), ("ctxcompress",))
    ]
    return "\n\n".join("\n".join(group) for group in groups if group)


def _sorted(names: Sequence[str]) -> list[str]:
    return sorted(names, key=lambda name: (name.isupper(), name.casefold()))


if __name__ == "__main__":
    main()
