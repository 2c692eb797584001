"""Titles: a line of its own that is no sentence comes with what it is the title of."""

import pytest

from ctxcompress import compress

VALUES = {"session name": "sid", "cookie name": "crumb", "upload limit": "4 MB", "retry limit": "seven"}
RELEASES = {f"4.{n}": f"fixed how the {word} is counted" for n, word in enumerate(["pump", "valve", "ledger", "lamp"])}


def directives() -> str:
    """Settings as manuals in reStructuredText have them: their names stand above what is indented."""
    blocks = (
        f".. setting:: {name}\n\n    It is used by the server at night.\n\n    Its default is {value}."
        for name, value in VALUES.items()
    )
    return "\n\n".join(blocks)


def releases() -> str:
    """Changes as a file of news has them: a line with the version above a list."""
    blocks = (
        f"*** Changes in release {version}\n\n* We moved to a new office\n\n* We {change}"
        for version, change in RELEASES.items()
    )
    return "\n\n".join(blocks)


@pytest.mark.parametrize("budget", range(36, 76, 8))
@pytest.mark.parametrize("name", VALUES)
def test_what_is_indented_comes_with_the_line_above_it(name: str, budget: int) -> None:
    text = compress(f"What is the default of the {name}?", [directives()], max_tokens=budget).text
    for name, value in VALUES.items():
        before, found, _ = text.partition(f"Its default is {value}.")
        assert not found or before.rpartition(".. setting:: ")[2].startswith(name)


@pytest.mark.parametrize("budget", range(36, 76, 8))
def test_an_item_comes_with_the_title_of_its_list(budget: int) -> None:
    text = compress("Since which release is the ledger counted right?", [releases()], max_tokens=budget).text
    assert RELEASES["4.2"] in text
    for version, change in RELEASES.items():
        before, found, _ = text.partition(change)
        assert not found or before.rpartition("*** Changes in release ")[2].startswith(version)


@pytest.mark.parametrize("sign", "=-~^*+#")
def test_a_line_of_any_sign_under_a_title_makes_it_a_heading(sign: str) -> None:
    parts = [
        f"{name.title()}\n{sign * 12}\n\nThe server reads it at night.\n\nBy default, that is {value}."
        for name, value in VALUES.items()
    ]
    kept = compress("What is the default of the retry limit?", ["\n\n".join(parts)], max_tokens=40).text
    before, _, _ = kept.partition("By default, that is seven.")
    assert before.endswith(
        (f"Retry Limit\n{sign * 12}\n\n[…] ", f"Retry Limit\n{sign * 12}\n\nThe server reads it at night.\n\n")
    )
