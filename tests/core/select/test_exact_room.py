"""What fits to the last character is kept, and an error names the number that is enough."""

import re

import pytest

from ctxcompress import Passage, compress
from ctxcompress.errors import BudgetTooSmall

QUERY = "what is the default timeout?"
FILLER = " ".join(f"Ship {n} came into the harbour late." for n in range(40))
CLIENTS = [Passage(str(n), f"The default timeout of client {n} is {n} seconds. {FILLER}") for n in range(4)]


def preview(budget, passages=CLIENTS, **options):
    return compress(QUERY, passages, max_tokens=budget, format="preview", encoding=len, **options)


def test_previews_fill_the_budget_to_the_last_character():
    whole = preview(1_000)
    assert [len(preview(whole.tokens - less).passages) for less in (0, 1)] == [4, 3]


def test_an_error_of_previews_names_the_budget_that_is_enough():
    rules = ["client 1", "client 2"]
    with pytest.raises(BudgetTooSmall, match="2 passages") as raised:
        preview(70, must_keep=rules)
    enough = raised.value.tokens
    assert f"give at least {enough} tokens" in str(raised.value)
    assert [part.original.id for part in preview(enough, must_keep=rules).passages] == ["1", "2"]
    with pytest.raises(BudgetTooSmall):
        preview(enough - 1, must_keep=rules)


@pytest.mark.parametrize("before", ["", "  ", "> "])
def test_a_preview_of_code_begins_after_its_fence(before):
    lines = ["```python", "def default_timeout():", "    return 30", "```"]
    code = "".join(f"{before}{line}\n" for line in lines)
    text = preview(60, [Passage("a", f"{code}\n{FILLER}")]).text
    assert "def default_timeout():" in text
    assert "`" not in text


def test_a_word_with_two_matches_is_kept_once():
    rules = [re.compile("TICKET"), re.compile("123")]
    text = f"The ticket is TICKET-123 and nothing else of this sentence matters to anybody in the harbour. {FILLER}"
    kept = compress(QUERY, [text], max_tokens=10, encoding=len, must_keep=rules)
    assert kept.text == "TICKET-123"
    assert kept.passages[0].spans == ((14, 24),)


@pytest.mark.parametrize("more", [0, 1])
def test_a_statement_that_fills_the_budget_is_whole(more):
    lamp = "def lamp(a):\n    return lamp_of(a, 7) + 1"
    code = f"{lamp}\n\n\ndef tea(b):\n    return [b, b, b, b, b, b, b, b]\n"
    kept = compress("lamp", [Passage("a", code, file_path="a.py")], max_tokens=len(lamp) + more, encoding=len)
    assert kept.text == lamp
