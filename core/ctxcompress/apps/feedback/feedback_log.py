"""The feedback log: which kept text was used, call by call, in numbers."""

import json
import logging
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TypeAlias
from uuid import uuid4

from ctxcompress.apps.feedback.answer_quotes import used_by_answer
from ctxcompress.apps.feedback.call_sheet import CallSheet, Used
from ctxcompress.apps.feedback.feedback_file import FeedbackFile, StoredCall
from ctxcompress.config.checks import check_count
from ctxcompress.data.passages import Span
from ctxcompress.data.results import Citation, Compression, KeptPassage
from ctxcompress.errors import ConfigError, CtxCompressError, InputError
from ctxcompress.pipeline.scoring import ScoredCall
from ctxcompress.pipeline.task import Frame

__all__ = ["FeedbackLog", "FeedbackRecord", "UsedItem"]

UsedItem: TypeAlias = KeptPassage | Citation | Used | str
"""A piece of evidence: a kept passage, a citation, spans of a passage, or the id of a passage, kept or dropped."""

_LONGEST_SCOPE = 200

_log = logging.getLogger("ctxcompress")


@dataclass(frozen=True, slots=True)
class FeedbackRecord:
    """The feedback on one compression."""

    sheet: CallSheet
    used: tuple[Used, ...]
    missing: bool
    """Whether the answer was missing from the kept text."""
    at: float
    """When it was recorded, in seconds since 1970."""
    question: str | None = None
    """Only if texts are kept."""
    texts: tuple[str, ...] = ()
    """The texts of the used evidence, only if texts are kept."""


