"""The learned score: what its columns say, and what it makes of passages that lead to one another."""

import json
from importlib.resources import files

import numpy as np
import pytest

from ctxcompress import compress
from ctxcompress.data.documents import documents_as_they_are
from ctxcompress.data.passages import Passage
from ctxcompress.data.table import SegmentTable
from ctxcompress.query.terms import Question, query_terms
from ctxcompress.score.bridges import BRIDGES, Bridges
from ctxcompress.score.corpus import Corpus
from ctxcompress.score.evidence import COLUMNS, evidence, load_models, matches_in
from ctxcompress.score.features import FEATURES, features
from ctxcompress.score.matches import find_matches
from ctxcompress.segment.segments import segment
from ctxcompress.text.language import STOP_WORDS
from ctxcompress.text.words import Terms

TERMS = Terms("en")
QUERY = "Where was the director of Silver Dunes born?"
FILM = Passage("film", "Silver Dunes is a film of 1961. It was directed by Maren Holt.", title="Silver Dunes (film)")
DIRECTOR = Passage("director", "Maren Holt was an artist. She grew up in Tromsø.", title="Maren Holt")
OTHERS = [
    Passage(f"other{n}", f"Quiet Harbour {n} is a town by the sea. Its market is old.", title=f"Quiet Harbour {n}")
    for n in range(6)
]


def corpus_of(*passages):
    segmented = [segment(passage.text) for passage in passages]
    return Corpus.of(passages, SegmentTable.of(documents_as_they_are([p.text for p in passages]), segmented))


def scores_of(query, *passages):
    corpus = corpus_of(*passages)
    question = Question.of(query, "en", {})
    return evidence(question, corpus, matches_in(corpus, question))


def columns_of(query, *passages):
    corpus = corpus_of(*passages)
    wanted = query_terms(query, language="en", terms=TERMS)
    matches = find_matches(corpus.words, corpus.sections, corpus.labels, wanted, TERMS, corpus.names)
    return dict(zip(FEATURES, features(corpus, matches), strict=True))


def bridges_of(probability, *passages):
    bridges = Bridges(QUERY, corpus_of(*passages), STOP_WORDS["en"])
    return dict(zip(BRIDGES, bridges.features(np.array(probability)), strict=True))


def test_the_weights_name_every_column_and_say_where_they_come_from():
    data = json.loads(files("ctxcompress.score").joinpath("evidence.json").read_text(encoding="utf-8"))
    assert {"trained", "seed", "regularization", "encoder", "cases", "left_out", "models"} <= data.keys()
    for name, model in load_models().items():
        stages = data["models"][name]["stages"]
        assert [tuple(stage["weights"]) for stage in stages] == list(COLUMNS[name])
        assert [stage.weights.size for stage in model.stages] == [len(names) for names in COLUMNS[name]]


def test_scores_are_probabilities():
    scores = scores_of(QUERY, FILM, DIRECTOR, *OTHERS)
    assert np.all((scores > 0) & (scores < 1))


def test_nothing_matches_nothing_scores():
    assert not scores_of("zyx wvu", FILM, DIRECTOR, *OTHERS).any()
    assert not scores_of("", FILM, DIRECTOR, *OTHERS).any()


def test_a_passage_that_another_one_names_is_found_without_a_word_of_the_question():
    passages = [*OTHERS[:3], DIRECTOR, *OTHERS[3:], FILM]
    scores = scores_of(QUERY, *passages)
    best = np.zeros(len(passages))
    np.maximum.at(best, corpus_of(*passages).passage, scores)
    assert {int(i) for i in np.argsort(-best)[:2]} == {3, 7}


def test_the_order_of_the_passages_does_not_matter_to_their_scores():
    forward = scores_of(QUERY, FILM, DIRECTOR, *OTHERS)
    backward = scores_of(QUERY, *OTHERS, DIRECTOR, FILM)
    assert forward[:2] == pytest.approx(backward[-2:])
    assert forward[2:4] == pytest.approx(backward[-4:-2])


