"""What is saved in money, with the prices that the installed package has."""

import json
import re
import sys
from decimal import Decimal
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from ctxcompress.apps.cli.app import app
from ctxcompress.apps.prices import InputPrice
from ctxcompress.errors import ConfigError, MissingExtra

MODEL = "gpt-5-mini"
TEXT = "The default timeout is 30 seconds. " + "Lighthouses were painted white so that ships see them. " * 40


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, [*arguments])


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "a.txt"
    path.write_text(TEXT, encoding="utf-8")
    return str(path)


def test_a_saving_is_the_difference_of_what_the_provider_bills() -> None:
    saving = InputPrice.of(MODEL).saving([(3_000, 1_000), (1_000, 1_000)])
    assert saving.after * 2 == saving.before > 0
    assert saving.calls == 2
    assert saving.before_cached < saving.before
    assert saving.after_cached * 2 == saving.before_cached


def test_a_saving_is_scaled_to_calls() -> None:
    price = InputPrice.of(MODEL)
    assert price.saving([(3_000, 1_000)], 1_000).before == 1_000 * price.saving([(3_000, 1_000)]).before
    assert price.saving([], 1_000).before == Decimal(0)


def test_calls_with_many_tokens_have_the_price_of_such_calls() -> None:
    price = InputPrice.of("anthropic:claude-sonnet-4-5")  # it costs more from 200,000 tokens on
    assert price.saving([(400_000, 0)]).before > price.saving([(100_000, 0)] * 4).before


def test_the_provider_can_be_named() -> None:
    assert "(Microsoft Azure)" in InputPrice.of("azure:gpt-4o").saving([(10, 1)]).model


@pytest.mark.parametrize("model", ["gtp-5", "nobody:gpt-4o", ""])
def test_a_model_without_a_price_is_refused(model: str) -> None:
    with pytest.raises(ConfigError, match=rf"no price for the model {model!r}; give the provider"):
        InputPrice.of(model)


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "genai_prices", None)
    with pytest.raises(MissingExtra, match=r"pip install 'ctxcompress\[prices\]'"):
        InputPrice.of(MODEL)


def test_the_statistics_say_what_is_saved(file: str) -> None:
    result = run("compress", "-q", "the timeout?", file, "--max-tokens", "20", "--price", MODEL)
    assert result.exit_code == 0
    assert re.search(r"money saved.*\$0\.\d\d of \$0\.\d\d for 1,000 calls of", result.stderr)


def test_a_wrong_model_is_wrong_usage(file: str) -> None:
    result = run("compress", "-q", "the timeout?", file, "--price", "gtp-5")
    assert result.exit_code == 2
    assert "'gtp-5'" in result.stderr


def test_the_page_says_what_is_saved(file: str) -> None:
    result = run("xray", "-q", "the timeout?", file, "--max-tokens", "20", "--price", MODEL, "--output", "-")
    assert "money saved" in result.stdout
    assert "money saved" not in run("xray", "-q", "the timeout?", file, "--output", "-").stdout


def test_a_batch_says_what_its_rows_save(tmp_path: Path) -> None:
    rows, out = tmp_path / "rows.jsonl", tmp_path / "out.jsonl"
    rows.write_text(3 * f"{json.dumps({'query': 'the timeout?', 'passages': [TEXT]})}\n", encoding="utf-8")
    result = run("batch", str(rows), str(out), "--max-tokens", "20", "--price", MODEL, "--json")
    numbers = json.loads(result.stdout)
    mean = numbers["original_tokens"] // 3, numbers["tokens"] // 3
    saving = InputPrice.of(MODEL).saving([mean], 3)
    assert numbers["dollars_saved"] == pytest.approx(float(saving.before - saving.after), abs=1e-6)
    assert 0 < numbers["dollars_saved_if_cached"] < numbers["dollars_saved"] < numbers["dollars"]
