"""Small changes to the source that a test should notice, and how a process comes to run with one of them."""

import ast
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from copy import deepcopy
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["SOURCES", "Mutant", "apply", "mutants_of"]

CORE = Path(__file__).parents[2] / "core"
FOLDER = CORE / "ctxcompress"
SOURCES = [
    *sorted((FOLDER / "select").glob("*.py")),
    *(FOLDER / name for name in ("text/tokens.py", "data/passages.py", "render/formats.py", "pipeline/outcome.py")),
]
PAIRS = [(ast.Lt, ast.LtE), (ast.Gt, ast.GtE), (ast.Eq, ast.NotEq), (ast.In, ast.NotIn), (ast.Is, ast.IsNot)]
PAIRS += [(ast.Add, ast.Sub), (ast.Mult, ast.Div), (ast.FloorDiv, ast.Mult), (ast.BitOr, ast.BitAnd)]
PAIRS += [(ast.And, ast.Or), (ast.Break, ast.Continue)]
NAMES = ["min max", "any all", "lstrip rstrip", "startswith endswith", "find rfind", "partition rpartition"]
NAMES += ["bisect_left bisect_right", "upper lower", "split rsplit"]
OTHER: dict[Any, Any] = {way[0]: way[1] for pair in PAIRS for way in (pair, pair[::-1])}
OTHER |= {way[0]: way[1] for pair in map(str.split, NAMES) for way in (pair, pair[::-1])}
UNCHANGED = {"annotation", "returns", "decorator_list", "args", "targets", "ctx", "type_params"}


class Mutant(NamedTuple):
    """A change of a field of a node."""

    file: Path
    tree: ast.Module
    unit: str
    """The qualified name of the function, or the names of the constants."""
    is_constant: bool
    lines: frozenset[int]
    """The tests that run one of them are tried."""
    holder: ast.AST
    field: str
    place: int
    """In a list; -1 if the field has none."""
    new: Any
    text: str


def changes(node: Any) -> Iterator[Any]:
    """Yield what may stand in the place of a node, or of an operator."""
    if type(node) in OTHER:
        yield OTHER[type(node)]()
    elif isinstance(node, ast.Constant) and not isinstance(node.value, bytes):
        value = node.value
        other = not value if isinstance(value, bool) else f"XX{value}" if isinstance(value, str) else value
        yield from () if value is None or value is ... else [ast.Constant(other if other != value else value + 1)]
    elif isinstance(node, ast.Return) and node.value and not isinstance(node.value, ast.Constant):
        yield ast.Return(ast.Constant(None))
    elif isinstance(node, ast.Expr | ast.AugAssign | ast.Raise):
        yield ast.Pass()
    elif isinstance(node, ast.UnaryOp):
        yield node.operand
    elif isinstance(node, ast.Name | ast.Attribute):
        name = "id" if isinstance(node, ast.Name) else "attr"
        if other := OTHER.get(getattr(node, name)):
            changed = deepcopy(node)
            setattr(changed, name, other)
            yield changed


def tests_of(holder: ast.AST, field: str, child: Any) -> Iterator[Any]:
    """Yield the negation of a condition, which no other change negates."""
    is_test = (field == "test" and not isinstance(holder, ast.Assert)) or field == "ifs"
    if is_test and not isinstance(child, ast.UnaryOp | ast.Compare):
        yield ast.UnaryOp(ast.Not(), child)


def within(holder: ast.AST, statement: Any) -> Iterator[tuple[Any, ast.AST, str, int, Any, Any]]:
    """Yield (statement, holder, field, place, old, new) for each change below a node."""
    for field, value in ast.iter_fields(holder):
        for place, child in enumerate(value) if isinstance(value, list) else [(-1, value)]:
            is_text = isinstance(child, ast.Constant) and isinstance(
                holder, ast.Expr | ast.JoinedStr | ast.FormattedValue
            )
            if field in UNCHANGED or is_text or not isinstance(child, ast.AST):
                continue
            inner = child if isinstance(child, ast.stmt) else statement
            if not (isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)):
                for new in (*changes(child), *tests_of(holder, field, child)):
                    yield inner, holder, field, place, child, new
            yield from within(child, inner)


def lines_of(statement: ast.stmt) -> range:
    """Return the lines of a statement, of a compound one those of its head."""
    body = getattr(statement, "body", None)
    return range(statement.lineno, body[0].lineno if body else (statement.end_lineno or 0) + 1)


def units(body: Sequence[ast.stmt], above: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the functions and the constants of a module or a class, with their names."""
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from units(node.body, f"{above}{node.name}.")
        elif isinstance(node, ast.FunctionDef):
            yield above + node.name, node
        elif isinstance(node, ast.Assign | ast.AnnAssign) and not above:
            names = [n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
            if "__all__" not in names and all(name.isupper() or name.islower() for name in names):
                yield " ".join(names), node


def users_of(names: Sequence[str], tree: ast.Module) -> frozenset[int]:
    """Return the lines of the statements that name one of these."""
    found = {n.lineno for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id in names}
    return frozenset(
        n for s in ast.walk(tree) if isinstance(s, ast.stmt) for n in lines_of(s) if found & {*lines_of(s)}
    )


def mutants_of(file: Path) -> Iterator[Mutant]:
    """Yield the changes of the functions and constants of a file."""
    tree, seen = ast.parse(file.read_text()), Counter[str]()
    for name, unit in units(tree.body):
        is_constant = not isinstance(unit, ast.FunctionDef)
        for statement, holder, field, place, old, new in within(unit, unit):
            lines = users_of(name.split(), tree) if is_constant else frozenset(lines_of(statement))
            before = ast.unparse(statement).partition("\n")[0]
            what = f"{ast.unparse(old) or type(old).__name__} -> {ast.unparse(new) or type(new).__name__}"
            text = f"{file.relative_to(CORE)}:{statement.lineno} {name}: {what}   in {before}"
            seen[text] += 1
            yield Mutant(file, tree, name, is_constant, lines, holder, field, place, new, f"{text} #{seen[text]}")


def apply(mutant: Mutant) -> None:
    """Change the function or the constant in this process."""
    values = getattr(mutant.holder, mutant.field)
    if mutant.place >= 0:
        values[mutant.place] = mutant.new
    else:
        setattr(mutant.holder, mutant.field, mutant.new)
    module = import_module(".".join(mutant.file.relative_to(CORE).with_suffix("").parts))
    code = compile(ast.fix_missing_locations(mutant.tree), str(mutant.file), "exec")
    if mutant.is_constant:
        changed = {"__name__": module.__name__}
        exec(code, changed)
        for name in mutant.unit.split():
            old = vars(module)[name]
            for other in [module for name, module in sys.modules.items() if name.startswith("ctxcompress")]:
                if vars(other).get(name) is old:
                    setattr(other, name, changed[name])
    else:
        found: Any = module
        for name in mutant.unit.split("."):
            found = vars(found)[name]
        for name in ("fget", "__func__", "func", "__wrapped__"):
            found = getattr(found, name, found)
        found.__code__ = code_of(code, mutant.unit)
    for value in vars(module).values():
        if hasattr(value, "cache_clear"):
            value.cache_clear()


def code_of(code: Any, name: str) -> Any:
    """Return the code of a function of a module."""
    inner = [const for const in code.co_consts if hasattr(const, "co_code")]
    return next((c for c in inner if c.co_qualname == name), None) or next(
        filter(None, (code_of(c, name) for c in inner)), None
    )
