"""Runs the notebooks of this folder and writes what they show into them.

    python notebooks/run.py [--check] [NOTEBOOK...]

With --check nothing is written. Either way a notebook must run without an error, without a warning and without a
network, and must not show where it ran. Needs the extra `dev`.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

import nbformat
from jupyter_client import AsyncKernelManager
from jupyter_client.kernelspec import KernelSpecManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode

__all__ = ["NOTEBOOKS", "complaints", "executed"]

FOLDER = Path(__file__).resolve().parent
NOTEBOOKS = tuple(sorted(FOLDER.glob("*.ipynb")))
SECONDS = 120
"""For one cell, after which it is taken to hang."""
BYTES = 500_000
"""Of one notebook: larger ones are slow to read on the web."""

_METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
_OFFLINE = """\
import pytest_socket
pytest_socket.socket_allow_hosts(["127.0.0.1", "localhost", "::1"], allow_unix_socket=True)
del pytest_socket
"""


def executed(path: Path) -> NotebookNode:
    """The notebook with the outputs of a run, and without what differs between runs and machines otherwise.

    Raises nbclient's CellExecutionError if a cell does.
    """
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.insert(0, nbformat.v4.new_code_cell(_OFFLINE))
    # Of this interpreter, whatever other kernels are called python3 on the machine.
    kernel = AsyncKernelManager(kernel_name="python3", kernel_spec_manager=KernelSpecManager(kernel_dirs=[]))
    NotebookClient(
        notebook,
        km=kernel,
        timeout=SECONDS,
        record_timing=False,
        coalesce_streams=True,
        extra_arguments=["--HistoryManager.enabled=False", "--IPKernelApp.log_level=ERROR"],
        resources={"metadata": {"path": str(FOLDER)}},
    ).execute()
    del notebook.cells[0]
    notebook.metadata = nbformat.from_dict(_METADATA)
    for number, cell in enumerate(notebook.cells, 1):
        cell.id, cell.metadata = f"cell-{number}", NotebookNode()
    for number, cell in enumerate(_code(notebook), 1):
        cell.execution_count = number
        for output in cell.outputs:
            if "execution_count" in output:
                output.execution_count = number
            if "text/html" in output.get("data", ()):
                output.data.pop("text/plain", None)  # nobody reads the repr beside it, which has times in it
    return notebook


def complaints(notebook: NotebookNode) -> Iterator[str]:
    """What should not be in an executed notebook."""
    places = {str(FOLDER.parent), str(Path.home()), sys.prefix, sys.base_prefix} - {"/", "/usr"}
    for cell in _code(notebook):
        for output in cell.outputs:
            if output.get("name") == "stderr":
                yield f"a warning: {output.text}"
            shown = json.dumps(output)
            yield from (f"a path of this machine, {place}: {cell.source}" for place in places if place in shown)
    size = len(nbformat.writes(notebook).encode())
    if size > BYTES:
        yield f"{size:,} bytes; the most is {BYTES:,}: draw smaller pictures"


def _code(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notebooks", type=Path, nargs="*", default=NOTEBOOKS)
    parser.add_argument("--check", action="store_true", help="write nothing")
    options = parser.parse_args()
    for path in options.notebooks:
        begin = monotonic()
        try:
            notebook = executed(path)
        except CellExecutionError as error:
            sys.exit(f"{path.name}: {error}")
        found = list(complaints(notebook))
        if found:
            sys.exit("\n".join(f"{path.name} shows {complaint}" for complaint in found))
        if not options.check:
            nbformat.write(notebook, path)
        print(f"{path.name}: {monotonic() - begin:.1f} s")


if __name__ == "__main__":
    main()
