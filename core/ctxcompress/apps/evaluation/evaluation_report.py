"""The report of an evaluation: what each budget kept of each question, and what follows from it for all questions."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, NamedTuple

import numpy as np

from ctxcompress.apps.evaluation.intervals import Estimate, Floats, estimates
from ctxcompress.errors import ConfigError

__all__ = ["SCHEMA", "Asked", "Comparison", "Failure", "Report", "Row", "Summary"]

SCHEMA = "ctxcompress-evaluation/1"
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as it was evaluated.

    Its pieces are what a result must have: each evidence and each relevant document; without any, the answer.
    """

    id: str
    query: str
    passages: int
    """How many passages it was asked of."""
    input_tokens: int
    """The tokens of all passages."""
    pieces: int
    """The pieces that a result must have. With 0, only tokens and time are measured."""
    held: int
    """The pieces that all passages have: compression cannot lose the others."""
    answer: bool | None
    """Whether all passages have an answer; None if there is none to look for."""
    made: bool
    """Whether the question was made from a heading."""
    answers: tuple[str, ...] = ()
    """The accepted answers."""
    cited: bool = False
    """Whether its pieces are what an answer from all passages cites."""


@dataclass(frozen=True, slots=True)
class Row:
    """What a method made of the passages of a question under a budget."""

    question: str
    """The id of the question."""
    method: str
    budget: int | None
    """None: all passages, as they are."""
    text: str
    tokens: int
    milliseconds: float
    """CPU time, without a cache."""
    evidence: float | None
    """The share of the evidence that is in the text; None without evidence."""
    answer: bool | None
    """Whether the text has an answer; None if there is none to look for."""
    precision: float | None
    """The share of the text's tokens that are evidence; None without evidence or text."""
    lost: tuple[str, ...]
    """The pieces that all passages have and the text lacks."""
    why: tuple[str, ...] = ()
    """Of each of these in words why it was dropped; "" where the method does not know."""


@dataclass(frozen=True, slots=True)
class Summary:
    """A method under a budget: means over the questions. None where no question says anything."""

    method: str
    budget: int | None
    evidence: Estimate | None
    answer: Estimate | None
    precision: Estimate | None
    tokens: Estimate
    milliseconds: Estimate
    saved: float
    """The share of the tokens of all passages that the texts do without."""
    difference: Estimate | None
    """The kept share of the pieces, less that of the first method for the same questions; None for the first."""
    over: int
    """The texts with more tokens than the budget."""


class Failure(NamedTuple):
    """A question that loses something under a budget."""

    question: str
    query: str
    method: str
    budget: int | None
    lost: tuple[str, ...]
    why: tuple[str, ...]
    """See `Row.why`."""


class Comparison(NamedTuple):
    """A method under a budget, compared with an earlier report."""

    method: str
    budget: int | None
    questions: int
    difference: Estimate
    """The kept share of the pieces, less that of the earlier report for the same questions."""

    @property
    def worse(self) -> bool:
        """Whether the whole interval is below 0."""
        return self.difference.high < -_ROUNDING


