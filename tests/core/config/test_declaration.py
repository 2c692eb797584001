"""The declarations of options, and the code that is written from them."""

import re
import runpy
from dataclasses import fields
from pathlib import Path

import pytest
from published_settings import PUBLISHED

from ctxcompress import CompressionConfig
from ctxcompress.config.options import OPTIONS, Options

SCRIPT = Path(__file__).parents[3] / "docs" / "write_options.py"


def test_the_written_code_is_what_the_declarations_give():
    for path, text in runpy.run_path(str(SCRIPT))["written"]().items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name} is out of date; run make options"


def test_every_option_is_declared_and_is_a_keyword():
    names = [option.name for option in fields(CompressionConfig)]
    assert list(OPTIONS) == list(Options.__annotations__) == names


@pytest.mark.parametrize("name", OPTIONS)
def test_a_description_is_sentences_of_which_the_first_stands_alone(name):
    declared = OPTIONS[name]
    assert re.fullmatch(r"[A-Z].*\.", declared.description)
    assert declared.description.startswith(declared.summary.removesuffix("."))
    assert 20 < len(declared.summary) <= 120


def test_options_without_filters_have_what_switches_each_of_them_off():
    filters = {name: option.off for name, option in OPTIONS.items() if option.is_filter}
    docs = PUBLISHED["docs"].with_options(top_n=3, metadata_only=True).without_filters()
    assert {name: getattr(docs, name) for name in filters} == filters
    assert docs.language == CompressionConfig().language
