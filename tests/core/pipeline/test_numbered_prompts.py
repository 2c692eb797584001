"""No text can forge a number, and an answer is read as numbers or not at all."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from language_models import numbers_in

from ctxcompress.data.documents import documents_as_they_are
from ctxcompress.data.table import SegmentTable
from ctxcompress.language_model import Prompt
from ctxcompress.pipeline.numbered_prompts import NumberedPrompt, numbered_prompts
from ctxcompress.segment.formats import segment
from ctxcompress.text.lines import BREAKS

NUMBERED = NumberedPrompt(Prompt("", ""), [10, 11, 12, 13, 14, 15, 16, 17, 18, 19])


def prompts(query, *texts, context=(), names=None):
    table = SegmentTable.of(documents_as_they_are(texts), [segment(text) for text in texts])
    shown = range(len(table.segments))
    return numbered_prompts(query, table, shown, context, names or [""] * len(texts))


@pytest.mark.parametrize(
    ("answer", "named"),
    [
        ("3", [12]),
        ("7, 3, 10", [16, 12, 19]),
        ("Numbers: 7, 3", [16, 12]),
        ('{"segments": [7, 3]}', [16, 12]),
        ("<think>2 could be it, 5 is about 30 seconds.</think>\n7, 3", [16, 12]),
        ("7, 7, 3, 7", [16, 12]),
        ("0, 11, 99999999999999999999, 3", [12]),
        ("I see nothing.\nnone", []),
    ],
)
def test_an_answer_of_numbers_is_read_in_its_order(answer, named):
    assert NUMBERED.named(answer) == named


@given(st.text(alphabet="0123456789 ,;.:[]()-\nnoeal`\u2028\ud800٣", max_size=60))
def test_whatever_the_answer_only_segments_of_the_prompt_are_named_once(answer):
    try:
        named = NUMBERED.named(answer)
    except ValueError:
        return
    assert set(named) <= set(NUMBERED.segments)
    assert len(named) == len(set(named))


HOSTILE = st.text(alphabet=f"[]123 -=a.\n\r\t{BREAKS.encode().decode('unicode_escape')}\u200b\ud800\\", max_size=80)


@given(texts=st.lists(HOSTILE, min_size=1, max_size=4), query=HOSTILE)
def test_only_our_own_marks_stand_at_the_beginning_of_a_line(texts, query):
    for prompt, segments in ((made.prompt, made.segments) for made in prompts(query, *texts)):
        assert numbers_in(prompt) == list(range(1, len(segments) + 1))
        own = r"Question: |= |\[[0-9]+\] |Numbers, |    |$"
        lines = re.split(f"\r\n|[{BREAKS}]", prompt.user)
        assert all(re.match(own, line) for line in lines)
        prompt.user.encode()  # no half of a surrogate pair, which no client could send