def test_a_heading_that_is_the_question_fits_best():
    page = (
        "# Guide\n\nAbout it.\n\n## Retry policy\n\nThree times.\n\n## Retry and other policies\n\n" + "Filler. " * 500
    )
    columns = columns_of("retry policy", Passage("page", page))
    headings = [s.heading[-1] if s.heading else "" for s in segment(page)]
    fits = dict(zip(headings, columns["heading_fits"], strict=True))
    assert fits["Retry policy"] == pytest.approx(1.0)
    assert 0 < fits["Retry and other policies"] < 1
    assert fits["Guide"] == 0


def test_shares_are_of_the_weight_of_the_question():
    columns = columns_of(QUERY, FILM, DIRECTOR, *OTHERS)
    for name in ("covered", "covered_with_label", "covered_by_section"):
        assert np.all((columns[name] >= 0) & (columns[name] <= 1 + 1e-9))
    assert np.all(columns["covered"] <= columns["covered_with_label"] + 1e-9)


def test_a_title_mentioned_by_a_good_segment_counts_for_its_passage():
    columns = bridges_of([0.2, 0.8, 0.1, 0.1] + [0.05] * 4, FILM, DIRECTOR, *OTHERS[:2])
    assert columns["title_mentioned"][2:4].tolist() == [1.0, 1.0]
    assert columns["mentions_title"][1] == pytest.approx(0.1 / 0.8)
    assert columns["title_in_query"].tolist() == [1.0, 1.0] + [0.0] * 6


@pytest.mark.parametrize(
    ("query", "title", "is_asked_for"),
    [
        ("who was the host of what's my line", "What's My Line?", True),
        ("population of keystone heights florida", "Keystone Heights, Florida", True),
        ("where do pineapples come from", "Pineapple", True),
        ("黑死病是什么时候开始的？", "黑死病 (疾病)", False),  # three characters are too few to be sure
        ("《西游记后传》是谁写的？", "西游记后传", True),
        ("which countries of Northwest Africa", "West Africa", False),
        ("who is my kinsman", "???", False),
        ("what does ???? mean", "????", False),
        ("????", "????", True),
    ],
)
def test_a_title_is_asked_for_whatever_marks_it_has(query, title, is_asked_for):
    others = [Passage(name, "A text.", title=name) for name in ("Quartz Ridge", "Tin Valley")]
    corpus = corpus_of(Passage("one", "A text.", title=title), *others)
    columns = dict(zip(BRIDGES, Bridges(query, corpus, frozenset()).features(np.full(3, 0.5)), strict=True))
    assert columns["title_in_query"].tolist() == [is_asked_for, False, False]


def test_rare_names_of_the_best_segments_count_in_other_passages_only():
    columns = bridges_of([0.2, 0.8, 0.1, 0.1] + [0.05] * 4, FILM, DIRECTOR, *OTHERS[:2])
    names = columns["names"]
    assert names[2] == 1.0  # Maren Holt, of the film's second sentence
    assert names[3] == 0.0
    assert names[4:].tolist() == [0.0] * 4 or names[4:].max() < 1.0


def test_a_segment_that_does_not_match_is_no_worse_than_before_where_there_is_one_passage():
    scores = scores_of("director", Passage("one", "A sentence. The director spoke. Another one."))
    assert scores.argmax() == 1


MONTHS = "January February March April May June July August September October November December".split()
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


def test_an_iso_date_in_the_question_finds_the_sentence_that_names_the_month():
    text = " ".join(f"In {MONTHS[int(d[5:7]) - 1]} {d[:4]} the gauge read {n} metres." for n, d in enumerate(SERIES))
    assert "December 2015" in compress("what did the gauge read in 2015-12?", [text], max_tokens=60).text


def test_a_date_in_a_heading_is_found_in_another_notation():
    text = "\n\n".join(f"## {date}\n\nThe tank held {n} litres, and the pump ran." for n, date in enumerate(SERIES))
    assert "## 2015-12-01" in compress("How much did the tank hold in December 2015?", [text], max_tokens=60).text
