"""Large texts of tiny lines: their lines share segments."""

import configparser
import json

import pytest
import yaml

from ctxcompress import Passage, compress
from ctxcompress.data.passages import Kind
from ctxcompress.segment.formats import segment

NUMBERED = "".join(f"word{number}\n" for number in range(15_000))


@pytest.mark.parametrize(
    "text",
    [
        "{\n}\n" * 40_000,
        "}\n" * 80_000,
        "# h\n\n## i\n\n" * 20_000,
        "> > > x\n" * 20_000,
        "é\n\r\n" * 40_000,
        NUMBERED,
    ],
)
def test_tiny_lines_share_segments_of_whole_lines(text):
    segments = segment(text)
    assert "".join(text[part.start : part.end] for part in segments) == text
    assert len(segments) <= len(text) / 80
    assert all(text[part.end - 1] == "\n" for part in segments)
    assert max(part.end - part.start for part in segments) <= 120


def test_a_line_is_found_among_tiny_ones():
    result = compress("where is word14001?", [NUMBERED], max_tokens=60)
    assert "\nword14001\n" in f"\n{result.text}\n"


def test_lines_of_a_few_words_are_segments_of_their_own():
    assert len(segment(NUMBERED.replace("\n", " is a word\n"))) > 1_000


def test_one_value_of_json_can_still_be_parsed():
    text = json.dumps({"rows": list(range(30_000))}, indent=0)
    result = compress("what is row 4711?", [text], max_tokens=80)
    assert 4711 in json.loads(result.text)["rows"]


def test_rows_keep_their_header():
    text = "id,count\n" + "".join(f"{number},{number % 7}\n" for number in range(20_000))
    result = compress("what is the count of 15432?", [Passage("a", text, file_path="a.csv")], max_tokens=60)
    assert result.text.startswith("id,count\n")
    assert "\n15432,4\n" in f"{result.text}\n"
    assert {part.kind for part in segment(text, name="a.csv")} == {Kind.RECORD}


def test_yaml_and_ini_can_still_be_parsed():
    text = "".join(f"k{number}: {number % 7}\n" for number in range(15_000))
    kept = compress("what is k4711?", [Passage("a", text, file_path="a.yaml")], max_tokens=60).text
    assert yaml.safe_load(kept)["k4711"] == 4711 % 7
    sections = (f"[s{part}]\n" + "".join(f"k{number}={part}\n" for number in range(200)) for part in range(100))
    kept = compress("what is k120 of s47?", [Passage("a", "".join(sections), file_path="a.ini")], max_tokens=60).text
    read = configparser.ConfigParser()
    read.read_string(kept)
    assert read["s47"]["k120"] == "47"
