"""Named sets of options, options from a file, and options of one call."""

from typing import get_args

import pytest
from published_settings import PUBLISHED, changed

from ctxcompress import CompressionConfig, Compressor, Passage, compress
from ctxcompress.config.options import QATBE_TYPE_WEIGHTS, Preset
from ctxcompress.config.presets import PRESETS, TECHNICAL_SYNONYMS
from ctxcompress.errors import ConfigError

# Presets


def test_there_are_four_presets_and_a_recipe_for_each_as_it_was_published():
    assert tuple(PRESETS) == get_args(Preset) == tuple(PUBLISHED) == ("docs", "code", "web", "page")


@pytest.mark.parametrize(
    ("preset", "options"),
    [
        ("docs", {"min_score": 0.3, "ngram_threshold": 0.7, "similarity_threshold": 0.85}),
        ("code", {"metadata_only": 0.4}),
        ("web", {"min_score": 0.3, "on_empty": "original"}),
        ("page", {"synonyms": dict(TECHNICAL_SYNONYMS), "tier": "summary"}),
    ],
)
def test_a_preset_is_the_defaults_but_for_these_options(preset, options):
    assert changed(CompressionConfig.from_preset(preset)) == options


@pytest.mark.parametrize(
    ("preset", "options"),
    [
        ("docs", {"max_chunks_per_doc": 2, "factual_length": 200}),
        ("code", {"score_kind": "absolute", "max_length": 2_000}),
        ("web", {"top_n": 5}),
        ("page", {"scorer": "bm25", "type_weights": QATBE_TYPE_WEIGHTS}),
    ],
)
def test_as_it_was_published_a_preset_has_these_options_too(preset, options):
    assert CompressionConfig.from_preset(preset, **options) == PUBLISHED[preset]


def test_a_preset_gives_way_to_what_is_given_with_it():
    config = CompressionConfig.from_preset("docs", min_score=None, max_chunks_per_doc=5, language="de")
    assert changed(config) == {
        "max_chunks_per_doc": 5, "ngram_threshold": 0.7, "similarity_threshold": 0.85, "language": "de",
    }  # fmt: skip


@pytest.mark.parametrize("preset", ["doc", "", None, 5, []])
def test_an_unknown_preset_is_refused(preset):
    with pytest.raises(ConfigError, match=r"preset is .*; give one of docs, code, web, page"):
        CompressionConfig.from_preset(preset)


def test_the_published_web_preset_gives_five_results_and_all_rather_than_none():
    config = PUBLISHED["web"].with_options(score_kind="absolute")
    passages = [Passage(str(n), f"Only in {chr(97 + n) * 5}.", score=0.9) for n in range(7)]
    assert len(compress("q", passages, config=config).passages) == 5
    weak = [Passage(str(n), f"Only in {chr(97 + n) * 5}.", score=0.1) for n in range(4)]
    assert len(compress("q", weak, config=config).passages) == 4


# Options of a call


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("max_token", "did you mean 'max_tokens'"),
        ("ngram_treshold", "did you mean 'ngram_threshold'"),
        ("zzz", "the options are max_tokens, tier, "),
        ("preset", "the options are|did you mean"),
    ],
)
def test_an_unknown_option_of_a_call_is_refused_with_a_suggestion(name, hint):
    with pytest.raises(ConfigError, match=f"there is no option '{name}'; ({hint})"):
        CompressionConfig().with_options(**{name: 5})
    with pytest.raises(ConfigError, match=f"there is no option '{name}'"):
        compress("q", ["text"], **{name: 5})


def test_an_option_of_a_call_counts_for_that_call_alone():
    passages = [Passage(str(n), f"Only in {chr(97 + n) * 5}.", score=1 - n / 5, doc_id="d") for n in range(5)]
    compressor = Compressor(PUBLISHED["docs"])

    def kept(**options):
        return len(compressor.compress("q", passages, **options).passages)

    assert kept() == 2
    assert kept(max_chunks_per_doc=0) == 4
    assert kept(max_chunks_per_doc=0, min_score=None) == 5
    assert kept(max_chunks_per_doc=0, min_score=0.7, top_n=1) == 1
    assert kept() == 2
    assert compressor.config == PUBLISHED["docs"]


@pytest.mark.parametrize(
    ("config", "options", "budget"),
    [
        ({"tier": "detailed"}, {"max_tokens": 9}, 9),
        ({"max_tokens": 9}, {"tier": "detailed"}, 5_000),
        ({"max_tokens": 9}, {"max_tokens": None}, 9),
        ({"max_tokens": 9}, {"tier": None}, 9),
        ({"tier": "detailed"}, {"max_tokens": None, "tier": None}, 5_000),
        ({"tier": "detailed"}, {"max_tokens": None, "tier": "key_facts"}, 200),
        ({}, {"max_tokens": 9, "tier": None}, 9),
    ],
)
def test_one_budget_takes_the_place_of_the_other(config, options, budget):
    assert CompressionConfig(**config).with_options(**options).budget == budget
