"""A query of several questions: each wants an answer of its own."""

import pytest

from ctxcompress import CompressionConfig, Compressor, Passage

TOWNS = ["Arle", "Brent", "Calver", "Dunmore", "Eldby", "Fenwick", "Garth", "Holm"]
PASSAGES = [
    Passage(
        name,
        f"{name} is a town by the sea. The lighthouse of {name} is {20 + n} metres high and the oldest of the coast. "
        f"Ships call at {name} in summer. Its market is held on Mondays by {name} farmers. Its school has {n} classes. "
        f"The mayor of {name} is elected in May.",
        title=name,
    )
    for n, name in enumerate(TOWNS)
]
ASKED = (
    "How high is the lighthouse of Fenwick? And when is the market of Brent held? "
    "Also in which month is the mayor of Dunmore elected?"
)
ANSWERS = [
    "The lighthouse of Fenwick is 25 metres high",
    "held on Mondays by Brent farmers",
    "The mayor of Dunmore is elected in May",
]


@pytest.mark.parametrize("options", [{"max_tokens": 60}, {"max_tokens": 400, "adaptive": True}, {"max_tokens": "auto"}])
def test_each_question_is_answered(options):
    text = Compressor(CompressionConfig(**options)).compress(ASKED, PASSAGES).text
    assert [answer for answer in ANSWERS if answer not in text] == []
