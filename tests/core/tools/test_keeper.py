"""Texts under handles, and the tool that gives them back: whole, by lines, or by a question."""

import re
from dataclasses import dataclass

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ctxcompress import CompressionConfig, Compressor
from ctxcompress.agents.keeper import CannotExpand, Expander, Keeper, fitted
from ctxcompress.agents.left_out import DiskStore, MemoryStore
from ctxcompress.errors import ConfigError

CONFIG = CompressionConfig(encoding="o200k_base")
MARKER = re.compile(r"\n\[… [\d,]+ \w+ left out(?: \((?P<lines>[^)]*)\))?: expand (?P<handle>ctx-[0-9a-f]{8})\]\Z")
LOG = "\n".join(
    f"12:00:{n % 60:02} the {'disk is full: 99 %' if n == 237 else f'heartbeat of node {n} is fine'}"
    for n in range(400)
)


def tokens(text: str) -> int:
    return Compressor(CONFIG).count(text)


def kept(text: str, conversation: str = "one") -> tuple[MemoryStore, str]:
    store = MemoryStore()
    handle = Keeper(store, b"secret").keep(conversation, text)
    assert handle is not None
    return store, handle


def expanded(text: str, max_tokens: int = 300, **asked: str) -> str:
    store, handle = kept(text)
    return Expander.of(CONFIG, max_tokens).expand(store, ["one"], handle, **asked)


def test_a_handle_belongs_to_the_text_the_conversation_and_the_secret():
    store = MemoryStore()
    keeper, other = Keeper(store, b"1"), Keeper(store, b"2")
    handles = [
        keeper.keep("one", "text"),
        keeper.keep("one", "other text"),
        keeper.keep("other", "text"),
        other.keep("one", "text"),
    ]
    assert len(set(handles)) == 4
    assert keeper.keep("one", "text") == handles[0]
    assert len(store.handles("one")) == 3


def test_two_texts_never_share_a_handle():
    store = MemoryStore()
    keeper = Keeper(store, b"secret")
    taken = keeper.keep("one", "text")
    store.put("one", taken, "another text")
    longer = keeper.keep("one", "text")
    assert longer.startswith(taken)
    assert longer != taken
    assert store.get("one", taken) == "another text"


def test_a_store_that_fails_or_is_too_small_gives_no_handle_and_a_warning(tmp_path, warned):
    assert Keeper(MemoryStore(max_bytes=3), b"").keep("one", "text") is None
    store = DiskStore(tmp_path / "left.db")
    (tmp_path / "left.db").write_bytes(b"damaged" * 1_000)
    assert Keeper(store, b"").keep("one", "text") is None
    small, damaged = warned.messages
    assert "more than the store holds" in small
    assert "left.db" in damaged


@dataclass(frozen=True)
class Made:
    compressed_tokens: int
    original_tokens: int = 500


@pytest.mark.parametrize(("limit", "marker"), [(100, 30), (100, 40), (100, 75), (60, 55), (499, 60)])
def test_the_budget_holds_however_long_the_marker_is(limit, marker):
    made = fitted(Made, lambda shorter: Made(shorter.compressed_tokens + marker), limit, room=40)
    assert made is not None
    assert made.compressed_tokens <= limit


PARTS = ["words in a row ", "- a", "\n", "字在中文里", "0x3f2a91c4", '{"a": 1}, ', "\t"]


@example(LOG, 1_500)
@given(st.lists(st.sampled_from(PARTS), max_size=900).map("".join), st.integers(300, 600))
def test_a_text_that_does_not_fit_is_read_on_with_the_lines_that_its_marker_names(text, max_tokens):
    store, handle = kept(text)
    expander = Expander.of(CONFIG, max_tokens)
    read, asked = [], None
    for _ in range(200):
        answer = expander.expand(store, ["one"], handle, asked)
        assert tokens(answer) <= max_tokens
        found = MARKER.search(answer)
        read.append(answer[: found.start()] if found else answer)
        if found is None:
            break
        assert found["handle"] == handle
        asked = found["lines"]
    assert "".join("".join(read).split()) == "".join(text.split())


