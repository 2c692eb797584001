"""A field of an entry of BibTeX comes with the line that has its key."""

from ctxcompress import compress
from ctxcompress.segment.bibliography_outline import bibliography_outline
from ctxcompress.segment.segments import segment

_TOWNS = "lyon porto ghent bergen turku graz split kaunas vigo cork".split()


def _entry(number: int) -> str:
    town = _TOWNS[number % 10]
    return (
        f"@article{{{town}{1990 + number},\n  author    = {{Diaz, Ana and Brandt, Bo}},\n"
        f"  title     = {{The bridges of {town.title()}}},\n  journal   = {{Annals of Harbours}},\n"
        f"  abstract  = {{{'We look at the bridges of the town and how they were built. ' * 15}}},\n"
        f"  volume    = {{{number + 3}}},\n  doi       = {{10.1000/{town}.{number * 37}}}\n}}\n\n"
    )


def test_a_field_comes_with_the_key_of_its_entry() -> None:
    text = "".join(map(_entry, range(30)))
    kept = compress("What is the doi of vigo1998?", [text], max_tokens=150).text
    entry = next(part for part in kept.split("@article{") if "10.1000/vigo.296" in part)
    assert entry.startswith("vigo1998,\n")
    assert kept.count("@article{") == kept.count("\n}")


def test_other_texts_with_signs_of_entries_are_none() -> None:
    for text in ("@media{a,\n}\n", "@article{diaz2021}", "Write to @anna, {please}.\n", "@app.route{x,\n  y\n}"):
        assert bibliography_outline(text) == ()


def test_segments_partition_what_is_cut_anywhere() -> None:
    text = "".join(map(_entry, range(4)))
    for part in (text[30:], text[:-40], text[700:2500]):
        assert "".join(part[found.start : found.end] for found in segment(part)) == part
