"""Passages with any metadata, in every format: as many headers as passages, nothing changed, or an error of ours."""

import copy
import json
import xml.etree.ElementTree as ET

from accounts import assert_partition
from fuzzing import json_changed, json_of, read

from ctxcompress import compress
from ctxcompress.errors import BudgetTooSmall, InputError

mutate = json_changed(
    *(
        "text",
        "page_content",
        "content",
        "id",
        "score",
        "metadata",
        "title",
        "document_title",
        "header_path",
        "headings",
    ),
    *(
        "section",
        "doc_id",
        "document_id",
        "ref_doc_id",
        "file_path",
        "source",
        "file_name",
        "url",
        "Header 1",
        "Header 6",
    ),
    *(
        "start_index",
        "start_char_idx",
        "ctxcompress",
        "a > b",
        "/a/b",
        "[2] b.md",
        "</document>",
        "]]>",
        "\x1b[0m",
        "\u202e",
    ),
)
FORMATS = ("plain", "compact", "verbose", "json", "xml", "preview")


def check(data: bytes) -> None:
    given, passages = read(data), json_of(data)
    before, shown = copy.deepcopy(passages), FORMATS[given.choice % len(FORMATS)]
    options = {"metadata_only": True} if given.choice % 5 == 0 else {}
    try:
        result = compress(given.query, passages, max_tokens=given.budget, format=shown, **options)
    except (InputError, BudgetTooSmall):
        return
    assert repr(passages) == repr(before)
    assert result.tokens <= given.budget
    assert_partition(result, [passage.text for passage in result.input_passages()])
    if not result.text:
        return
    if shown == "json":
        assert len(json.loads(result.text)["passages"]) == len(result.passages)
    if shown == "xml" and result.text.isprintable():
        ET.fromstring(result.text)
