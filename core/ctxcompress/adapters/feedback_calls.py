"""Feedback on the documents or nodes that an adapter returned: finds the calls that they come from."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from ctxcompress.apps.feedback import FeedbackLog, Used
from ctxcompress.apps.feedback.answer_quotes import used_by_answer
from ctxcompress.data.metadata import RECORD_KEY
from ctxcompress.data.passages import Span
from ctxcompress.data.results import KeptPassage
from ctxcompress.errors import InputError

__all__ = ["FeedbackLog", "Span", "Used", "checked_items", "record_used"]

Item = TypeVar("Item")


def checked_items(name: str, given: object, kind: type[Item]) -> list[Item]:
    """Return the documents or nodes of a call as a list. Raises InputError for anything else."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InputError(f"{name} is a {type(given).__name__}; give a list of {kind.__name__}, as the compressor did")
    items = list(given)
    for position, item in enumerate(items):
        if not isinstance(item, kind):
            raise InputError(f"{name}[{position}] is a {type(item).__name__}; give a list of {kind.__name__}")
    return items


def record_used(
    log: FeedbackLog,
    kept: Sequence[KeptPassage],
    metadata: Sequence[Mapping[str, object]],
    used: Sequence[Used],
    *,
    answer: str | None,
    numbered: bool,
    missing: bool,
    question: str,
) -> int:
    """Record which of the kept passages were used, and return the number of pieces of evidence.

    kept, metadata: of each document or node. used: by position among these. answer, numbered, missing: see
    `FeedbackLog.record`. question: stored if the log keeps texts.

    Raises InputError if one of them does not come from a call that the log remembers, or `log` is no FeedbackLog.
    """
    if kept and not isinstance(log, FeedbackLog):
        raise InputError(f"log is a {type(log).__name__}; give the FeedbackLog that the compressor has")
    calls = [_call(position, found) for position, found in enumerate(metadata)]
    evidence = list(used)
    if answer is not None:
        parts = [replace(part, index=position) for position, part in enumerate(kept)]
        evidence += used_by_answer(answer, parts, numbered=numbered)
    recorded = 0
    for call in dict.fromkeys(call for call, _ in calls):
        of_call = [item for item in dict.fromkeys(evidence) if calls[item.passage][0] == call]
        texts = tuple(_text(kept[item.passage], item.spans) for item in of_call)
        given = [Used(calls[item.passage][1], item.spans) for item in of_call]
        recorded += log.record_call(call, used=given, missing=missing, texts=(question, *texts))
    return recorded


def _call(position: int, metadata: Mapping[str, object]) -> tuple[str, int]:
    """Return the id of the call and the number of the passage in it."""
    record = metadata.get(RECORD_KEY)
    match (record.get("call"), record.get("passage")) if isinstance(record, Mapping) else (None, None):
        case str(call), int(passage):
            return call, passage
    raise InputError(
        f"number {position} does not come from a compression with feedback; give the compressor a log: "
        'feedback=FeedbackLog("feedback.sqlite")'
    )


def _text(part: KeptPassage, spans: Sequence[Span] | None) -> str:
    """Return the kept text of spans of the original."""
    if spans is None:
        return part.text
    texts, begin = [], 0
    for start, end in part.spans:
        texts += [
            part.text[begin + max(start, a) - start : begin + min(end, b) - start]
            for a, b in spans
            if a < end and start < b
        ]
        begin += end - start
    return "".join(texts)