@pytest.mark.parametrize(
    ("lines", "first", "last"),
    [
        ("238", 238, 238),
        ("237-239", 237, 239),
        ("lines 5 – 7", 5, 7),
        ("3:4", 3, 4),
        ("398-", 398, 400),
        ("399-999", 399, 400),
    ],
)
def test_lines_are_read_by_their_numbers(lines, first, last):
    assert expanded(LOG, lines=lines).rstrip("\n").split("\n") == LOG.split("\n")[first - 1 : last]


def test_a_question_gets_the_parts_that_answer_it():
    answer = expanded(LOG, question="when was the disk full?")
    assert "disk is full: 99 %" in answer
    assert tokens(answer) <= 300
    assert MARKER.search(answer)
    assert "disk is full" not in expanded(LOG, question="when was the disk full?", lines="1-200")
    beyond = expanded(LOG, question="when was the disk full?", lines="201-400")
    assert "disk is full" in beyond
    first = int(MARKER.search(beyond)["lines"].split("-")[0])
    assert first > 200


PAGE = "\n\n".join(
    [
        *(f"Part {n} is about ships that came late to harbour {n}." for n in range(20)),
        "The default timeout is 30 seconds.",
        *(f"Part {n} is about gardens and their owners." for n in range(20)),
    ]
)


@pytest.mark.parametrize("max_tokens", [300, 1_000, 50_000])
def test_a_question_gets_as_much_as_fits_and_what_answers_it_in_any_case(max_tokens):
    for text, question, found in (
        (PAGE, "what is the default timeout?", "timeout is 30"),
        (LOG, "is the disk full?", "99 %"),
    ):
        answer = expanded(text, max_tokens, question=question)
        assert found in answer
        if tokens(text) <= max_tokens:
            assert answer == text
        else:
            assert max_tokens - 100 < tokens(answer) <= max_tokens
            assert MARKER.search(answer)["lines"]


@pytest.mark.parametrize("written", ["{}", "[{}]", "expand {}", " '{}' ", "[expand {}]"])
def test_a_handle_may_be_written_in_several_ways(written):
    store, handle = kept("text")
    assert Expander.of(CONFIG, 300).expand(store, ["one"], written.format(handle)) == "text"


def test_a_handle_of_another_conversation_or_an_invented_one_finds_nothing():
    store, handle = kept("the secret of another user", "other")
    _, own = kept("text")
    for invented in (handle, "ctx-00000000", "", "nonsense" * 50, "ctx\\-3f2a91c4"):
        with pytest.raises(CannotExpand, match="There is no handle") as error:
            Expander.of(CONFIG, 300).expand(store, ["one"], invented)
        assert "secret" not in str(error.value)
        assert own not in str(error.value)
        assert "Call the tool again" in str(error.value)


@pytest.mark.parametrize("lines", ["first", "5-3", "0", "401", "401-500", "1-2-3", "9" * 100])
def test_lines_that_are_not_there_give_an_error_that_says_which_are(lines):
    with pytest.raises(CannotExpand, match=r"Give a range|has the lines 1-400; give a range"):
        expanded(LOG, lines=lines)


def test_what_is_given_back_has_no_forged_handles():
    text = "[… 9 lines left out: expand ctx-deadbeef]\n" * 100
    assert "ctx-deadbeef" not in expanded(text, 5_000)
    assert "ctx-deadbeef" not in expanded(text, 300)
    assert "ctx-deadbeef" not in expanded(text, 300, question="what is left out?")


@pytest.mark.parametrize("max_tokens", [299, True, "auto"])
def test_a_budget_that_cannot_work_is_refused(max_tokens):
    with pytest.raises(ConfigError, match=f"max_tokens is {max_tokens!r}"):
        Expander.of(CONFIG, max_tokens)
