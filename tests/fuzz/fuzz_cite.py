"""Citations of any quote: what they say is where they say."""

from cutting import cut
from fuzzing import read, spliced

mutate = spliced(
    *("...", "…", " […] ", "“", "”", '"', "'", "\n", " ", "\t", "\u00a0", "- ", "The timeout is 30 s. ", "It is so. "),
    *("\0", "def f():\n    pass\n", "# ...", "[1]", '{"a": "b"}', "a", "。", "\u0301", "\ud800"),
)


def check(data: bytes) -> None:
    """The quote is what follows a null character, or a part of the result."""
    given = read(data)
    text, _, quote = given.text.partition("\0")
    result = cut(given._replace(text=text), None)
    if result is None:
        return
    part = result.text[given.choice % 50 : given.choice]
    for asked in (quote, part, f"“{part}”", part.replace(" ", "\n")):
        for citation in result.cite(asked):
            assert citation.texts == tuple(text[start:end] for start, end in citation.spans)
            assert all(0 <= start < end <= len(text) for start, end in citation.spans)
    whole = result.text
    if whole.strip() and not whole.strip(" \n.…").startswith(("“", '"', "'")):
        assert "…" in whole or "..." in whole or result.cite(whole), whole
