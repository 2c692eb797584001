"""A question for yes or no is answered by the paragraph that begins so, though it shares no word with the question."""

import numpy as np
import pytest

from ctxcompress import compress
from ctxcompress.data.documents import documents_as_they_are
from ctxcompress.data.table import SegmentTable
from ctxcompress.score.adjustments import raise_yes_no_answers
from ctxcompress.segment.segments import segment


def raised(query, text):
    table = SegmentTable.of(documents_as_they_are([text]), [segment(text)])
    found = raise_yes_no_answers(query, table, np.full(len(table.segments), 0.1))
    return [part.strip() for part, value in zip(table.texts, found, strict=True) if value > 0.1]


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ("Can I run it as a service?", "Yes, but only on Linux."),
        ("Does it support proxies?", "**Answer**: No."),
        ("But is that safe?", "Not really. Locks are advisory."),
        ("Did they copy it?", "Probably, but we do not like that word."),
        ("Kann ich das ändern?", "Ja, in den Einstellungen."),
        ("Puis-je le modifier ?", "Oui, dans les réglages."),
        ("¿Puedo cambiarlo?", "Sí, en los ajustes."),
    ],
)
def test_the_paragraph_that_answers_is_raised(query, answer):
    text = f"Units are started at boot.\n\n{answer} See the manual for more.\n\nThe order is by name."
    assert "".join(raised(query, text)).startswith(answer.split()[0])
    assert not any(part.startswith(("Units", "The order")) for part in raised(query, text))


@pytest.mark.parametrize(
    "query", ["How do I run it as a service?", "Which proxies does it support?", "Candles and isles"]
)
def test_other_questions_raise_nothing(query):
    assert raised(query, "Yes, but only on Linux.\n\nNo.") == []


def test_the_answer_is_kept_in_a_budget():
    page = (
        "Set `interval` to the seconds between two runs. A run that takes longer delays the next one, and no run is "
        "lost.\n\nYes. The runner registers with the init system on its own.\n\nEach run has a folder for its output. "
        "The service removes folders after a week, and says so in the log of the system."
    )
    assert "Yes. The runner registers" in compress("Can I use it as a service?", [page], max_tokens=18).text
