"""The learned score: what its columns say, and what it makes of passages that lead to one another."""

import json
from importlib.resources import files

import pytest

from ctxcompress import compress
from ctxcompress.data.passages import Passage
from ctxcompress.score.evidence import COLUMNS, load_models

QUERY = "Where was the director of Silver Dunes born?"
FILM = Passage("film", "Silver Dunes is a film of 1961. It was directed by Maren Holt.", title="Silver Dunes (film)")
DIRECTOR = Passage("director", "Maren Holt was an artist. She grew up in Tromsø.", title="Maren Holt")
OTHERS = [
    Passage(f"other{n}", f"Quiet Harbour {n} is a town by the sea. Its market is old.", title=f"Quiet Harbour {n}")
    for n in range(6)
]


def test_the_weights_name_every_column_and_say_where_they_come_from():
    data = json.loads(files("ctxcompress.score").joinpath("evidence.json").read_text(encoding="utf-8"))
    assert {"trained", "seed", "regularization", "encoder", "cases", "left_out", "models"} <= data.keys()
    for name, model in load_models().items():
        stages = data["models"][name]["stages"]
        assert [tuple(stage["weights"]) for stage in stages] == list(COLUMNS[name])
        assert [stage.weights.size for stage in model.stages] == [len(names) for names in COLUMNS[name]]


def test_a_passage_that_another_one_names_is_found_without_a_word_of_the_question():
    for passages in ([*OTHERS[:3], DIRECTOR, *OTHERS[3:], FILM], [FILM, *OTHERS, DIRECTOR]):
        result = compress(QUERY, passages, max_tokens=45)
        best = sorted(result.passages, key=lambda kept: -kept.relevance)[:2]
        assert {kept.id for kept in best} == {"director", "film"}
        assert all(0 < kept.relevance <= 1 for kept in best)


SERIES = [f"{year}-{month:02}-01" for year in range(2005, 2022) for month in range(1, 13)]
ROWS = {date: f"{date},{number * 37 % 900 + 100},{number * 53 % 900 + 100}" for number, date in enumerate(SERIES)}


@pytest.mark.parametrize(
    "query",
    [
        "How high was employment in construction in December 2015?",
        "construction on 1 December 2015",
        "Wie hoch war die Beschäftigung im Dezember 2015?",
        "¿Cuánto empleo hubo en diciembre de 2015?",
        "combien d'emplois en décembre 2015 ?",
        "занятость в декабре 2015 года",
        "2015年12月の建設業は？",
    ],
)
@pytest.mark.parametrize("wrap", [str, "| {} |".format])
def test_a_date_of_the_question_finds_the_row_that_writes_it_in_another_way(query, wrap):
    header = [wrap("date,construction,mining"), *(["|---|"] if wrap is not str else [])]
    text = "\n".join([*header, *map(wrap, ROWS.values())])
    if wrap is not str:
        text = text.replace(",", " | ").replace("|---|", "|---|---|---|")
    kept = compress(query, [text], max_tokens=60).text
    assert "2015-12-01" in kept


NAMES = [a + b + c for a in ("Bar", "Cor", "Dul", "Fen", "Gam") for b in "aeiou" for c in "lmnrs"]


@pytest.mark.parametrize(
    "row", [",".join, "\t".join, lambda cells: f"| {' | '.join(cells)} |"], ids=["csv", "tsv", "gfm"]
)
@pytest.mark.parametrize("name", [NAMES[40], NAMES[70], NAMES[110]])
def test_a_row_that_a_splitter_cut_from_its_header_is_found_by_its_name(row, name):
    rows = [row((each[:2].upper(), each[:3].upper(), str(100 + n * 7), each)) for n, each in enumerate(NAMES)]
    header = [
        row(("Short", "Long", "Numeric code", "Country name")),
        *(["| - | - | - | - |"] if "|" in rows[0] else []),
    ]
    lines = [*header, *rows]
    chunks = ["\n".join(lines[start : start + 30]) for start in range(0, len(lines), 30)]
    kept = compress(f"What is the numeric code of the country {name}?", chunks, max_tokens=50).text
    assert rows[NAMES.index(name)] in kept


def test_a_name_in_latin_letters_finds_its_row_for_a_chinese_question():
    prose = "软件包的大小\n\n命令会显示每个软件包的大小。单位是千字节。\n\n小的软件包只是过渡用的，以后会删除。"
    rows = "".join(f"|{name:9}|{size:4} |工具  |\n" for name, size in (("cpio", 93), ("hfsutils", 124), ("ntfs", 155)))
    assert "|hfsutils | 124 |" in compress("软件包 hfsutils 的大小是多少？", [prose, rows], max_tokens=40).text
