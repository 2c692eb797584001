"""The page of an evaluation: one HTML file that loads nothing, for somebody who was sent it.

Everything is on it without its script, which only shows one budget at a time.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

from ctxcompress.apps.evaluation.answering import Answers
from ctxcompress.apps.evaluation.evaluation_failures import Xrays, failures
from ctxcompress.apps.evaluation.evaluation_parts import (
    answer_numbers,
    chance,
    curves,
    numbers,
    percent,
    places,
    table,
    tokens,
)
from ctxcompress.apps.evaluation.evaluation_report import Report, Summary
from ctxcompress.apps.evaluation.guarantee import Guarantee, Trial
from ctxcompress.apps.evaluation.intervals import Estimate
from ctxcompress.apps.xray.html import Html, document, element, facts, head, line, plural, section
from ctxcompress.apps.xray.page import style_sheet

__all__ = ["page_of"]

_NEAR = 0.95
"""The page begins with the least budget that keeps this share of what the whole context has."""
_NOTE = (
    "Small figures are the 95 % interval of a mean (bootstrap over the questions). There is none where all questions "
    "are alike, which does not make it sure: {questions} without a loss still allow one in {allowed}."
)


def page_of(
    report: Report, answers: Answers | None = None, guarantee: Guarantee | None = None, xrays: Xrays | None = None
) -> str:
    """Return an HTML page about a report: what each method keeps under each budget, and what the first one loses.

    answers: of a language model from the texts of the report. guarantee: for a budget of the first method. xrays: of
    questions that lose something, see `xrays`.
    """
    found = _Found.of(report, guarantee)
    own = files("ctxcompress.apps.evaluation")
    parts = (
        *([section("promise", "What is promised", *_promise(guarantee))] if guarantee else []),
        *_curves(found),
        _slider(found),
        section("budgets", "The numbers, by budget", *_budgets(found, answers)),
        section("failures", f"What {report.methods[0]} loses", *failures(report, xrays or {})),
    )
    return document(
        f"Evaluation: {found.title}",
        style_sheet() + own.joinpath("evaluation.css").read_text(encoding="utf-8"),
        element("a", {"class": "skip", "href": "#budgets"}, "to the numbers"),
        element("header", {"class": "top"}, *_heading(found)),
        element("main", None, *parts),
        script=own.joinpath("evaluation.js").read_text(encoding="utf-8"),
        framed=style_sheet() if xrays else "",
    )


@dataclass(frozen=True, slots=True)
class _Found:
    """A report with what several parts of the page need of it."""

    report: Report
    by_budget: Mapping[int | None, Sequence[Summary]]
    """Budget -> the summary of each method."""
    things: str
    """What is looked for in texts."""
    start: int
    """The place of the budget that is shown first."""
    why: str
    """What it is the least budget to do."""

    @classmethod
    def of(cls, report: Report, guarantee: Guarantee | None) -> "_Found":
        summaries = report.summary()
        by_budget = {budget: [each for each in summaries if each.budget == budget] for budget in report.budgets}
        things = "evidence" if any(each.evidence for each in summaries) else "answers"
        kept = [_kept(rows[0]) for rows in by_budget.values()]
        enough = _NEAR * (kept[-1].mean if kept[-1] else 0.0)
        start = next((place for place, share in enumerate(kept) if share and share.mean >= enough), len(kept) - 1)
        why = f"keeps at least {percent(_NEAR)} of what is kept with the greatest"
        if start and report.budgets[start] is None:  # that nothing is lost of all is not worth a page
            start, why = start - 1, "comes next to the whole context"
        if guarantee is not None and guarantee.setting is not None and guarantee.setting in by_budget:
            start, why = report.budgets.index(guarantee.budget), "has the promise below"
        return cls(report, by_budget, things, start, why)

    @property
    def title(self) -> str:
        """Say what the first method does with the budget that is shown first."""
        return self.sentence(self.by_budget[self.report.budgets[self.start]][0])

    def sentence(self, row: Summary) -> str:
        """Say what a method keeps and saves."""
        kept, saves = _kept(row), f"saves {percent(row.saved)} of the tokens"
        does = f"keeps {percent(kept.mean)} of the {self.things} and {saves}" if kept else saves
        return f"With {tokens(row.budget)}, {row.method} {does}"


def _kept(row: Summary) -> Estimate | None:
    return row.evidence or row.answer


def _heading(found: _Found) -> Iterator[Html]:
    yield element("p", {"class": "kicker"}, "ctxcompress evaluation")
    yield element("h1", None, f"{found.title}.")
    if found.report.judged:
        why = f"Of {plural(len(found.by_budget), 'measured budget')}, it is the least that {found.why}."
        yield element("p", None, why)
    yield facts(_measured(found.report).items(), 400)


def _measured(report: Report) -> Mapping[str, str]:
    """Return what was measured, on what."""
    size = len(report.questions)
    passages = sum(asked.passages for asked in report.questions) / size
    whole = sum(asked.input_tokens for asked in report.questions) / size
    sought = "all" if report.judged == size else f"{report.judged:,}"
    measured = {
        "questions": f"{size:,}, {sought} of them with evidence or an answer to look for",
        "passages": f"{passages:.3g} to a question on average, {whole:,.0f} tokens ({report.encoding})",
        "methods": ", ".join(report.methods),
    }
    if report.retrieved is not None:
        lacks = "" if report.retrieved == 1 else "; the rest was not retrieved, so that no method can keep it"
        measured["retrieved"] = f"{percent(report.retrieved)} of what is looked for is in the passages{lacks}"
    if report.made:
        measured["made"] = f"{plural(report.made, 'question')} of headings, which is weaker than questions of users"
    if report.cited:
        cited = plural(report.cited, "question")
        measured["cited"] = f"of {cited} the evidence is what an answer cites, which is weaker"
    return measured


# Each budget


def _curves(found: _Found) -> Iterator[Html]:
    """Yield the curves, if anything was looked for."""
    budgets = found.report.budgets
    kept = {
        name: [share for rows in found.by_budget.values() if (share := _kept(rows[place]))]
        for place, name in enumerate(found.report.methods)
    }
    if all(kept.values()):
        title = f"{found.things.capitalize()} kept, by budget"
        image = curves(budgets, kept, f"{title}: the numbers are below", places(budgets)[found.start])
        under = element("figcaption", None, "Budget in tokens. The bands are 95 % intervals.")
        yield section("curves", title, element("figure", None, image, under))


def _slider(found: _Found) -> Html:
    most = str(len(found.report.budgets) - 1)
    place = {"type": "range", "id": "stop", "min": "0", "max": most, "value": str(found.start), "autocomplete": "off"}
    return element(
        "div",
        {"class": "control"},
        element("label", {"for": "stop"}, "Budget"),
        element("input", place),
        element("output", {"for": "stop", "id": "said", "aria-live": "polite"}),
        element("label", {"class": "f"}, element("input", {"type": "checkbox", "id": "every"}), " all budgets"),
    )


def _budgets(found: _Found, answers: Answers | None) -> Iterator[Html]:
    """Yield the tables of each budget, with what the script shows beside the slider."""
    said = {(row.method, row.budget): row for row in answers.summary()} if answers else {}
    for place, (budget, rows) in enumerate(found.by_budget.items()):
        attributes = {
            "data-stop": str(place),
            "data-name": tokens(budget),
            "data-place": f"{places(found.report.budgets)[place]:.2f}%",
            "data-said": f"{found.sentence(rows[0])}.",
        }
        judged = [answer_numbers(budget, [said[row.method, budget] for row in rows])] if said else []
        yield element("div", attributes, numbers(found.report, rows), *judged)
    if size := found.report.judged:
        allowed = 1 / (1 - 0.05 ** (1 / size))
        note = _NOTE.format(questions=plural(size, "question"), allowed=f"{allowed:.0f}")
        yield element("p", {"class": "note"}, note)


# A guarantee


def _promise(guarantee: Guarantee) -> Iterator[Html]:
    """Yield what is promised, in words, and the settings that were tested."""
    aim = f"at most {percent(guarantee.max_loss)} of what the whole context has"
    sure = f"with a confidence of {percent(guarantee.confidence)}"
    size = plural(guarantee.questions, "question")
    if guarantee.setting is None:
        needed = guarantee.questions_needed
        remedy = f"About {needed:,} questions like these would do." if needed else "It takes more tokens, or more loss."
        said = f"No setting is shown to lose {aim}, {sure}. {remedy}"
    else:
        setting = _setting(guarantee, guarantee.setting)
        said = f"With {setting}, new questions are expected to lose {aim}, {sure}."
    yield element("p", {"class": "said"}, said)
    kind = (
        f"On these {size} the loss is {100 * guarantee.mean_loss:.1f} %. That holds for questions of the same kind: it "
        "assumes that new ones come from the same source, and that the limit was chosen before the losses were seen."
    )
    yield element("p", None, kind)
    names = head("setting", "mean loss", "bound of the loss", "p")
    lines = [_tested(guarantee, each) for each in guarantee.tested]
    tested = table("From the safest to the first that fails", names, lines)
    yield element("details", None, element("summary", None, "What was tested"), tested)


def _tested(guarantee: Guarantee, trial: Trial) -> Html:
    cells = (f"{100 * trial.mean_loss:.1f} %", f"{100 * trial.upper_bound:.1f} %", chance(trial.p_value))
    return line(_setting(guarantee, trial.setting), "", cells)


def _setting(guarantee: Guarantee, value: float) -> str:
    return tokens(value) if guarantee.option == "max_tokens" else f"{guarantee.option} {value:g}"
