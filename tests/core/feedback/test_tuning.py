"""Tuning: the thresholds and the budget that records of feedback support, and when there are too few of them."""

import tomllib
from datetime import date

import pytest
from calls import made_up
from hypothesis import given
from hypothesis import strategies as st

from ctxcompress import CompressionConfig
from ctxcompress.apps.feedback import tune, write_tuned
from ctxcompress.apps.feedback.tuning import TUNED, least_records, lower_bound
from ctxcompress.errors import ConfigError

DAY = date(2026, 3, 1)


@pytest.mark.parametrize(
    ("kept", "records", "bound"),
    [(10, 10, 0.741134), (149, 149, 0.980095), (95, 100, 0.897747), (50, 100, 0.413622), (0, 10, 0.0), (1, 1, 0.05)],
)
def test_the_bound_is_that_of_clopper_and_pearson(kept, records, bound):
    """The values are quantiles of the beta distribution: beta.ppf(0.05, kept, records - kept + 1)."""
    assert lower_bound(kept, records) == pytest.approx(bound, abs=1e-5)


@pytest.mark.parametrize(("keep", "needed"), [(0.98, 149), (0.95, 59), (0.9, 29), (0.5, 5)])
def test_fewer_records_than_a_bound_needs_are_refused(keep, needed):
    assert least_records(keep) == needed
    assert lower_bound(needed, needed) >= keep > lower_bound(needed - 1, needed - 1)
    tune([made_up()] * needed, keep=keep)
    with pytest.raises(ConfigError, match=f"there are {needed - 1} records.* and {needed} are needed"):
        tune([made_up()] * (needed - 1), keep=keep)


def test_the_values_that_save_most_and_keep_enough_are_chosen():
    records = [made_up(score=0.62, probability=0.41, budget=300)] * 100
    alone = [tune(records, keep=0.95, options=[option]).options for option in TUNED]
    assert alone == [{}, {"adaptive": 0.4}, {"max_tokens": 300}]  # `min_score` would save nothing
    tuning = tune(records, keep=0.95)
    assert tuning.options == {"max_tokens": 300}
    assert tuning.together.answers == 1.0
    assert tuning.together.tokens == 300
    assert tuning.tokens_before == 1000


def test_values_that_lose_different_answers_are_not_chosen_together():
    most = [made_up(probability=0.5, budget=500)] * 194
    others = [made_up(probability=0.01)] * 3 + [made_up(probability=0.5, budget=1500)] * 3
    options = ["adaptive", "max_tokens"]
    alone = [tune([*most, *others], keep=0.95, options=[option]) for option in options]
    assert [tuning.options for tuning in alone] == [{"adaptive": 0.5}, {"max_tokens": 500}]
    tuning = tune([*most, *others], keep=0.96, options=options)
    assert tuning.together.bound >= 0.96
    assert tuning.options == {"adaptive": 0.5}


@pytest.mark.parametrize("wrong", [{"keep": 1.0}, {"keep": 0.2}, {"confidence": "0.9"}, {"options": ["top_n"]}])
def test_wrong_arguments_are_refused(wrong):
    with pytest.raises(ConfigError, match="give"):
        tune([made_up()] * 200, **wrong)


@given(
    st.lists(
        st.tuples(st.floats(0, 1), st.sampled_from([0.005, 0.02, 0.3]), st.sampled_from([100, 700, 1500, 15_000])),
        min_size=30,
        max_size=60,
    )
)
def test_whatever_is_chosen_keeps_enough_of_the_records(limits):
    tuning = tune([made_up(*each) for each in limits], keep=0.9)
    if tuning.together is not None:
        assert tuning.together.bound >= 0.9
        for curve in tuning.curves:
            assert curve.chosen is None or curve.chosen.bound >= 0.9


def test_the_file_loads_as_options_and_says_where_they_come_from(tmp_path):
    tuning = tune([made_up(0.62, 0.41, 300)] * 100, keep=0.95, options=["adaptive"])
    written = write_tuned(tmp_path / "tuned.toml", tuning, scope='shop "é"', today=DAY)
    config = CompressionConfig.from_toml(written.path)
    assert config == CompressionConfig(adaptive=0.4)
    text = written.path.read_text(encoding="utf-8")
    assert tomllib.loads(text)["tuning"] == {
        "version": 1, "date": DAY, "scope": 'shop "é"', "records": 100, "keep": 0.95, "confidence": 0.95
    }  # fmt: skip
    assert "on 2026-03-01, from 100 records" in text


def test_an_existing_file_is_kept_as_an_earlier_version(tmp_path):
    path = tmp_path / "tuned.toml"
    tuning = tune([made_up()] * 40, keep=0.9)
    write_tuned(path, tuning, scope="shop", today=DAY)
    first = path.read_bytes()
    with pytest.raises(ConfigError, match=r"tuned\.toml exists; --force.*tuned\.v1\.toml"):
        write_tuned(path, tuning, scope="shop", today=DAY)
    assert path.read_bytes() == first
    written = write_tuned(path, tuning, scope="shop", today=DAY, force=True)
    assert (written.version, written.earlier) == (2, tmp_path / "tuned.v1.toml")
    assert written.earlier.read_bytes() == first
    assert write_tuned(path, tuning, scope="shop", today=DAY, force=True).earlier.name == "tuned.v2.toml"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["tuned.toml", "tuned.v1.toml", "tuned.v2.toml"]


@pytest.mark.parametrize("content", ["max_tokens = 3", "no toml [", "[tuning]\nversion = 'x'"])
def test_a_file_of_somebody_else_is_never_replaced(tmp_path, content):
    path = tmp_path / "ctx.toml"
    path.write_text(content)
    with pytest.raises(ConfigError, match="give another path"):
        write_tuned(path, tune([made_up()] * 40, keep=0.9), scope="shop", today=DAY, force=True)
    assert path.read_text() == content


def test_nothing_is_written_if_nothing_keeps_enough(tmp_path):
    tuning = tune([made_up(budget=10**6, score=0.0, probability=0.0)] * 40, keep=0.9)
    assert tuning.options == {}
    with pytest.raises(ConfigError, match="no value keeps"):
        write_tuned(tmp_path / "tuned.toml", tuning, scope="shop", today=DAY)
