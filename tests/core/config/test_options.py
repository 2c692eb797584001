"""Options: their defaults, and which values are refused."""

from dataclasses import FrozenInstanceError, fields

import pytest

from ctxcompress import CompressionConfig, Compressor, compress
from ctxcompress.config.options import TIERS
from ctxcompress.errors import ConfigError


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_tokens": 0}, "max_tokens is 0; it must be at least 1"),
        ({"max_tokens": "9"}, "max_tokens is '9'; give a whole number"),
        ({"tier": "tiny"}, "tier is 'tiny'; give one of key_facts, summary, detailed, complete"),
        ({"max_tokens": 9, "tier": "summary"}, "both max_tokens=9 and tier='summary' are given; give one"),
        ({"encoding": "o200k"}, "encoding is 'o200k'; give one of .*o200k_base"),
        ({"separator": None}, "separator is None; give a string"),
        ({"language": "xx"}, r"language is 'xx'; give a two-letter code such as 'en' \(ISO 639-1\)"),
        ({"metadata_only": 7}, "metadata_only is 7; the best score of a retrieval counts as 1.0"),
        ({"synonyms": {"car": "auto"}}, r"synonyms\['car'\] is 'auto'; give a list of words"),
        ({"format": "markdown"}, "format is 'markdown'; give one of plain, compact, verbose, json, xml"),
        ({"format": "xml", "separator": " "}, "format='xml' is given with separator=' ', but has separators"),
        ({"scorer": "magic"}, "scorer is 'magic'; give one of evidence, bm25"),
        ({"type_weights": 2}, "type_weights is 2; give a mapping"),
        ({"type_weights": {"prose": 1.0}}, "type_weights names 'prose'; the kinds are heading, paragraph"),
        ({"type_weights": {"code": -1}}, r"type_weights\['code'\] is -1; give a finite number, at least 0"),
        ({"metadata_only": True, "score_kind": "none"}, "metadata_only=0.4 is given with score_kind=.none"),
        ({"adaptive": 1}, "adaptive is 1; give True, False or a number above 0 and below 1"),
        ({"max_length": 99}, "max_length is 99; give a whole number, at least 100, or None to cut no passage"),
        ({"factual_length": 19}, "factual_length is 19; give a whole number, at least 20, or None to cut no passage"),
        ({"max_tokens": "Auto"}, "max_tokens is 'Auto'; give a whole number of tokens, at least 1, or 'auto'"),
        ({"max_tokens": "auto", "tier": "summary"}, "both max_tokens='auto' and tier='summary' are given"),
        ({"max_tokens": "auto", "scorer": "bm25"}, "adaptive=True is given with scorer='bm25'"),
        ({"adaptive": True, "scorer": "bm25"}, "adaptive=True"),
        ({"min_score": 1.1}, "min_score is 1.1; the best score of a retrieval counts as 1.0"),
        ({"min_score": 0.3, "score_kind": "none"}, r"min_score=0\.3 is given with score_kind="),
        ({"score_kind": "cosine"}, "score_kind is 'cosine'; give one of similarity, absolute, distance, rank, none"),
        ({"on_empty": "raise"}, "on_empty is 'raise'; give one of keep_best, original, drop"),
        ({"max_chunks_per_doc": -1}, "max_chunks_per_doc is -1; give a whole number, at least 0, where 0 keeps all"),
        ({"top_n": 0}, "top_n is 0; give a whole number, at least 1, or None to keep all"),
        ({"order": "best"}, "order is 'best'; give one of"),
        ({"ngram_threshold": 0}, "ngram_threshold is 0; give a number above 0 and at most 1"),
        ({"similarity_threshold": 1.1}, "similarity_threshold is 1.1; give a number above 0 and at most 1"),
        ({"metadata_map": {"text": "body"}}, "metadata_map names 'text'; it can name title, header_path"),
    ],
)
def test_a_wrong_value_is_refused_with_the_value_and_the_remedy(options, message):
    with pytest.raises(ConfigError, match=message) as raised:
        CompressionConfig(**options)
    assert isinstance(raised.value, ValueError)


def test_true_is_the_usual_limit_of_a_stage_and_false_leaves_it_out():
    config = CompressionConfig(adaptive=True, metadata_only=True)
    assert (config.adaptive, config.metadata_only) == (0.012, 0.4)
    assert config == CompressionConfig(adaptive=0.012, metadata_only=0.4)
    config = config.with_options(adaptive=0.5, metadata_only=False)
    assert (config.adaptive, config.metadata_only) == (0.5, False)


def test_there_are_at_most_32_options():
    assert len(fields(CompressionConfig)) <= 32


def test_the_default_budget_is_the_summary_tier():
    assert CompressionConfig().budget == 1_000
    assert {tier: CompressionConfig(tier=tier).budget for tier in TIERS} == {
        "key_facts": 200,
        "summary": 1_000,
        "detailed": 5_000,
        "complete": 20_000,
    }


def test_options_do_not_change_after_they_are_set():
    synonyms = {"car": ["auto"]}
    config = CompressionConfig(synonyms=synonyms)
    synonyms["car"].append("bus")
    synonyms["bus"] = []
    assert config.synonyms == {"car": ("auto",)}
    with pytest.raises(FrozenInstanceError):
        config.max_tokens = 5


def test_synonyms_find_what_the_query_does_not_name():
    texts = ["A vehicle needs fuel every day. " * 3, "The automobile costs nine coins.", "Rain is wet. " * 30]
    config = CompressionConfig(max_tokens=8, synonyms={"car": ["automobile"]})
    assert compress("car", texts, config=config).text == texts[1]


@pytest.mark.parametrize("config", [5, {}, [], "ctxcompress.toml", CompressionConfig])
def test_what_is_no_configuration_is_refused(config):
    for call in (lambda: compress("default timeout", ["text"], config=config), lambda: Compressor(config)):
        with pytest.raises(
            ConfigError, match=r"config is a \w+; give a CompressionConfig, or CompressionConfig.from_file"
        ):
            call()