@dataclass(frozen=True, slots=True)
class Report:
    """What an evaluation has measured."""

    questions: tuple[Asked, ...]
    rows: tuple[Row, ...] = field(repr=False)
    """By question, then method, then budget."""
    methods: tuple[str, ...]
    """The first is the one that others are compared with."""
    budgets: tuple[int | None, ...]
    """Ascending; None, all passages, is the last."""
    encoding: str
    seed: int = 0
    """The seed of the intervals."""

    @property
    def made(self) -> int:
        """The number of questions made from headings. They are easier than real ones: their words are in the text."""
        return sum(asked.made for asked in self.questions)

    @property
    def cited(self) -> int:
        """The number of questions whose pieces are what an answer cites. Whoever answered can be wrong."""
        return sum(asked.cited for asked in self.questions)

    @property
    def judged(self) -> int:
        """The number of questions that have evidence or an answer to look for."""
        return sum(asked.pieces > 0 for asked in self.questions)

    @property
    def retrieved(self) -> float | None:
        """The mean share of the pieces that the passages have at all: compression cannot be blamed for the rest."""
        shares = [asked.held / asked.pieces for asked in self.questions if asked.pieces]
        return sum(shares) / len(shares) if shares else None

    @property
    def failures(self) -> tuple[Failure, ...]:
        """Of each method and budget the questions that lose what all passages have."""
        queries = {asked.id: asked.query for asked in self.questions}
        return tuple(
            Failure(row.question, queries[row.question], row.method, row.budget, row.lost, row.why)
            for row in self.rows
            if row.lost
        )

    def summary(self) -> tuple[Summary, ...]:
        """Return the means of each method and budget, by method, then budget."""
        kept = self._kept()
        columns = [self._cube(read) for read in _MEASURES.values()] + [kept - kept[:, :1]]
        values = np.stack(columns, axis=-1)  # question, method, budget, measure
        found = iter(estimates(values.reshape(len(self.questions), -1), self.seed))
        inputs = sum(asked.input_tokens for asked in self.questions)
        texts = self._cube(lambda row: row.tokens).sum(axis=0)
        over = self._cube(lambda row: row.budget is not None and row.tokens > row.budget).sum(axis=0)
        summaries = []
        for place, method in enumerate(self.methods):
            for column, budget in enumerate(self.budgets):
                means: dict[str, Any] = {name: next(found) for name in _MEASURES}
                difference = next(found)
                summaries.append(
                    Summary(
                        method=method,
                        budget=budget,
                        **means,
                        saved=float(1 - texts[place, column] / inputs) if inputs else 0.0,
                        difference=difference if place else None,
                        over=int(over[place, column]),
                    )
                )
        return tuple(summaries)

    def losses(self, method: str) -> Floats:
        """Return the share of the pieces that all passages of a question have and the text lacks, from 0 to 1.

        The shape is (questions, budgets), with the budgets ascending. Left out are questions of which the passages have
        nothing that is looked for, because compression can lose nothing of it, and all but the first of equal ones.
        Raises ConfigError for an unknown method.
        """
        if method not in self.methods:
            raise ConfigError(f"there is no method {method!r} in the report; it has {', '.join(self.methods)}")
        firsts = {asked.query: number for number, asked in reversed([*enumerate(self.questions)]) if asked.held}
        judged = sorted(firsts.values())
        held = np.array([[self.questions[number].held] for number in judged], dtype=float).reshape(-1, 1)
        lost: Floats = self._cube(lambda row: len(row.lost))[judged, self.methods.index(method)] / held
        return lost

    def compare(self, baseline: "Report") -> tuple[Comparison, ...]:
        """Compare with an earlier report: the methods, budgets and questions that both have.

        Raises ConfigError if they have nothing in common.
        """
        ours, theirs = self._kept_by_setting(), baseline._kept_by_setting()
        settings = [setting for setting in ours if setting in theirs]
        shared = sorted({name for setting in settings for name in ours[setting].keys() & theirs[setting].keys()})
        if not shared:
            raise ConfigError(
                "the reports have no question with a method and a budget in common, and nothing to compare; give the "
                "report of an evaluation of the same questions"
            )
        values = [[ours[setting][name] - theirs[setting][name] for setting in settings] for name in shared]
        found = zip(settings, estimates(np.array(values), self.seed), strict=True)
        return tuple(Comparison(*setting, len(shared), estimate) for setting, estimate in found if estimate is not None)

    def to_json(self) -> str:
        """Return the report as JSON, with the texts."""
        texts = {text: number for number, text in enumerate(dict.fromkeys(row.text for row in self.rows))}
        rows = [[texts[row.text] if name == "text" else getattr(row, name) for name in _ROW] for row in self.rows]
        report = {field.name: getattr(self, field.name) for field in fields(self)}
        asked = [asdict(asked) for asked in self.questions]
        document = report | {"questions": asked, "columns": _ROW, "rows": rows, "texts": [*texts]}
        return json.dumps({"schema": SCHEMA, **document})

    @classmethod
    def from_json(cls, text: str) -> "Report":
        """Read what `to_json` wrote. Raises ConfigError for anything else."""
        try:
            document = json.loads(text)
            schema = document.get("schema") if isinstance(document, dict) else None
            if schema != SCHEMA:
                raise ConfigError(f"this is no report with the schema {SCHEMA!r}, but {schema!r}; evaluate anew")
            rows = [_row(row, document["texts"]) for row in document["rows"]]
            return cls(
                questions=tuple(
                    Asked(**{**asked, "answers": tuple(asked["answers"])}) for asked in document["questions"]
                ),
                rows=tuple(rows),
                methods=tuple(document["methods"]),
                budgets=tuple(document["budgets"]),
                encoding=document["encoding"],
                seed=document["seed"],
            )
        except ConfigError:
            raise
        except (ValueError, TypeError, KeyError, IndexError, RecursionError) as error:
            raise ConfigError(f"this is no report as Report.to_json writes it ({error!r}); evaluate anew") from error

    def __post_init__(self) -> None:
        size = (len(self.questions), len(self.methods), len(self.budgets))
        if len(self.rows) != size[0] * size[1] * size[2]:
            raise ConfigError(f"a report of {size} questions, methods and budgets has {len(self.rows)} rows")

    def _cube(self, read: Callable[[Row], float | None]) -> Floats:
        """Return a value of all rows, shape (questions, methods, budgets), NaN for None."""
        values = np.array([np.nan if (value := read(row)) is None else value for row in self.rows], dtype=float)
        return values.reshape(len(self.questions), len(self.methods), len(self.budgets))

    def _kept(self) -> Floats:
        """Return the share of the pieces that each text has, NaN for a question without any."""
        held = np.array([asked.held for asked in self.questions], dtype=float)
        pieces = np.array([asked.pieces or np.nan for asked in self.questions], dtype=float)
        lost = self._cube(lambda row: len(row.lost))
        kept: Floats = (held[:, None, None] - lost) / pieces[:, None, None]
        return kept

    def _kept_by_setting(self) -> dict[tuple[str, int | None], dict[tuple[str, str], float]]:
        """Return of each method and budget: (id, query) of each question that has pieces -> the share kept."""
        kept = self._kept()
        return {
            (method, budget): {
                (asked.id, asked.query): float(kept[number, place, column])
                for number, asked in enumerate(self.questions)
                if asked.pieces
            }
            for place, method in enumerate(self.methods)
            for column, budget in enumerate(self.budgets)
        }


_ROW = tuple(field.name for field in fields(Row))
_MEASURES: Mapping[str, Callable[[Row], float | None]] = {
    "evidence": lambda row: row.evidence,
    "answer": lambda row: row.answer,
    "precision": lambda row: row.precision,
    "tokens": lambda row: row.tokens,
    "milliseconds": lambda row: row.milliseconds,
}


def _row(values: Sequence[Any], texts: Sequence[str]) -> Row:
    named = dict(zip(_ROW, values, strict=True))
    return Row(**{**named, "text": texts[named["text"]], "lost": tuple(named["lost"]), "why": tuple(named["why"])})
