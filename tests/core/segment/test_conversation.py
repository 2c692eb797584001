"""Conversations are cut into turns; other texts with colons are not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcompress import Passage, compress
from ctxcompress.data.passages import Kind, Segment
from ctxcompress.segment.formats import segment
from ctxcompress.segment.prose import segments_together

WHATSAPP_IPHONE = """\
[12/03/24, 18:01:40] Anna: \u200eMessages and calls are end-to-end encrypted.
[12/03/24, 18:04:11] Anna: Are we still on for Saturday?
[12/03/24, 18:05:02] Bob Müller: Yes! At 7 at Luigi's
they moved to Elm Street 12
\u200e[12/03/24, 18:05:30] Anna: \u200eimage omitted
"""
WHATSAPP_ANDROID = """\
12.03.24, 18:04 - Nachrichten sind Ende-zu-Ende-verschlüsselt.
12.03.24, 18:04 - Anna: kommst du?
12.03.24, 18:05 - +49 170 1234567: ja klar
"""
ZOOM = "18:04:11 From Anna to Everyone: hello all\n18:04:20 From Bob to Everyone: hi\n"
IRC = """\
[10:42] <anna> does 3.12 break numpy?
[10:43] <@bob> only below 1.26
[10:43] * carl joins
"""

LABELS = {
    WHATSAPP_IPHONE: [
        "[12/03/24, 18:01:40] Anna: ",
        "[12/03/24, 18:04:11] Anna: ",
        "[12/03/24, 18:05:02] Bob Müller: ",
        "\u200e[12/03/24, 18:05:30] Anna: ",
    ],
    WHATSAPP_ANDROID: ["12.03.24, 18:04 - ", "12.03.24, 18:04 - Anna: ", "12.03.24, 18:05 - +49 170 1234567: "],
    ZOOM: ["18:04:11 From Anna to Everyone: ", "18:04:20 From Bob to Everyone: "],
    IRC: ["[10:42] <anna> ", "[10:43] <@bob> ", "[10:43] "],
    "user: sort a list\nassistant: Use sorted.\n": ["user: ", "assistant: "],
    "Human: sort a list\nAI: Use sorted.\n": ["Human: ", "AI: "],
    "**Anna:** Did you call?\n\n**Bob**: Not yet. I will.\n": ["**Anna:** ", "**Bob**: "],
    "Speaker 1: Hello there!\nSpeaker 2 (chair): Hi.\nSpeaker 1: Shall we?\n": [
        "Speaker 1: ",
        "Speaker 2 (chair): ",
        "Speaker 1: ",
    ],
    "张三：你去哪里？\n李四：我去学校。": ["张三：", "李四："],
    "**Anna** (10:42): Did you call?\n**Bob** (10:44): no\n": ["**Anna** (10:42): ", "**Bob** (10:44): "],
    "Audrey: Nice!": ["Audrey: "],
    "Q: Is it free?\nA: Yes.\n": ["Q: ", "A: "],
}

NO_CONVERSATIONS = {
    "keys and values": "Location: Paris\nDate: 3 May\nHost: Anna\nTopic: What we do.",
    "YAML": "name: foo\nversion: 1.2\ndescription: A thing you use.",
    "records": "Name: Foo\nAge: 3\n\nName: Bar\nAge: 4\n\nName: Baz\nAge: 5\n",
    "log": "2024-03-12 10:42:03 ERROR: could not connect\n2024-03-12 10:42:04 INFO: retry\n",
    "labels": "Note: You need Python.\n\nWarning: Do you have a backup?\n\nNote: You can skip this.",
    "prose": "There are three: one, two and three. She wrote:\n\nIt was late, and we went home.",
    "HTML": "<p> What do you want? </p>\n<p> Nothing. </p>",
    "Rust": "    where\n        H: Handler<T, S>,\n        T: 'static,\n    {\n        let x = f()?;\n",
    "a chat in an example": "Write it so:\n\n```\nuser: hello, who are you?\nassistant: I am a bot.\n```\n",
}


def turns(text: str) -> list[Segment]:
    return [part for part in segment(text) if part.kind is Kind.TURN]


@pytest.mark.parametrize(("text", "labels"), LABELS.items(), ids=lambda value: str(value)[:20])
def test_every_speaker_begins_a_turn(text: str, labels: list[str]) -> None:
    assert [part.label for part in turns(text)] == labels
    assert all(text[part.start : part.end].startswith(part.label) for part in turns(text))


@pytest.mark.parametrize("text", NO_CONVERSATIONS.values(), ids=NO_CONVERSATIONS)
def test_other_texts_with_colons_have_no_turns(text: str) -> None:
    assert not turns(text)


def test_the_sentences_of_a_long_turn_need_its_speaker() -> None:
    text = "Bob: Hi, are you there?\nAnna: " + "This is what I think about it. " * 20 + "\nBob: ok\n"
    parts = segment(text)
    assert parts[1].label == text[parts[1].start : parts[1].end] == "Anna: "
    sentences = [part for part in parts if part.block == 1][1:]
    assert len(sentences) == 20
    assert {part.needs for part in sentences} == {(1,)}
    assert {part.label for part in sentences} == {"Anna: "}


def test_code_in_a_turn_is_kept_whole_and_with_its_speaker() -> None:
    text = "user: How do I sort?\n\nassistant: Like this:\n\n```python\nsorted(x)\n```\n\nIs that all?\n"
    parts = segment(text)
    code = next(part for part in parts if part.kind is Kind.CODE)
    assert text[code.start : code.end].strip() == "```python\nsorted(x)\n```"
    assert (code.label, parts[code.needs[0]].label) == ("assistant: ", "assistant: ")


def together(*texts: str) -> list[Kind]:
    segmented = [segment(text) for text in texts]
    changed = segments_together(texts, segmented, "en")
    return [changed.get(number, parts)[0].kind for number, parts in enumerate(segmented)]


def test_a_passage_is_a_turn_if_its_speaker_speaks_in_another_passage() -> None:
    assert together("Anna: To the lake.", "Prose.", "Anna: Where are you?", "Prose.") == [
        Kind.TURN,
        Kind.PARAGRAPH,
        Kind.TURN,
        Kind.PARAGRAPH,
    ]


def test_names_in_lower_case_are_names_if_they_recur() -> None:
    lines = ("maya: the printer is jammed again", "oto: pull the lever twice", "rui: where do we get toner?")
    text = "\n".join((*lines, "oto: cupboard by the stairs", "maya: lunch?", "rui: in ten minutes"))
    assert {part.kind for part in segment(text)} == {Kind.TURN}
    assert "cupboard by the stairs" in compress("where do we get toner?", [text], max_tokens=20).text


@pytest.mark.parametrize(
    "text",
    [
        "host: a b c\nport: 1 2 3\nuser: c d e\ngroup: e f g",
        "feat: add the pump\nfix: close the valve\nfeat: more pumps now\nfix: fewer leaks then",
        "host: a\nport: 1\nhost: b\nport: 2\nhost: c\nport: 3",
        "maya: the printer is jammed\noto: pull the lever\nand once more for luck\nmaya: now it works",
    ],
)
def test_other_lines_with_colons_are_no_turns(text: str) -> None:
    assert Kind.TURN not in {part.kind for part in segment(text)}


def test_a_passage_is_no_turn_if_no_other_is() -> None:
    assert together("Shipping: We deliver to you.", "Prose.", "Returns are free.", "More prose.")[0] is Kind.PARAGRAPH


LONG = "\n".join(
    [
        "Bob: Hello everybody, are you all here?",
        "Anna: "
        + "I have a lot to say about nothing. " * 12
        + "The garden costs 4000 euros. "
        + "That is what I think of the rest. " * 6,
        "Bob: We will see about it.",
        "Carl: What is the price of the garden?",
    ]
)


def test_what_is_kept_of_a_turn_comes_with_its_speaker_on_a_line_of_its_own() -> None:
    lines = compress("How many euros does the garden cost?", [Passage("1", LONG)], max_tokens=22).text.split("\n")
    assert any(line.startswith("Anna: […] The garden costs 4000 euros.") for line in lines)
    assert all(line.startswith(("Anna: ", "Bob: ", "Carl: ")) or line == "[…]" for line in lines)


def test_a_turn_over_the_budget_is_never_cut_to_its_speaker() -> None:
    text = "Carl: What is the price of the garden?\nAnna: The garden of my aunt costs 4000 euros I think."
    for budget in range(3, 12):
        shown = compress("garden euros", [Passage("1", text)], max_tokens=budget).text
        assert shown.strip() not in ("Anna:", "Carl:")


PIECES = st.sampled_from([*LABELS, *NO_CONVERSATIONS.values(), LONG])


@given(st.lists(st.one_of(PIECES, st.text(alphabet="Ab:<>[]#*- \n\t1", max_size=40)), max_size=4), st.integers(0, 60))
def test_segments_partition_the_text(pieces: list[str], cut: int) -> None:
    text = "".join(pieces)[cut:]
    parts = segment(text)
    assert "".join(text[part.start : part.end] for part in parts) == text
    assert all(part.start < part.end for part in parts)
    assert all(0 <= need < len(parts) and need != number for number, part in enumerate(parts) for need in part.needs)


PIER = (
    "Young sailor: Where did they put the spare rope?",
    "Ship's cook: I saw it under the stairs by the net loft.",
    "Young sailor: Are you sure?",
    "Ship's cook: Yes, since the storm.",
    "Young sailor: Then let's get it.",
    "Ship's cook: After you.",
)


def test_names_of_several_words_are_names_if_they_recur_and_people_speak() -> None:
    segments = segment("\n".join(PIER))
    assert [part.kind for part in segments] == [Kind.TURN] * 6
    assert segments[1].label.startswith("Ship's cook")


@pytest.mark.parametrize(
    "lines",
    [
        ("Flow rate: 3 litres a minute", "Pump type: driven by a belt", "Flow rate: 5 litres", "Pump type: electric"),
        ("Delivery time: How long it takes.", "Return policy: What you send back.") * 3,
        ("Flow rate: 3 litres", "Pump type: belt", "Pipe width: 2 inches") * 3,
    ],
)
def test_labels_of_several_words_that_recur_are_no_names(lines: tuple[str, ...]) -> None:
    assert Kind.TURN not in {part.kind for part in segment("\n".join(lines))}
    assert Kind.TURN not in set(together(*lines))


def test_minutes_with_a_label_that_recurs_are_no_conversation() -> None:
    items = "".join(
        f"## Item {n}\n\nThe board hears you, Mr. Voss.\n\nDecision: It is {word}. {n} yes, 2 no.\n\n"
        for n, word in enumerate(["accepted", "rejected", "accepted", "rejected"], 11)
    )
    assert Kind.TURN not in {part.kind for part in segment(items)}
    text = compress("Was item 13 accepted?", [items], max_tokens=45).text
    assert "13 yes" in text.partition("## Item 13")[2].partition("## Item 14")[0]
