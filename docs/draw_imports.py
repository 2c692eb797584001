"""Draws which module imports which, as the code says, in the layers that pyproject.toml holds it to.

    python docs/draw_imports.py    # writes docs/images/imports.svg

A box is a module or a package of `ctxcompress`. A line goes from what imports down to what is imported; one that others
lead to as well (a imports b, b imports c, and a imports c) is not drawn.
"""

import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

import grimp

ROOT = Path(__file__).parent.parent
PICTURE = ROOT / "docs" / "images" / "imports.svg"
CORE = "ctxcompress"
ADAPTERS = ("langchain_ctxcompress", "llamaindex_ctxcompress")

WIDTH, LETTER, PAD, HEIGHT, GAP, BETWEEN = 1080, 7.0, 9, 26, 34, 34
SHIFT = 60
"""How far a row is moved against the next one, so that lines do not pass behind boxes."""
STYLE = """
    .back { fill: #fff } .row { fill: #f1f5f5 }
    .box { fill: #fff; stroke: #90a4a4 } .package { fill: #d3ebe8; stroke: #00796b }
    .line { fill: none; stroke: #00695c; stroke-opacity: .38 }
    text { font: 12px ui-monospace, Consolas, "DejaVu Sans Mono", monospace; fill: #102a2a; text-anchor: middle }
"""

Edges = Mapping[str, frozenset[str]]


def rows_of(contracts: Sequence[Mapping[str, object]]) -> list[list[str]]:
    """The modules of each layer, the uppermost first: the edges, the public face that they import, what is below."""
    (layers,) = [contract["layers"] for contract in contracts if contract["type"] == "layers"]
    if not isinstance(layers, list):
        raise SystemExit("the contract of the layers in pyproject.toml has no list of them")
    rows = [row for layer in layers for row in layer.split(" : ")]  # siblings that may import one another: two rows
    first, *others = [[f"{CORE}.{name}" for name in row.split(" | ")] for row in rows]
    return [[*ADAPTERS, *first], [CORE], *others]


def edges_of(contracts: Sequence[Mapping[str, object]], rooms: Collection[str]) -> tuple[Edges, frozenset[str]]:
    """What each room imports, packages as a whole, but for the contracts' exceptions; and which are packages."""
    graph = grimp.build_graph(CORE, *ADAPTERS, cache_dir=None)
    for contract in contracts:
        for exception in contract.get("ignore_imports", []):
            importer, imported = exception.split(" -> ")
            if importer in graph.modules and imported in graph.modules:
                graph.remove_import(importer=importer, imported=imported)
    packages = {name for name in rooms if name != CORE and name in graph.modules and graph.find_children(name)}
    for name in sorted(packages):
        graph.squash_module(name)
    for name in graph.find_children(CORE):
        if name not in rooms and graph.find_children(name):  # a folder of rooms
            graph.remove_module(name)
    edges = {name: frozenset(graph.find_modules_directly_imported_by(name) - {name}) for name in graph.modules}
    return edges, frozenset(packages)


def reduced(edges: Edges) -> Iterator[tuple[str, str]]:
    """The edges that no other way replaces."""

    def reaches(start: str, end: str) -> bool:
        return any(found == end or reaches(found, end) for found in edges[start])

    for start in sorted(edges):
        for end in sorted(edges[start]):
            if not any(reaches(other, end) for other in edges[start] - {end}):
                yield start, end


def places_of(rows: Sequence[Sequence[str]]) -> Iterator[tuple[str, float, float, float]]:
    """Of each module the left edge, the upper edge and the width of its box."""
    top = float(PAD)
    for number, row in enumerate(rows):
        widths = [len(label_of(name)) * LETTER + 2 * PAD for name in row]
        left = (WIDTH - sum(widths) - GAP * (len(row) - 1)) / 2 + SHIFT * (-1, 1)[number % 2]
        for name, width in zip(row, widths, strict=True):
            yield name, left, top, width
            left += width + GAP
        top += HEIGHT + BETWEEN


def label_of(name: str) -> str:
    return name.removeprefix(f"{CORE}.")


def drawn(rows: Sequence[Sequence[str]], edges: Edges, packages: frozenset[str]) -> str:
    """The picture as SVG."""
    places = {name: (left, top, width) for name, left, top, width in places_of(rows)}
    height = PAD * 2 + len(rows) * (HEIGHT + BETWEEN) - BETWEEN
    parts = [f'<rect class="back" width="{WIDTH}" height="{height}"/>']
    parts += [
        f'<rect class="row" x="4" y="{top - 5:g}" width="{WIDTH - 8}" height="{HEIGHT + 10}" rx="6"/>'
        for top in sorted({top for _, top, _ in places.values()})
    ]
    for importer, imported in reduced(edges):
        (x1, y1, width1), (x2, y2, width2) = places[importer], places[imported]
        if y2 <= y1:
            raise SystemExit(f"{importer} imports {imported}, which is not in a layer below it")
        x1, y1, x2 = x1 + width1 / 2, y1 + HEIGHT, x2 + width2 / 2
        bend = (y2 - y1) / 2
        curve = f"M{x1:.1f} {y1:g}C{x1:.1f} {y1 + bend:g} {x2:.1f} {y2 - bend:g} {x2:.1f} {y2:g}"
        parts.append(f'<path class="line" d="{curve}"><title>{importer} imports {imported}</title></path>')
    for name, (left, top, width) in places.items():
        kind = "box package" if name in packages else "box"
        parts.append(
            f'<rect class="{kind}" x="{left:.1f}" y="{top:g}" width="{width:.1f}" height="{HEIGHT}" rx="4"/>'
            f'<text x="{left + width / 2:.1f}" y="{top + 17:g}">{escape(label_of(name))}</text>'
        )
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">'
    return "\n".join((head, "<title>Which module imports which</title>", f"<style>{STYLE}</style>", *parts, "</svg>\n"))


def picture() -> str:
    """What docs/images/imports.svg must be."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    rows = rows_of(contracts)
    known = {name for row in rows for name in row}
    edges, packages = edges_of(contracts, known)
    if unknown := sorted(set(edges) - known):
        raise SystemExit(f"no layer in pyproject.toml has {', '.join(unknown)}")
    return drawn([[name for name in row if name in edges] for row in rows], edges, packages)


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
