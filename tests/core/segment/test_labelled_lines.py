"""What stands on a line after its label comes with the label: below another one it would say something false."""

from ctxcompress import compress
from ctxcompress.segment.formats import segment

DOSES = (
    "Adults: 2 tablets every 6 hours. The highest dose is 6 tablets in a day.\n"
    "Children from 12 years: 1 tablet every 8 hours. The highest dose is 3 tablets in a day.\n"
    "Kidney disease: half of that. The highest dose is 2 tablets in a day.\n\n"
)
FILLER = " ".join(f"The hall number {n} was painted in summer and has {n + 3} windows." for n in range(40))


def test_the_rest_of_a_line_needs_its_label() -> None:
    assert [part.needs for part in segment(f"# Doses\n\n{DOSES}")] == [(), (), (1,), (), (3,), (), (5,)]


def test_one_label_or_none_needs_nothing() -> None:
    for text in (
        "Note: this is one. That is two.\nAnd this is three. Four.",
        "This is one. Two is here.\nThree is. Four is.",
    ):
        assert {part.needs for part in segment(text)} == {()}


def test_no_value_is_kept_below_another_label() -> None:
    for budget in range(30, 80, 5):
        text = compress("What is the highest dose?", [DOSES + FILLER], max_tokens=budget).text
        for label, dose in {"Adults": 6, "Children": 3, "Kidney": 2}.items():
            lines = [line for line in text.splitlines() if f"is {dose} tablets" in line]
            assert all(line.replace("[…] ", "").startswith(label) for line in lines)
