"""Marks of reStructuredText and POD: directives have their text, and headings and entries are what they are."""

from itertools import pairwise

import pytest

from ctxcompress import Passage, compress
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

POD = """\
=head1 NAME

wind - tells how strong the wind is

=head1 METHODS

=head2 gusts

Returns the strongest gust of the day in knots.

=over 4

=item days

The number of days to look back at.

=item station

Where it is measured, by default at the harbour.

=back

=head1 AUTHORS

The keepers of the lighthouse.
"""


def pieces(text: str, kind: Kind | None = None) -> list[str]:
    return [text[part.start : part.end].strip() for part in segment(text) if kind in (None, part.kind)]


def test_segments_are_the_whole_text() -> None:
    for text in (REST, POD, POD.replace("\n", "\r\n"), ".. ", "..", ".. a::", "=head1", "=item", "..\n\n.. _x:\n"):
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


def test_headings_and_entries_of_pod() -> None:
    assert [part.heading for part in segment(POD) if part.kind is Kind.HEADING] == [
        ("NAME",),
        ("METHODS",),
        ("METHODS", "gusts"),
        ("AUTHORS",),
    ]
    assert pieces(POD, Kind.LIST_ITEM) == ["=item days", "=item station"]
    assert pieces(POD, Kind.METADATA) == ["=over 4", "=back"]


@pytest.mark.parametrize("budget", range(12, 90, 6))
@pytest.mark.parametrize("query", ["What is measured in knots?", "gusts", "Who are the authors?", "wind methods"])
def test_a_heading_of_pod_is_never_kept_alone(query: str, budget: int) -> None:
    text = compress(query, [Passage("a", POD, file_path="wind.pod")], max_tokens=budget).text
    lines = [line for line in text.split("\n") if line.strip()]
    assert not lines or not lines[-1].startswith("=head")
    for line, below in pairwise(lines):
        assert not (line.startswith("=head2") and below.startswith("=head"))
        assert not (line.startswith("=head1") and below.startswith("=head1"))
