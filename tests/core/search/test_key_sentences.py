"""What no reader of a page sees is no key sentence where there is text, and is not lost where there is none."""

import pytest

from ctxcompress import compress_search_results

QUERY = "how do I abort an http request in node?"
COMMENT = "<!-- How to abort an http request in node is fixed. -->\n\n"
TEXT = "Marks the request as aborting, and the socket is destroyed at once. " * 9


@pytest.mark.parametrize(("text", "is_kept"), [(TEXT, False), ("", True)])
def test_key_sentences_are_text(text, is_kept):
    (result,) = compress_search_results([{"url": "https://a.example", "content": COMMENT * 9 + text}], QUERY).results
    assert ("fixed" in result["content"]) == is_kept
    assert result["content"].strip()
