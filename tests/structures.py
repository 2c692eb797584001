"""Tells whether a text is whole in its form, as the usual reader of that form says."""

import ast
import csv
import io
import json
import re
import tomllib
import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping, Sequence

import yaml
from markdown_it import MarkdownIt
from record_texts import fitting

__all__ = ["READERS", "is_whole", "may_be_broken", "open_fences"]


def _lines_of_json(text: str) -> None:
    for line in text.split("\n"):
        if line.strip():
            json.loads(line)


def _rows(text: str) -> None:
    widths = {len(row) for row in csv.reader(io.StringIO(text, newline=""), strict=True) if row}
    if len(widths) != 1:
        raise ValueError(f"rows have {sorted(widths)} fields")


def open_fences(text: str) -> Sequence[int]:
    """Return how deep each fence of Markdown is, in lists and quotes, that no line closes."""
    lines, parser = re.split(r"\r\n?|\n", text), MarkdownIt("commonmark", {"maxNesting": 1_000})
    fences = [token for token in parser.parse(text) if token.type == "fence"]
    places = [(token, *(token.map or (0, 0))) for token in fences]
    return [
        token.level
        for token, first, end in places
        if end - first < 2 or not lines[end - 1].strip(" \t\r>").startswith(token.markup)
    ]


def _fences(text: str) -> None:
    """A fence in a list or a quote ends where that ends."""
    if 0 in open_fences(text):
        raise ValueError("a fence is open")


READERS: Mapping[str, Callable[[str], object]] = {
    "JSON": json.loads,
    "JSON Lines": _lines_of_json,
    "XML": ET.fromstring,
    "YAML": lambda text: list(yaml.safe_load_all(text)),
    "TOML": tomllib.loads,
    "CSV": _rows,
    "Markdown": _fences,
    "Python": ast.parse,
}
"""They raise ValueError, or an error of their own that `is_whole` knows."""


def is_whole(form: str, text: str) -> bool:
    """Tell whether a text can be read as this form."""
    try:
        READERS[form](text)
    except (ValueError, SyntaxError, RecursionError, csv.Error, yaml.YAMLError):  # SyntaxError: also of XML
        return False
    return True


def may_be_broken(form: str, text: str, budget: int) -> bool:
    """Tell whether no record of JSON or XML that can be read alone fits into the budget with what is around it."""
    return not any(is_whole(form, alone) for alone in fitting(text, budget))
