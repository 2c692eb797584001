"""Which rows of a Markdown table are its header."""

import pytest

from ctxcompress import compress
from ctxcompress.segment.formats import segment

LEASES = """\
|  | December 31, |  |
| --- | --- | --- |
|  | 2018 | 2019 |
| Ground leases | 4,101 | 5,310 |
| Vehicles | 730 | 655 |
"""


def header(text: str) -> str:
    first, *rows = segment(text)
    assert all(row.needs == (0,) for row in rows)
    return text[first.start : first.end]


@pytest.mark.parametrize(
    ("above", "below"),
    [
        ("|  | December 31, |  |", "|  | 2018 | 2019 |"),
        ("|  | Pension plans |  |", "| For the year ended June 30 | 2019 | 2018 |"),
        ("|  | As of |  |", "| (in millions) | Dec. 31, 2021 | Mar. 31, 2021 |"),
        ("|  | Carrying amount |  |", "|  | Gross | Net |"),
        ("|  | Group |  |", "|  | FY2020 | FY2019 (restated) |"),
    ],
)
def test_a_row_of_years_or_names_below_a_spanning_heading_is_header(above: str, below: str) -> None:
    lines = [above, "|---|---|---|", below, "| Ground leases | 4,101 | 5,310 |"]
    assert header("\n".join(lines)) == "\n".join(lines[:3]) + "\n"


@pytest.mark.parametrize(
    "table",
    [
        "| House | Rhododendron | Villa Fern |\n|---|---|---|\n| Built in | 1998 | 2003 |\n| Rooms | 4 | 5 |\n",
        "|  | A |  |\n|---|---|---|\n| Staff | 51 | 49 |\n| Sites | 3 | 2 |\n",
        "|  | A |  |\n|---|---|---|\n|  | 1,998 | 2,003 |\n| Sites | 3 | 2 |\n",
        "|  | A |  |\n|---|---|---|\n| Note |  |  |\n| Sites | 3 | 2 |\n",
        "|  | Founded |  |\n|---|---|---|\n| Year | 1998 | 2003 |\n",
    ],
    ids=["each column has a name", "figures", "figures without a name", "a title of rows", "the only row"],
)
def test_other_rows_are_no_header(table: str) -> None:
    assert header(table).count("\n") == 2


def test_a_figure_is_kept_with_its_year() -> None:
    others = [f"The lessor of site {n} renewed its contract for another term of years." for n in range(30)]
    text = compress("What did ground leases amount to?", [LEASES, *others], max_tokens=70).text
    assert "| Ground leases | 4,101 | 5,310 |" in text
    assert "| 2018 | 2019 |" in text


@pytest.mark.parametrize(
    "rows",
    [
        "| 2023 | Q1 | 7 |\n|  | Q2 | 8 |\n| 2024 | Q1 | 9 |\n|  | Q2 | 11 |\n",
        "| 2023 | Q1 | 7 |\n| Q2 | 8 |\n| 2024 | Q1 | 9 |\n| Q2 | 11 |\n",
    ],
    ids=["an empty cell", "a cell over several rows"],
)
def test_a_row_without_a_name_comes_with_the_row_that_names_its_group(rows: str) -> None:
    table = "| Year | Quarter | Sales |\n|---|---|---|\n" + rows
    assert [(row.needs, row.label) for row in segment(table)][1:] == [
        ((0,), "2023"),
        ((0, 1), "2023"),
        ((0,), "2024"),
        ((0, 3), "2024"),
    ]
    others = [f"The office of site {n} counted the sales of its shops for the year." for n in range(30)]
    text = compress("Sales in Q2 of 2024", [table, *others], max_tokens=60).text
    assert "11" in text
    assert "2024" in text


def test_a_row_comes_with_the_row_above_that_has_nothing_but_a_name() -> None:
    groups = "".join(f"| **Model {n}** | |\n| Power | {40 + n} W |\n| Width | {50 + n} cm |\n" for n in range(8))
    table = "| Parameter | Value |\n|---|---|\n" + groups
    rows = segment(table)[1:4]
    assert [(row.needs, row.label) for row in rows] == [
        ((0,), "**Model 0**"),
        ((0, 1), "**Model 0** Power"),
        ((0, 1), "**Model 0** Width"),
    ]
    text = compress("What is the power of Model 5?", [table], max_tokens=60).text
    assert "| Power | 45 W |" in text.partition("Model 5")[2].partition("Model 6")[0]


def test_one_row_without_figures_names_no_group() -> None:
    table = "| Town | Ships |\n|---|---|\n| Brent | 7 |\n| Fenwick | |\n| Selby | 3 |\n"
    assert [row.needs for row in segment(table)[1:]] == [(0,), (0,), (0,)]


def test_a_row_of_a_wiki_is_whole_though_each_cell_has_its_line() -> None:
    rows = "".join(f"|-\n| Town {n}\n| {n} ships\n| {n + 10} quays\n" for n in range(6))
    table = '{| class="wikitable"\n! Town\n! Ships\n! Quays\n' + rows + "|}\n"
    segments = segment(table)
    assert [table[part.start : part.end] for part in segments if "Town 3" in table[part.start : part.end]] == [
        "|-\n| Town 3\n| 3 ships\n| 13 quays\n"
    ]


OFFICES = """Our offices.

| Region | Office | Staff |
|---|---|---|
| North | Oslo | 40 |
|  | Bergen | 12 |
|  | Tromso | 7 |
| South | Rome | 31 |
|  | Naples | 9 |
"""


@pytest.mark.parametrize("budget", range(24, 60, 4))
@pytest.mark.parametrize(("office", "row"), [("Oslo", "| North | Oslo | 40 |"), ("Rome", "| South | Rome | 31 |")])
def test_the_row_that_names_a_group_is_kept_for_itself_too(office: str, row: str, budget: int) -> None:
    kept = compress(f"how many staff work in {office}?", [OFFICES], max_tokens=budget).text
    assert row in kept
    assert "| Region | Office | Staff |" in kept


@pytest.mark.parametrize("budget", range(24, 60, 4))
def test_a_row_without_a_name_has_its_header_also_where_the_row_that_names_its_group_does_not_fit(budget: int) -> None:
    kept = compress("how many staff work in Naples?", [OFFICES], max_tokens=budget).text
    assert "|  | Naples | 9 |" in kept
    assert "| Region | Office | Staff |" in kept


def test_a_row_with_nothing_but_the_name_of_a_group_is_kept_with_a_row_of_it() -> None:
    rows = "".join(
        f"| {name} house |  |  |\n| Double | summer | {price} |\n" for name, price in (("Lake", 7), ("Oak", 9))
    )
    table = f"| Room | Season | Price |\n|---|---|---|\n{rows}"
    for budget in range(30, 60):
        kept = compress("what is the price of a double in the oak house?", [table], max_tokens=budget).text
        assert "| Oak house |  |  |\n| Double | summer | 9 |" in kept
