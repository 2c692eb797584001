"""A heading goes with the text under it, and in preference to what is worse."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcompress import CompressionConfig, Compressor, compress

QUESTION = "which option serializes datetime objects without a tzinfo as UTC?"
UTC = (
    "Serialize `datetime.datetime` objects without a `tzinfo` as UTC. This has no effect on `datetime.datetime` "
    "objects that have `tzinfo` set."
)
OTHER = (
    "Serialize `dict` keys of type other than `str`. This allows `dict` keys to be one of `str`, `int`, `float` or "
    "`None`. There is more to say of it, and none of it is about time."
)


@pytest.mark.parametrize("tail", ["", "This is the tail of the section above.\n\n", "and so on. It ends here.\n\n"])
@pytest.mark.parametrize(("mark", "name"), [("#####", "OPT_NAIVE_UTC"), ("##", "`OPT_SIX`"), ("#", "Clocks, part two")])
@pytest.mark.parametrize("max_tokens", [50, 60, 70, 80])
def test_a_heading_that_is_the_answer_is_kept_before_noise(tail, mark, name, max_tokens):
    passage = f"{tail}{mark} {name}\n\n{UTC}\n\n{mark} OPT_NON_STR_KEYS\n\n{OTHER}\n"
    text = compress(QUESTION, [passage], max_tokens=max_tokens).text
    assert f"{mark} {name}\n\nSerialize `datetime.datetime` objects" in text


words = st.sampled_from("amber birch cedar dune ember fjord grove heron inlet juniper".split())


@given(
    name=st.lists(words, min_size=1, max_size=3),
    tail=st.lists(words, min_size=1, max_size=12),
    noise=st.lists(st.lists(words, min_size=3, max_size=10), min_size=1, max_size=5),
    more=st.integers(0, 12),
)
def test_the_heading_of_the_best_text_is_kept_where_there_is_room_for_both(name, tail, noise, more):
    best = "The quota of the frobnicator is seven."
    sections = "".join(f"## {line[0]}\n\n{' '.join(line)}.\n\n" for line in noise)
    page = f"{' '.join(tail)}.\n\n## {' '.join(name)}\n\n{best}\n\n{sections}"
    config = CompressionConfig(max_tokens=len(name) + 1 + 7 + more, encoding=lambda text: len(text.split()))
    result = Compressor(config).compress("what is the quota of the frobnicator?", [page])
    assert f"## {' '.join(name)}\n\n{best}" in result.text


sections = st.tuples(st.integers(1, 4), st.booleans()).map(
    lambda drawn: f"{'#' * drawn[0]} Part\n\n" + "It is a part.\n\n" * drawn[1]
)


PLANS = "Alder Birch Cedar Dogwood Elm Fir Ginkgo Hazel Ivy Juniper Katsura Larch Maple Nutmeg Oak Pine".split()


@pytest.mark.parametrize("max_tokens", [60, 100, 200])
def test_a_heading_above_a_sub_heading_is_kept_with_the_text_below_both(max_tokens):
    page = "# Handbook\n\n" + "\n".join(
        f"## {name}\n\n### Price\n\nIt costs {7 * number + 3} euro.\n\n### Limits\n\nUp to {number} may share it.\n"
        for number, name in enumerate(PLANS)
    )
    text = compress("What does the Maple plan cost?", [page], max_tokens=max_tokens).text
    assert "## Maple" in text
    assert "It costs 87 euro" in text
