"""What headers cost, on five results such as a search of documentation finds. docs/formats.md has these numbers."""

import json
import re
from pathlib import Path

import pytest

from ctxcompress import CompressionConfig, Compressor, compress
from ctxcompress.text.tokens import TokenCounter

PAGE = Path(__file__).parents[3] / "docs" / "formats.md"
RESULTS = json.loads(Path(__file__).with_name("results.json").read_text(encoding="utf-8"))


def overhead(format):
    """Characters and tokens that a format adds to the texts and the blank lines between them."""
    count = TokenCounter("o200k_base")
    plain = compress("", RESULTS).text
    shown = Compressor(CompressionConfig(format=format)).compress("how is authentication configured?", RESULTS).text
    return len(shown) - len(plain), count(shown) - count(plain)


@pytest.mark.parametrize("format", ["compact", "verbose", "xml", "json"])
def test_the_page_tells_what_a_format_costs(format):
    row = re.search(rf"^\| `{format}` \| (\d+) \| (\d+) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert row is not None
    assert (int(row[1]), int(row[2])) == overhead(format)
