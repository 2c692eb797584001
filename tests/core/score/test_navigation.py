"""Contents and indexes come after what they lead to; heads and feet of pages do not come, and sentences go on over
them."""

import pytest

from ctxcompress import compress

CHAPTERS = ("Unpacking", "Safety", "Winter storage", "Lubrication", "Disposal", "Warranty")
DRAIN = "Drain the housing and close both valves."
FILLER = "Wear gloves near the rotor. Keep the pallet dry. Lock the mains before the work begins."
BODY = [f"{n}. {name}\n\n{DRAIN if 'Winter' in name else FILLER}" for n, name in enumerate(CHAPTERS, 1)]
CONTENTS = "Contents\n" + "\n".join(f"{n}. {name} {'.' * 30} {4 * n}" for n, name in enumerate(CHAPTERS, 1))
INDEX = "Index\nanchors, 3\nbelt, 12, 14\nfrost, see winter\ngrease, 16\nstorage in winter, 12\nwinter storage, 12"
LINKS = "\n".join(f"- [{name}](#{name.lower().replace(' ', '-')})" for name in CHAPTERS)


@pytest.mark.parametrize("leading", [CONTENTS, INDEX, LINKS], ids=["contents", "index", "links"])
def test_text_that_leads_to_a_section_does_not_take_its_room(leading):
    assert DRAIN in compress("What has to be done for winter storage?", [leading, *BODY], max_tokens=24).text


@pytest.mark.parametrize(
    "rows",
    [
        "Revenue 400\nCost of sales 310\nInterest 12\nTaxes 25\nProfit 53",  # pages do not go back
        "apples, 12\nbananas, 30\ncherries, 7\ndates, 9\nfigs, 4",  # no entry of an index has several pages
    ],
    ids=["statement", "stock"],
)
def test_data_are_no_navigation(rows):
    name, number = rows.split("\n")[2].rsplit(" ", 1)
    others = [f"{line.rsplit(' ', 1)[0].strip(',')}.\n\n{FILLER}" for line in rows.split("\n")]
    assert f"{name} {number}" in compress(f"How much is {name.strip(',')}?", [rows, *others], max_tokens=40).text


def pages(count: int = 6) -> str:
    """A text of many pages; on each a sentence goes on to the next."""
    filler = " ".join(f"The crew of ship {n} painted the deck and the rails in the third week." for n in range(16))
    feet = [f"\n\nHarbour Manual {' ' * 20} [Page {n}]\n\n" for n in range(1, count)]
    parts = [
        f"go on over the page. {filler} Sentences",
        *[f"go on over page {n}. {filler} They" for n in range(2, count)],
    ]
    return (
        "".join(part + foot for part, foot in zip(parts, feet, strict=True)) + "end here, by the lighthouse of Amrum."
    )


def test_a_foot_of_a_page_is_not_kept_and_a_sentence_goes_on_after_it():
    text = compress("Which lighthouse do they end by?", [pages()], max_tokens=60).text
    assert "lighthouse of Amrum" in text
    assert "Page" not in text


def test_steps_are_no_feet_of_pages():
    steps = "\n\n".join(
        f"Step {n}\n\n" + "Turn the shaft by hand. " * 60 + f"Then read gauge {n}." for n in range(1, 7)
    )
    assert "Step 4" in compress("What does gauge 4 show in step 4?", [steps], max_tokens=60).text
