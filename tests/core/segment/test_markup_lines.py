"""Marks of reStructuredText: directives have their text."""

import pytest

from ctxcompress import compress
from ctxcompress.data.passages import Kind
from ctxcompress.segment.segments import segment

REST = (
    """\
Kites
-----

.. _flying-a-kite:

A kite needs wind.

.. danger::

    Lines of wire are forbidden near an airport.

    Only cotton is allowed within three kilometres.

.. code-block:: python

    from kites import Kite

    Kite(span=3).launch()

Tails
-----

Tails are ribbons. """
    + "They keep the kite upright in gusts. " * 30
)


def pieces(text: str, kind: Kind | None = None) -> list[str]:
    return [text[part.start : part.end].strip() for part in segment(text) if kind in (None, part.kind)]


def test_segments_are_the_whole_text() -> None:
    for text in (REST, REST.replace("\n", "\r\n"), ".. ", "..", ".. a::", "..\n\n.. _x:\n"):
        assert "".join(text[part.start : part.end] for part in segment(text)) == text


def test_a_directive_is_one_piece_with_the_text_under_it() -> None:
    assert ".. danger::\n\n    Lines of wire are forbidden near an airport." in pieces(REST)
    code = ".. code-block:: python\n\n    from kites import Kite\n\n    Kite(span=3).launch()"
    assert pieces(REST, Kind.CODE) == [code]


def test_a_target_of_rest_is_no_text() -> None:
    assert pieces(REST, Kind.METADATA) == [".. _flying-a-kite:"]


@pytest.mark.parametrize("budget", range(20, 130, 10))
@pytest.mark.parametrize("query", ["How are tails used?", "What is forbidden?", "How is a kite launched?"])
def test_no_directive_is_kept_without_its_text(query: str, budget: int) -> None:
    lines = [line for line in compress(query, [REST], max_tokens=budget).text.split("\n") if line.strip()]
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        assert line.strip() != ".."
        assert not line.startswith(".. ") or line.startswith(".. _") or below.startswith(" ")


def test_a_long_text_under_a_directive_is_cut() -> None:
    text = ".. note::\n\n" + "    Kites fly. And how they fly!\n" * 60 + "\nThe end.\n"
    assert max(map(len, pieces(text))) < 600
