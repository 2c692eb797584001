"""Records of lines with keys: a line comes with the one that names its record."""

import random

import pytest

from ctxcompress import compress
from ctxcompress.segment.segments import segment
from ctxcompress.segment.stanza_outline import block_outline, stanza_outline

_FIRST = "Ana Bo Carl Dora Emil Fay Gus Hana".split()
_LAST = "Abel Brandt Cohen Diaz Eriksen Fuchs".split()
_PEOPLE = [(first, last) for first in _FIRST for last in _LAST]


def _card(number: int) -> str:
    first, last = _PEOPLE[number]
    return (
        f"BEGIN:VCARD\nVERSION:3.0\nN:{last};{first};;;\nFN:{first} {last}\nORG:Harbour\n"
        f"TEL;TYPE=CELL:+49 17{number % 10} {1000000 + number * 7919}\n"
        f"EMAIL:{first.lower()}.{last.lower()}@harbour.example\nEND:VCARD\n"
    )


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("number", [3, 20, 41])
def test_a_card_is_kept_whole(number: int, end: str) -> None:
    text = "".join(map(_card, range(48))).replace("\n", end)
    first, last = _PEOPLE[number]
    kept = compress(f"What is the mobile number of {first} {last}?", [text], max_tokens=250).text
    assert _card(number).replace("\n", end).rstrip() in kept
    assert kept.count("BEGIN:VCARD") == kept.count("END:VCARD") == kept.count("FN:")


def _event(number: int) -> str:
    return (
        f"BEGIN:VEVENT\nUID:{number:020}@calendar.example\nDTSTART:202609{number % 28 + 1:02}T100000Z\n"
        f"DESCRIPTION:{'Bring the papers and the key of the hall. ' * 15}\n {'and the list of all who come ' * 5}\n"
        f"LOCATION:Room {100 + 7 * number}\nSUMMARY:Meeting of team {number}\n"
        "BEGIN:VALARM\nACTION:DISPLAY\nTRIGGER:-PT15M\nEND:VALARM\nEND:VEVENT\n"
    )


def test_a_line_of_a_long_event_comes_with_its_summary() -> None:
    text = "BEGIN:VCALENDAR\nVERSION:2.0\n" + "".join(map(_event, range(40))) + "END:VCALENDAR\n"
    kept = compress("Where is the meeting of team 23?", [text], max_tokens=200).text
    event = next(part for part in kept.split("BEGIN:VEVENT") if "LOCATION:Room 261\n" in part)
    assert "SUMMARY:Meeting of team 23\n" in event
    assert kept.count("BEGIN:") == kept.count("END:")


def _package(number: int) -> str:
    name = f"lib{_LAST[number % 6].lower()}{number}"
    files = "".join(f" /etc/{name}/part{n} {random.Random(n).getrandbits(128):032x}\n" for n in range(15))
    return (
        f"Package: {name}\nStatus: install ok installed\nPriority: optional\nInstalled-Size: {number * 31}\n"
        f"Maintainer: {_FIRST[number % 8]} {_LAST[number * 5 % 6]} <{number}@harbour.example>\n"
        f"Depends: libc6 (>= 2.{number % 9}), lib{_LAST[(number + 1) % 6].lower()}{number + 1}\n"
        f"Conffiles:\n{files}Description: parts of {name}\n It has what {name} needs to run\n and to be built.\n"
    )


@pytest.mark.parametrize("begin", [0, 150])
@pytest.mark.parametrize("number", [7, 30])
def test_a_field_comes_with_the_first_line_of_its_stanza(number: int, begin: int) -> None:
    text = "\n".join(map(_package, range(60)))[begin:]
    package = _package(number).split("\n")
    kept = compress(f"Who maintains {package[0][9:]}?", [text], max_tokens=300).text
    stanza = next(part for part in kept.split("Package: ") if package[4] in part)
    assert stanza.startswith(package[0][9:])


@pytest.mark.parametrize(
    "text",
    [
        "Anna: Late.\nBo: So?\nCarl: Why?\n\nAnna: The bus.\nBo: Oh.\nCarl: Hm.\n\nAnna: Yes.\nBo: Oh.\nCarl: So.",
        "Q: How long?\nA: Two days\n\nQ: How far?\nA: Two miles\n\nQ: How many?\nA: Two",
        "Note: it is late.\n\nNote: it is early.\n\nNote: the bus comes when it comes.",
        "Version: 1\nSize: 2\nColour: red\n\nand then there is text\n\nVersion: 2",
    ],
)
def test_what_people_say_is_no_stanza(text: str) -> None:
    assert stanza_outline(text) == block_outline(text) == ()


@pytest.mark.parametrize(
    "text",
    [
        "".join(map(_card, range(9)))[40:-30],
        "".join(map(_event, range(9)))[70:-300],
        "END:VCARD\n folded\nBEGIN:VCARD\nBEGIN:VCARD\n folded\nFN:x",
        "\n".join(map(_package, range(9)))[77:-200],
    ],
)
def test_segments_partition_what_is_cut_anywhere(text: str) -> None:
    segments = segment(text)
    assert "".join(text[part.start : part.end] for part in segments) == text