class FeedbackLog:
    """A record of which kept text was used, in a SQLite file, by scope. `tune` learns thresholds and a budget from it.

    Stored are numbers only: scores, probabilities, tokens and positions of passages and segments, and which were used.
    No text is stored unless `keep_texts` is set; then the question and the texts of the used evidence are. Only the
    owner can read the file. Threads and processes can share it. Nothing in it changes a compression by itself.

    scope: what the feedback is about, such as an application or an index: different scopes do not learn from each
    other. max_records: the most calls with feedback that a scope keeps; the oldest are deleted first.

    Raises ConfigError if an argument is wrong or the file cannot be used: see `FeedbackFile`.
    """

    def __init__(
        self,
        path: str | PathLike[str],
        *,
        scope: str = "default",
        max_records: int = 5_000,
        keep_texts: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        check_count("max_records", max_records, 1)
        if not isinstance(scope, str) or not scope.strip() or not scope.isprintable() or len(scope) > _LONGEST_SCOPE:
            raise ConfigError(f"scope is {scope!r:.80}; give a name of at most {_LONGEST_SCOPE} printable characters")
        self.path, self.scope, self.keep_texts = Path(path).absolute(), scope, keep_texts
        self._file, self._clock = FeedbackFile(self.path, max_records, clock), clock
        self._file.scopes()

    def record(
        self,
        result: Compression,
        *,
        used: Iterable[UsedItem] = (),
        answer: str | None = None,
        numbered: bool = False,
        missing: bool = False,
        frame: Frame | None = None,
    ) -> int:
        """Record which text of a result was used, and return the number of pieces of evidence.

        used: what a user or a judge marked. It may name dropped passages. answer: the answer of the language model;
        what it quotes counts as used. numbered: whether numbers in brackets in the answer cite kept passages, from 1.
        missing: whether the kept text lacked the answer.

        Nothing is stored if there is no evidence and `missing` is not set. The segments are scored again, which takes
        about as long as the compression, and an `encoder` is asked again.

        Raises InputError if `result` is no result of `compress` or `used` names something that is not in it, and
        ConfigError if the file cannot be used.
        """
        _check_result(result)
        evidence = [_evidence(item, result) for item in used]
        if answer is not None:
            evidence += used_by_answer(answer, result.passages, numbered=numbered)
        if not evidence and not missing:
            return 0
        texts = _texts(result, evidence) if self.keep_texts else None
        sheet = CallSheet.of(result, frame=frame).encode()
        self._file.put(self.scope, uuid4().hex, sheet, _written(evidence, missing, texts))
        return len(set(evidence))

    def remember(
        self, result: Compression, *, frame: Frame | None = None, call: ScoredCall | None = None
    ) -> str | None:
        """Store the numbers of a result until `record_call` says what was used, and return the id of the call.

        The adapters do this for each call. call: what the compression knew; without it, the segments are scored again,
        and an `encoder` is asked again. frame: the one that the compression was made with, needed only without `call`.
        If the file cannot be used, log a warning and return None.
        """
        _check_result(result)
        name = uuid4().hex
        try:
            self._file.put(self.scope, name, CallSheet.of(result, frame=frame, call=call).encode(), None)
        except CtxCompressError as error:
            _log.warning("a call is not remembered for feedback: %s", error)
            return None
        return name

    def record_call(
        self, call: str, *, used: Sequence[Used] = (), missing: bool = False, texts: tuple[str, ...] = ()
    ) -> int:
        """Record which text of a remembered call was used, and return the number of pieces of evidence.

        Later feedback on the same call replaces the earlier. texts: the question and the used texts, which are stored
        only if `keep_texts` is set. Raises InputError if the call is not remembered, or has no such passage.
        """
        stored = self._file.get(self.scope, call)
        if stored is None:
            raise InputError(
                f"scope {self.scope!r} of {self.path.name} remembers no call {call!r}; give the log that the "
                "compressor has, and results that are not older than its last max_records calls"
            )
        passages = len(self._sheet(stored).tokens)
        for item in used:
            if not 0 <= item.passage < passages:
                raise InputError(f"passage {item.passage} is used, but the call had {passages}; count from 0")
        if not used and not missing:
            return 0
        kept = texts if self.keep_texts else None
        self._file.put(self.scope, call, stored.sheet, _written(used, missing, kept))
        return len(set(used))

    def records(self) -> list[FeedbackRecord]:
        """Return the feedback of the scope, the oldest first. Raises ConfigError if the file cannot be used."""
        return [self._record(stored) for stored in self._file.with_feedback(self.scope)]

    def scopes(self) -> dict[str, int]:
        """Return the number of records of every scope in the file."""
        return self._file.scopes()

    def forget(self) -> int:
        """Delete everything about the scope, and return the number of calls that were deleted."""
        return self._file.delete(self.scope)

    def _record(self, stored: StoredCall) -> FeedbackRecord:
        try:
            given = json.loads(stored.used or "{}")
            used = tuple(
                Used(number, None if spans is None else tuple(Span(*ends) for ends in spans))
                for number, spans in given["used"]
            )
            texts = given.get("texts", [])
            sheet = CallSheet.decode(stored.sheet)
            if any(not 0 <= item.passage < len(sheet.scores) for item in used):
                raise ValueError("a passage is out of range")
            return FeedbackRecord(
                sheet, used, bool(given["missing"]), stored.at, texts[0] if texts else None, tuple(texts[1:])
            )
        except (KeyError, TypeError, ValueError) as error:
            raise self._damage(stored, error) from error

    def _sheet(self, stored: StoredCall) -> CallSheet:
        try:
            return CallSheet.decode(stored.sheet)
        except ValueError as error:
            raise self._damage(stored, error) from error

    def _damage(self, stored: StoredCall, error: Exception) -> ConfigError:
        return ConfigError(f"call {stored.id} in {self.path.name} is damaged ({error}); rename the file and start anew")


def _check_result(result: object) -> None:
    if not isinstance(result, Compression):
        raise InputError(
            f"result is a {type(result).__name__}; give the Compression that compress returned, or to `record` of an "
            "adapter its documents or nodes"
        )


def _evidence(item: object, result: Compression) -> Used:
    passages = result.input_passages()
    if isinstance(item, KeptPassage | Citation):
        used = Used(item.index, item.spans if isinstance(item, Citation) else None)
    elif isinstance(item, Used):
        used = item
    elif isinstance(item, str):
        places = [place for place, passage in enumerate(passages) if passage.id == item]
        if not places:
            raise InputError(f"no passage has the id {item!r}; give an id, a kept passage or a citation of the result")
        used = Used(places[0])
    else:
        raise InputError(f"used has a {type(item).__name__}; give kept passages, citations, ids or Used")
    if not 0 <= used.passage < len(passages):
        raise InputError(f"passage {used.passage} is used, but the result has {len(passages)}; count from 0")
    return used


def _texts(result: Compression, evidence: Sequence[Used]) -> tuple[str, ...]:
    passages = result.input_passages()
    texts = []
    for number, spans in evidence:
        text = passages[number].text
        texts.append(text if spans is None else "".join(text[start:end] for start, end in spans))
    return (result.query, *texts)


def _written(used: Sequence[Used], missing: bool, texts: tuple[str, ...] | None) -> str:
    kept = {} if texts is None else {"texts": texts}
    return json.dumps({"used": list(dict.fromkeys(used)), "missing": missing, **kept})
