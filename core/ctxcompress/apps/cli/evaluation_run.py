"""The command `eval`: where the questions come from, the progress, the tables, and the report as a file."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.progress import Progress
from rich.table import Table

from ctxcompress.apps.cli.common_options import price_of
from ctxcompress.apps.cli.eval_command import Request, Wanted
from ctxcompress.apps.cli.evaluation_extras import check, extras_of, interval, points, responded
from ctxcompress.apps.cli.report import complain, write_file, write_parts
from ctxcompress.apps.evaluation import (
    Comparison,
    Question,
    Report,
    Summary,
    evaluate,
    from_folder,
    page_of,
    questions_from_headings,
    read_questions,
    xrays,
)
from ctxcompress.apps.evaluation.answering import Progress as Told
from ctxcompress.apps.xray.html import plural
from ctxcompress.errors import ConfigError, InputError

__all__ = ["run_eval"]

_WIDTH = 140
"""Characters of a line: of a narrower table the numbers would be cut."""
_LONGEST = 90
"""Characters of a text in a line."""
_FAILURES = 3
"""The questions that lose something and are shown."""


def run_eval(request: Request, wanted: Wanted, baseline: str | None) -> bool:
    """Evaluate, show the tables, write the report, and return whether something is worse than in the baseline.

    baseline: the file of an earlier report. Raises ConfigError for wrong usage, and InputError if nothing can be
    evaluated.
    """
    price = price_of(wanted.price)
    _check(request, wanted, baseline)
    earlier = _read_report(baseline) if baseline is not None else None
    retrieve = from_folder(request.docs) if request.docs is not None else None
    with _progress(Console(stderr=True)) as progress:
        questions = responded(wanted, _questions(request), retrieve, progress)
    with _progress(Console(stderr=True)) as progress:
        report = evaluate(
            questions,
            budgets=[_budget(text) for text in request.budgets.split(",")],
            methods=[name.strip() for name in request.compare.split(",")],
            retrieve=retrieve,
            progress=progress,
        )
    if not report.judged:
        raise InputError(
            "no question has answers or evidence, so there is nothing to look for; add some, or have --llm answer and "
            "cite the passages"
        )
    compared = earlier and report.compare(earlier)
    with _progress(Console(stderr=True)) as progress:
        also = extras_of(wanted, report, price, progress)
    write_parts(_shown(report, compared or (), also.shown), _WIDTH)
    if request.json is not None:
        write_file(request.json, report.to_json())
        complain(f"wrote {request.json}")
    if request.page is not None:
        shown = xrays(report, questions, retrieve=retrieve)
        write_file(request.page, page_of(report, also.answers, also.guarantee, shown))
        complain(f"wrote {request.page}")
    return any(each.worse for each in compared or ())


def _check(request: Request, wanted: Wanted, baseline: str | None) -> None:
    """Raise ConfigError for arguments that do not fit together, and before anything is read that would be replaced."""
    if (request.questions is None) == (request.from_headings is None):
        raise ConfigError("give QUESTIONS, or --questions-from-headings N with --docs; one of the two")
    if request.from_headings is not None and request.docs is None:
        raise ConfigError("--questions-from-headings is given without --docs; give the folder of the documents")
    check(wanted)
    inputs = [Path(name).resolve() for name in (request.questions, request.docs, baseline) if name is not None]
    outs = [name for name in (request.json, request.page, wanted.settings, wanted.answers) if name is not None]
    for place, name in enumerate(outs):
        out = Path(name).resolve()
        if any(out.is_relative_to(each) for each in inputs):
            raise ConfigError(f"{name!r} is an input, or in one; give another file")
        if any(out == Path(other).resolve() for other in outs[:place]):
            raise ConfigError(f"{name!r} is given for two files; give each a name of its own")
        if not out.parent.is_dir():
            raise ConfigError(f"{name!r} cannot be written: there is no folder {str(out.parent)!r}")


def _questions(request: Request) -> Sequence[Question]:
    if request.questions is None:
        return questions_from_headings(str(request.docs), request.from_headings or 0)
    questions = read_questions(request.questions, limit=request.limit)
    if request.docs is None and any(question.passages is None for question in questions):
        raise ConfigError(f"the questions of {request.questions!r} have no passages; give a folder of them with --docs")
    return questions


def _read_report(name: str) -> Report:
    try:
        return Report.from_json(Path(name).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{name!r} cannot be read ({error}); give a file that --json wrote") from error
    except ConfigError as error:
        raise ConfigError(f"{name!r}: {error}") from error


def _budget(text: str) -> int | None:
    if text.strip() == "all":
        return None
    if not text.strip().isdecimal():
        raise ConfigError(f"--budgets has {text!r}; give numbers of tokens or all, such as 100,500,all")
    return int(text)


@contextmanager
def _progress(screen: Console) -> Iterator[Told | None]:
    """Yield a function that shows how many questions are done, after a second, if somebody looks."""
    if not screen.is_terminal:
        yield None
        return
    bar, began = Progress(console=screen, transient=True), monotonic()
    task = bar.add_task("questions")

    def show(done: int, total: int) -> None:
        bar.update(task, completed=done, total=total)
        if monotonic() - began > 1:
            bar.start()

    try:
        yield show
    finally:
        bar.stop()


# What is shown


def _shown(report: Report, compared: Sequence[Comparison], also: Sequence[RenderableType]) -> Iterator[RenderableType]:
    yield from _heading(report)
    for method in report.methods:
        yield _table([each for each in report.summary() if each.method == method], method, report)
    yield from (*_failures(report), *also, *_compared(compared))


def _heading(report: Report) -> Iterator[str]:
    tokens = sum(asked.input_tokens for asked in report.questions) / len(report.questions)
    passages = sum(asked.passages for asked in report.questions) / len(report.questions)
    yield (
        f"{plural(len(report.questions), 'question')}, each with {plural(round(passages), 'passage')} of {tokens:,.0f} "
        f"tokens in all ({report.encoding}), on average."
    )
    if report.retrieved is not None and report.retrieved < 1:
        yield f"The passages have {report.retrieved:.0%} of what is looked for. The rest was not retrieved."
    if missing := [asked for asked in report.questions if asked.held < asked.pieces]:
        more = f", and {len(missing) - _FAILURES} more" if len(missing) > _FAILURES else ""
        names = ", ".join(f"{asked.id} ({_short(asked.query)})" for asked in missing[:_FAILURES])
        yield f"Not in the passages, or written differently there: what is looked for by {names}{more}."
    if report.made:
        made = plural(report.made, "question")
        yield f"Made from headings: {made}. That is weaker than questions of your users."
    if report.cited:
        cited = plural(report.cited, "question")
        yield f"Evidence is what an answer cites: {cited}. That is weaker than evidence that people marked."
    yield "In brackets: the 95 % interval of the mean."


def _table(rows: Sequence[Summary], method: str, report: Report) -> Table:
    table = Table(title=method, title_justify="left", title_style="bold", show_edge=False)
    is_other = method != report.methods[0]
    columns: dict[str, Callable[[Summary], str]] = {
        "budget": lambda row: "all" if row.budget is None else f"{row.budget:,}",
        "tokens": lambda row: f"{row.tokens.mean:,.0f}",
        "saved": lambda row: f"{row.saved:.0%}",
        "evidence": lambda row: interval(row.evidence),
        "answers": lambda row: interval(row.answer),
        "precision": lambda row: f"{row.precision.mean:.0%}" if row.precision else "",
        "ms": lambda row: f"{row.milliseconds.mean:.1f}" if row.budget else "",
        f"against {report.methods[0]}": lambda row: points(row.difference) if is_other else "",
    }
    cells = {name: [show(row) for row in rows] for name, show in columns.items()}
    shown = {name: column for name, column in cells.items() if any(column)}
    for name in shown:
        table.add_column(name, justify="right", no_wrap=True)
    for row in zip(*shown.values(), strict=True):
        table.add_row(*row)
    return table


def _failures(report: Report) -> Iterator[RenderableType]:
    """Yield the questions that lose most under the greatest budgets of the first method: the ones to look at."""
    failures = [each for each in report.failures if each.method == report.methods[0]]
    worst = {each.question: each for each in sorted(failures, key=lambda each: each.budget or 0)}
    chosen = sorted(worst.values(), key=lambda each: -(each.budget or 0))[:_FAILURES]
    if chosen:
        yield f"Questions that lose something with {report.methods[0]}, at the greatest budgets:"
    for failure in chosen:
        yield f"  at {failure.budget:,}: {_short(failure.query)}"
        yield f"    lost: {_short(failure.lost[0])}"
        if failure.why and failure.why[0]:
            yield Padding(failure.why[0], (0, 0, 0, 4))


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _compared(compared: Sequence[Comparison]) -> Iterator[str]:
    """Yield what is different from the baseline."""
    changed = [each for each in compared if each.difference.low > 0 or each.worse]
    if compared and not changed:
        yield f"Nothing is sure to differ from the baseline ({plural(compared[0].questions, 'question')} in common)."
    for each in changed:
        budget = "all" if each.budget is None else f"{each.budget:,}"
        judgement = "WORSE" if each.worse else "better"
        yield f"{judgement} than the baseline: {each.method} at {budget}: {points(each.difference)} points"
