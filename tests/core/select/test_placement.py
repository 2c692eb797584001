"""No text stands below the heading of another section, nor such a heading above text."""

import pytest
from selections import structure_of

from ctxcompress.select.placement import Placement

PAGE = "Preface.\n\n# Lamps\n\nThey are red.\n\n# Locks\n\nThey are new.\n\n## Keys\n\nOf iron."
TEXTS = ["# Docks\n\nTwo of them.", PAGE, "# Boats\n\nSeven of them."]
TABLE = structure_of(TEXTS).table
NAMES = [text.strip() for text in TABLE.texts]


@pytest.mark.parametrize(
    ("shown", "name", "is_misplaced"),
    [
        ([], "They are red.", False),
        ([], "Seven of them.", False),
        (["# Lamps"], "They are red.", False),
        (["# Lamps"], "They are new.", True),
        (["# Locks"], "They are red.", False),
        (["# Locks"], "Of iron.", False),
        (["# Lamps", "# Locks"], "Of iron.", False),
        (["# Lamps", "## Keys"], "They are new.", True),
        (["# Docks"], "They are red.", False),
        (["# Docks"], "Seven of them.", False),
        (["They are new."], "# Lamps", True),
        (["They are new."], "# Locks", False),
        (["They are new."], "# Docks", False),
        (["# Lamps", "They are red."], "# Locks", False),
        (["# Docks", "Two of them."], "They are red.", False),
    ],
)
def test_text_stands_below_no_heading_or_one_of_its_own(shown, name, is_misplaced):
    placement = Placement(TABLE)
    for other in shown:
        placement.take([NAMES.index(other)])
    assert placement.misplaces([NAMES.index(name)]) == is_misplaced


def test_text_comes_with_its_heading():
    placement = Placement(TABLE)
    placement.take([NAMES.index("# Lamps")])
    other = placement.copy()
    assert not placement.misplaces([NAMES.index("# Locks"), NAMES.index("They are new.")])
    other.take([NAMES.index("They are new.")])
    assert not placement.misplaces([NAMES.index("# Locks")])
