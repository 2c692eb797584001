"""LogDx-CI's logs of failed builds: which of the lines that a diagnosis needs are left?

DATA is a clone of https://github.com/eyuansu62/LogDx (CC BY 4.0). Its rule for text: a critical signal is left if its
value, another form of it or its file stands in the result, colours taken out. The rule also counts lines that a method
names by number; here only the text counts.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from lib.budgeted import PublicCase, budget_table, count
from lib.cases import Document

__all__ = ["cases", "last_lines", "logdx"]

_BUDGETS = (3_500, 1_000)
_QUERY = "Why did this CI job fail? What is the root cause of the failure?"
_COLOUR = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07]*(?:\x07|\x1b\\)")


def logdx(data: Path) -> tuple[str, str]:
    """Return what was measured, and the table."""
    found = list(cases(data / "cases"))
    tail = {"tail, as many tokens": lambda case, budget: last_lines(case.documents[0].text, budget)}
    return f"{len(found)} logs", budget_table(found, _BUDGETS, tail)


def cases(folder: Path) -> Iterator[PublicCase]:
    """Yield the logs that have critical signals, in the order of their names."""
    for truth in sorted(folder.rglob("ground_truth.json")):
        signals = json.loads(truth.read_text(encoding="utf-8"))["required_signals"]
        critical = [signal for signal in signals if signal["importance"] == "critical"]
        log = truth.with_name("raw.log")
        if critical and log.exists():
            text = log.read_text(encoding="utf-8", errors="replace")
            yield PublicCase(_QUERY, [Document("", text)], _Signals(critical))


class _Signals(NamedTuple):
    """Returns the share of these signals that is left in a text."""

    signals: Sequence[Mapping[str, Any]]

    def __call__(self, text: str) -> float:
        plain = _COLOUR.sub("", text).replace("\r\n", "\n").replace("\r", "\n")
        return sum(any(form in plain for form in _forms(signal)) for signal in self.signals) / len(self.signals)


def _forms(signal: Mapping[str, Any]) -> list[str]:
    given = [signal.get("value"), *(signal.get("aliases") or ()), signal.get("file")]
    return [form.strip() for form in given if form and form.strip()]


def last_lines(text: str, budget: int) -> str:
    """Return the last lines of a text that fit."""
    lines: list[str] = []
    left = budget
    for line in reversed(text.splitlines(keepends=True)):
        left -= count(line)
        if left < 0:
            break
        lines.append(line)
    return "".join(reversed(lines))
