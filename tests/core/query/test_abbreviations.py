"""Abbreviations that texts explain."""

import pytest

from ctxcompress import compress
from ctxcompress.query.terms import abbreviations_in

FILLER = [f"The committee of site {n} reviewed its old maps before the fair." for n in range(30)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The Federal Network Agency (FNA) supervises it.", {"FNA": ("Federal Network Agency",)}),
        ("We report annual recurring revenue (ARR) once.", {"ARR": ("annual recurring revenue",)}),
        ("The United States of America (USA) joined.", {"USA": ("United States of America",)}),
        ("Magnetic resonance imaging (MRI) and (MRI)", {"MRI": ("Magnetic resonance imaging",)}),
        ("It was built in Bonn (GER) and (see above) not (IBM) sold (A1).", {}),
        ("(FNA) alone", {}),
    ],
)
def test_a_short_form_in_brackets_stands_for_the_words_before_it(text: str, found: dict[str, tuple[str]]) -> None:
    assert abbreviations_in([text]) == found


def test_what_the_query_spells_out_is_found_by_its_abbreviation() -> None:
    passages = ["The Federal Network Agency (FNA) supervises all grids.", "Of small grids FNA demands a yearly report."]
    text = compress("What does the Federal Network Agency demand?", [*FILLER, *passages], max_tokens=40).text
    assert "yearly report" in text
