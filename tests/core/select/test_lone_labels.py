"""Labels that are passages of their own, as loaders of forms and pages make them."""

import pytest

from ctxcompress import compress

RECORD = {
    "Package:": "git",
    "Version:": "2.39.5",
    "Maintainer:": "Jonathan Nieder",
    "Provides:": "git-completion, git-core",
    "Depends:": "libc6, libcurl3-gnutls",
    "Suggests:": "gettext-base, gitk, gitweb",
    "Homepage:": "https://git-scm.com",
}
ELEMENTS = [text for pair in RECORD.items() for text in pair]


@pytest.mark.parametrize("query", ["Who is the maintainer of git?", "What does git suggest and provide?"])
@pytest.mark.parametrize("budget", range(8, 64, 4))
def test_a_value_comes_with_its_label_and_a_label_with_its_value(query: str, budget: int) -> None:
    kept = compress(query, ELEMENTS, max_tokens=budget).text.split("\n\n")
    pairs = dict(zip(kept[::2], kept[1::2], strict=True))
    assert pairs.items() <= RECORD.items()
