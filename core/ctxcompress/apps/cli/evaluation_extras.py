"""What `eval` can say of a report besides its tables: a budget with a guarantee, answers of a model, and money."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rich.console import RenderableType
from rich.table import Table

from ctxcompress.apps.cli.eval_command import Wanted
from ctxcompress.apps.cli.report import complain, write_file
from ctxcompress.apps.evaluation import (
    Answers,
    Estimate,
    Guarantee,
    Question,
    Report,
    answer,
    guaranteed_budget,
    respond,
)
from ctxcompress.apps.evaluation.answering import Progress
from ctxcompress.apps.evaluation.guarantee import guaranteed_setting
from ctxcompress.apps.evaluation.questions import Retrieve
from ctxcompress.apps.prices import InputPrice
from ctxcompress.apps.xray.html import plural
from ctxcompress.cache import SqliteStore
from ctxcompress.errors import ConfigError, CtxCompressError, InputError

__all__ = ["Extras", "check", "extras_of", "interval", "points", "responded"]

_CALLS = 1_000


class Extras(NamedTuple):
    """What was asked of a report besides its tables."""

    guarantee: Guarantee | None
    answers: Answers | None
    shown: tuple[RenderableType, ...]


def check(wanted: Wanted) -> None:
    """Raise ConfigError for arguments that do not fit together."""
    for name, share in (("--max-loss", wanted.max_loss), ("--confidence", wanted.confidence)):
        if share is not None and not 0 < share < 1:
            raise ConfigError(f"{name} is {share:g}; give a number above 0 and below 1, such as 0.05")
    if wanted.answers is not None and wanted.llm is None:
        raise ConfigError("--answers is given without --llm; give the model whose answers are kept there")
    if wanted.settings is not None and wanted.max_loss is None:
        raise ConfigError("--settings is given without --max-loss; give the share that may be lost, such as 0.05")
    if wanted.judge is not None and wanted.llm is None:
        raise ConfigError("--judge is given without --llm; give the model whose answers it grades")


def responded(
    wanted: Wanted, questions: Sequence[Question], retrieve: Retrieve | None, progress: Progress | None
) -> Sequence[Question]:
    """Return the questions, with answers of the model where there is nothing else to look for."""
    if wanted.llm is None:
        return questions
    model, store = _named(wanted.llm), _store(wanted)
    with _asking(wanted):
        return respond(questions, model, retrieve=retrieve, store=store, progress=progress)


def extras_of(wanted: Wanted, report: Report, price: InputPrice | None, progress: Progress | None) -> Extras:
    """Return what was asked of a report. Writes the settings, and asks the model."""
    saved = [] if price is None else [_saved(report, price)]
    guarantee, promised = _guarantee(wanted, report)
    answers = _answers_of(wanted, report, progress)
    return Extras(guarantee, answers, (*saved, *promised, *([_answers(answers)] if answers else [])))


def _answers_of(wanted: Wanted, report: Report, progress: Progress | None) -> Answers | None:
    if wanted.llm is None or (report.cited and not any(asked.answers for asked in report.questions)):
        return None
    judge = None if wanted.judge is None else _named(wanted.judge)
    model, store = _named(wanted.llm), _store(wanted)
    with _asking(wanted):
        return answer(report, model, judge=judge, store=store, progress=progress)


def _store(wanted: Wanted) -> SqliteStore | None:
    return None if wanted.answers is None else SqliteStore(wanted.answers)


@contextmanager
def _asking(wanted: Wanted) -> Iterator[None]:
    """Turn what a model raises into an error with a remedy."""
    try:
        yield
    except CtxCompressError:
        raise
    except Exception as error:
        kept = f"what was answered is in {wanted.answers}" if wanted.answers else "with --answers FILE it would go on"
        raise InputError(
            f"a model of --llm or --judge failed ({type(error).__name__}: {error}); call it alone, mend that, and "
            f"run this again: {kept}"
        ) from error


def _guarantee(wanted: Wanted, report: Report) -> tuple[Guarantee | None, list[str]]:
    """Return what can be promised, and the lines that say it."""
    if wanted.max_loss is None:
        return None, []
    losses = report.losses(report.methods[0])
    try:
        found = guaranteed_budget(losses, report.budgets, max_loss=wanted.max_loss, confidence=wanted.confidence)
    except ConfigError as error:  # most often too few questions: the tables are worth showing all the same
        return None, [f"No budget can be promised: {error}"]
    if wanted.settings is not None:
        write_file(wanted.settings, found.as_toml())
        complain(f"wrote {wanted.settings}")
    return found, [*_promised(found), *_promised_threshold(wanted, report)]


def _saved(report: Report, price: InputPrice) -> Table:
    inputs = {asked.id: asked.input_tokens for asked in report.questions}
    table = _titled("", "budget", "dollars", "saved", "saved if cached by the provider")
    for budget in report.budgets:
        rows = [row for row in report.rows if (row.method, row.budget) == (report.methods[0], budget)]
        found = price.saving([(inputs[row.question], row.tokens) for row in rows], _CALLS)
        saved, cached = found.before - found.after, found.before_cached - found.after_cached
        table.title = f"dollars for the input of {_CALLS:,} calls of {found.model}"
        table.add_row("all" if budget is None else f"{budget:,}", f"{found.after:.2f}", f"{saved:.2f}", f"{cached:.2f}")
    return table


def _titled(title: str, *names: str) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", show_edge=False)
    for name in names:
        table.add_column(name, justify="left" if name == "method" else "right", no_wrap=True)
    return table


def _promised(found: Guarantee) -> Iterator[str]:
    """Yield the lines that say which budget is promised to lose how little."""
    aim = f"at most {found.max_loss:.0%} of the evidence on new questions, with {found.confidence:.0%} confidence"
    if found.budget is None:
        more = found.questions_needed
        remedy = f"about {more:,} questions like these would do" if more else "give greater budgets, or allow more loss"
        yield f"No budget is shown to lose {aim} ({plural(found.questions, 'question')}); {remedy}."
        return
    yield f"The least budget that loses {aim}: {found.budget:,} tokens ({plural(found.questions, 'question')})."
    yield f"On these questions it loses {found.mean_loss:.1%}."


def _promised_threshold(wanted: Wanted, report: Report) -> Iterator[str]:
    """Yield the line that says which of the compared probabilities of `adaptive` is promised to lose how little, at the
    greatest budget. It is a promise of its own."""
    named = {float(name.partition(":")[2]): name for name in report.methods if name.startswith("adaptive:")}
    sizes = [budget for budget in report.budgets if budget is not None]
    if not named or not sizes or wanted.max_loss is None:
        return
    least, column = sorted(named), report.budgets.index(sizes[-1])
    losses = np.column_stack([report.losses(named[probability])[:, column] for probability in least])
    found = guaranteed_setting(losses, least, option="adaptive", max_loss=wanted.max_loss, confidence=wanted.confidence)
    best = "none of these" if found.setting is None else f"{found.setting:g}"
    at = f"With a budget of {sizes[-1]:,} tokens"
    yield f"{at}, the greatest adaptive that does is {best}; {found.mean_loss:.1%} lost."


def _answers(answers: Answers) -> Table:
    table = _titled("answers of the model", "method", "budget", "right", "F1", "F1 against all", "gained", "lost", "p")
    for row in answers.summary():
        cells = [row.method, "all" if row.budget is None else f"{row.budget:,}", interval(row.right), interval(row.f1)]
        paired = ["", "", "", ""]
        if row.budget is not None:
            paired = [points(row.f1_difference), str(row.gained), str(row.lost), f"{row.p_value:.2g}"]
        table.add_row(*cells, *paired)
    return table


def _named(name: str) -> object:
    """Return the object that MODULE:NAME names. Raises ConfigError if there is none."""
    module, _, attribute = name.partition(":")
    sys.path.insert(0, str(Path.cwd()))  # as `python -m` has it
    try:
        return getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise ConfigError(f"{name!r} is no MODULE:NAME of a model that Python can import ({error})") from error


def interval(found: Estimate | None) -> str:
    """Return a share with its interval; without one if all questions are alike, because it would say nothing."""
    return _with_interval(found, "{:.0%}".format)


def points(found: Estimate | None) -> str:
    """Return a difference of shares in points of a hundred, with its interval."""
    return _with_interval(found, lambda share: f"{100 * share:+.0f}")


def _with_interval(found: Estimate | None, write: Callable[[float], str]) -> str:
    if found is None or found.low == found.high:
        return write(found.mean) if found else ""
    return f"{write(found.mean)} ({write(found.low)} to {write(found.high)})"
