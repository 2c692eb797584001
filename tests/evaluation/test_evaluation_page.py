"""The page of an evaluation: all numbers are on it, no text acts as markup, and nothing is loaded."""

import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path

from evaluation_example import EVIL, Last, example, question
from typer.testing import CliRunner

from ctxcompress.apps.cli.app import app
from ctxcompress.apps.evaluation import Estimate, Question, evaluate, guaranteed_budget, page_of, xrays
from ctxcompress.apps.evaluation.evaluation_parts import percent

REPORT, ANSWERS, GUARANTEE = example()
PAGE = page_of(REPORT, ANSWERS, GUARANTEE)


class Read(HTMLParser):
    """The elements of a page, its text, that of each budget, and its style and script."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = [("", {})]
        self.texts: dict[str, str] = {}
        self._place = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attributes)))
        self._place = tag if tag in ("style", "script", "body") else dict(attributes).get("data-stop") or self._place

    def handle_data(self, data: str) -> None:
        self.texts[self._place] = f"{self.texts.get(self._place, '')}{data} "


def shown(found: Estimate | None, scale: float, form: str) -> list[str]:
    numbers = () if found is None else found if found.low < found.high else found[:1]
    return [format(scale * number, form).replace("-", "\u2212") for number in numbers]


def test_every_number_of_the_summary_is_among_those_of_its_budget() -> None:
    texts, answers = Read(PAGE).texts, {(row.method, row.budget): row for row in ANSWERS.summary()}
    for row in REPORT.summary():
        said = answers[row.method, row.budget]
        shares = (row.evidence, row.answer, row.precision, said.right, said.f1)
        numbers = [number for found in shares for number in shown(found, 100, ".0f")]
        numbers += [*shown(row.tokens, 1, ",.0f"), *shown(row.milliseconds, 1, ".1f"), f"{100 * row.saved:.0f}"]
        numbers += [*shown(row.difference, 100, "+.0f"), *([str(row.over)] if row.over else [])]
        numbers += [str(sum(each[2:4] == (row.method, row.budget) for each in REPORT.failures))]
        if row.budget:
            numbers += [str(said.gained), str(said.lost), f"{max(said.p_value, 0.001):.3f}"]
        written = re.findall(r"[+\u2212]?\d[\d,.]*", texts[str(REPORT.budgets.index(row.budget))])
        assert {*numbers} <= {*written}, row


def test_nothing_in_a_text_or_a_name_is_markup() -> None:
    read = Read(PAGE)
    tags = [tag for tag, _ in read.elements]
    assert [tags.count(tag) for tag in ("script", "style", "img")] == [1, 1, 0]
    assert not [name for _, found in read.elements for name in found if name.startswith("on") or name == "style"]
    assert f"last{EVIL[:60]}" in "".join(read.texts.values())
    assert "\u202e" not in PAGE


def test_the_policy_allows_this_style_and_script_and_nothing_else() -> None:
    read = Read(PAGE)
    style, script = re.findall(r"<(?:style|script)>(.*?)</", PAGE, re.DOTALL)
    hashes = [b64encode(sha256(code.encode()).digest()).decode() for code in (style, script)]
    assert next(found["content"] for _, found in read.elements if "http-equiv" in found) == (
        f"default-src 'none'; style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'; "
        "base-uri 'none'; form-action 'none'"
    )
    assert [found[name] for _, found in read.elements for name in ("src", "href") if name in found] == ["#budgets"]
    assert not re.search(r"url\(|@import|https?:|fetch\(|import\(", style + script)


def test_twenty_failures_under_the_greatest_budgets_have_an_xray() -> None:
    questions = [question(number) for number in range(30)]
    found = xrays(REPORT, questions)
    assert len(found) == 20
    assert min(budget for _, budget in found) >= max(
        row.budget or 0
        for row in REPORT.rows
        if row.lost and row.method == "default" and (row.question, row.budget) not in found
    )
    page = page_of(REPORT, xrays=found)
    frames = [found for tag, found in Read(page).elements if tag == "iframe"]
    assert [frame["sandbox"] for frame in frames] == [""] * 20
    assert {frame["srcdoc"] for frame in frames} == {*found.values()}
    assert len(page) < 60_000 * len(found)
    assert page.split("base-uri")[0].count("sha256-") == PAGE.split("base-uri")[0].count("sha256-") + 1  # their style
    assert xrays(evaluate(questions, budgets=[15], methods=[Last()]), questions) == {}


def test_what_was_measured_promised_and_lost_is_said() -> None:
    text = " ".join("".join(Read(PAGE).texts.values()).split())
    for said in (
        "30, all of them with evidence or an answer to look for",
        "98 % of what is looked for is in the passages; the rest was not retrieved",
        "1 question of headings, which is weaker than questions of users",
        "With 60 tokens, new questions are expected to lose at most 20 % of what the whole context has",
        "With 15 tokens: 30 of 30 questions",
        "And 10 more, which the report has.",
    ):
        assert said in text, said


def test_what_is_not_known_is_not_shown() -> None:
    page = page_of(evaluate([Question("What is it?", passages=question(1).passages)], budgets=[20]))
    assert "With 20 tokens, default saves" in page
    assert not re.search('id="(?:curves|promise)"', page)
    refused = guaranteed_budget([[1.0], *[[0.0]] * 29], [15], max_loss=0.1)
    assert "No setting is shown to lose at most 10 %" in page_of(REPORT, guarantee=refused)
    shares = [percent(share) for share in (0.0, 0.0012, 0.5, 0.9961, 1.0)]
    assert shares == ["0 %", "0.1 %", "50 %", "99.6 %", "100 %"]


def test_the_command_writes_the_page_and_never_over_another_file(tmp_path: Path) -> None:
    questions, out = tmp_path / "questions.jsonl", tmp_path / "page.html"
    questions.write_text('{"query": "Who?", "evidence": ["It is Ann."], "passages": ["It is Ann. It was Bob."]}')
    before, given = questions.read_bytes(), ["eval", str(questions), "--budgets", "5,all", "--page"]
    done = CliRunner().invoke(app, [*given, str(out)])
    assert (done.exit_code, f"wrote {out}" in done.stderr) == (0, True)
    assert "<h1>With 5 tokens, default keeps" in out.read_text()
    for name, others, message in (
        (questions, [], "is an input, or in one"),
        (out, ["--json", str(out)], "is given for two files"),
        (tmp_path / "no" / "page.html", [], "there is no folder"),
    ):
        refused = CliRunner().invoke(app, [*given, str(name), *others])
        assert (refused.exit_code, questions.read_bytes()) == (2, before)
        assert message in " ".join(refused.stderr.split())
