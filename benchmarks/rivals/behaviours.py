"""What a prompt needs of its context, beyond the right words: small inputs, and what must hold of the answer.

    for behaviour in BEHAVIOURS:
        print(behaviour.name, behaves(behaviour, running.compress))

Where something must be kept, the question asks for it in its words, and the budget has room for it.
"""

import json
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from ctxcompress.text.tokens import TokenCounter
from rivals.environments import Answer

__all__ = ["BEHAVIOURS", "Behaviour", "behaves"]


class Compress(Protocol):
    """Compresses a case."""

    def __call__(self, query: str, texts: Sequence[str], budget: int) -> Answer: ...


class Seen(NamedTuple):
    """The answers to the same case asked twice, and the case."""

    text: str
    again: str
    unchanged: bool
    texts: Sequence[str]


class Behaviour(NamedTuple):
    """A case, and what must hold of its answer. The budget must always be kept."""

    name: str
    holds: Callable[[Seen], bool]
    texts: Sequence[str]
    query: str = "When does the ferry leave Torsund on Sundays?"
    budget: int = 90


_tokens = TokenCounter("cl100k_base")


def behaves(behaviour: Behaviour, compress: Compress) -> str:
    """Return "yes" or "no", or "error" if the compressor raises one."""
    query, texts, budget = behaviour.query, behaviour.texts, behaviour.budget
    first, second = (compress(query, texts, budget) for _ in range(2))
    if first.error or second.error:
        return "error"
    seen = Seen(first.text, second.text, first.unchanged and second.unchanged, texts)
    return "yes" if _tokens(first.text) <= budget and behaviour.holds(seen) else "no"


def _has(*parts: str) -> Callable[[Seen], bool]:
    """What must be in the answer, character by character."""
    return lambda seen: all(part in seen.text for part in parts)


def _is_verbatim(seen: Seen) -> bool:
    """Each stretch between markers of omissions stands in a text; white space may differ."""
    source = " ".join(" ".join(seen.texts).split())
    stretches = re.split(r"\[[^\]\n]*\]|…|\.\.\.|\n+", seen.text)
    return bool(seen.text.strip()) and all(" ".join(part.split()) in source for part in stretches)


def _is_in_order(seen: Seen) -> bool:
    places = [seen.text.find(day) for day in ("Mondays", "Wednesdays", "Fridays")]
    return -1 not in places and places == sorted(places)


def _is_json(seen: Seen) -> bool:
    try:
        return "Torsund" in json.dumps(json.loads(seen.text))
    except json.JSONDecodeError:
        return False


def _is_closed(seen: Seen) -> bool:
    return "step_07" in seen.text and seen.text.count("```") % 2 == 0


_OTHER = tuple(
    f"The {place} has {number} rooms and a garden with old trees. It was built of grey stone by two brothers from the "
    f"valley. Visitors find a small collection of {thing} on the upper floor, and tea in the kitchen."
    for number, (place, thing) in enumerate(
        zip(("museum", "mill", "school", "library"), ("maps", "coins", "boats", "clocks"), strict=True), 7
    )
)
"""Passages about something else, together more than there is room for."""
_ANSWER = "The ferry leaves Torsund at 9:40 on Sundays and at 7:15 on all other days."
_CODE = '''def ferry_fare(age, zone):
    """Return the fare of the ferry."""
    if age < 6:
        return 0
    if zone == "outer":
        return 40
    return 25'''
_FUNCTIONS = "\n\n\n".join(
    f'def {name}(values):\n    """Return the {name} of them."""\n    found = sorted(values)\n    return found[{n}]'
    for n, name in enumerate(("lowest", "second", "third", "fourth", "fifth", "sixth"))
)
_PAGE = """# Ferry

A ferry for 90 cars.

## Weekdays

It leaves at 7:15 from the old harbour.

## Sundays

It leaves at 9:40 from the northern pier.

## Fares

A ticket is 25 crowns. Children sail free.
"""
_TRACEBACK = """Traceback (most recent call last):
  File "ferry.py", line 41, in <module>
    board(passengers)
  File "ferry.py", line 17, in board
    raise FerryFull(f"no room for {count} passengers")
FerryFull: no room for 12 passengers"""
_LOG = [
    f"2026-03-0{day} 08:{minute}:00 INFO timetable checked in {minute} ms"
    for day in (1, 2, 3)
    for minute in range(10, 22)
]
_ERROR_LINE = "2026-03-02 08:14:31 ERROR pump 3 stopped: pressure 0.2 bar is below 0.8 bar"
_TABLE = ["| port | Sunday | weekday |", "|---|---|---|"]
_TABLE += [
    f"| {port} | {n}:10 | {n}:35 |"
    for n, port in enumerate("Arn Bru Cal Dom Eld Fos Gro Hov Isl Jor Torsund Kol".split(), 5)
]
_RECORDS = json.dumps(
    [{"port": line.split()[1], "sunday": line.split()[3], "pier": 4} for line in _TABLE[2:]], indent=1
)
_HUNK = "@@ -41,5 +41,5 @@ def ferry_fare(age, zone):"
_DIFF = "\n".join(
    ["diff --git a/fares.py b/fares.py", "--- a/fares.py", "+++ b/fares.py"]
    + [
        f"@@ -{n},3 +{n},3 @@ def rule_{n}(x):\n     y = x\n-    return y * {n}\n+    return y * {n + 1}"
        for n in range(2, 12)
    ]
    + [_HUNK, "     if age < 6:", "-        return 5", "+        return 0", '     if zone == "outer":']
)
_STEPS = "\n".join(f"./run --stage step_{n:02} --retries {n} --log build/step_{n:02}.log" for n in range(20))
_CHINESE = "星期日渡轮九点四十分从托尔松德出发。"
_OTHER_CHINESE = "博物馆有七个房间和一个花园。它是由山谷里的两兄弟用灰色石头建造的。楼上有一些地图。厨房里有茶。" * 3
_THAI = "เรือข้ามฟากออกจากทอร์ซุนด์เวลาเก้าโมงสี่สิบในวันอาทิตย์"
_OTHER_THAI = "พิพิธภัณฑ์มีเจ็ดห้องและสวนหนึ่งแห่ง สร้างด้วยหินสีเทาโดยพี่น้องสองคน ชั้นบนมีแผนที่เก่า"
_ARABIC = "تغادر العبارة تورسوند في الساعة التاسعة وأربعين دقيقة يوم الأحد."
_OTHER_ARABIC = "يضم المتحف سبع غرف وحديقة. بناه أخوان من الوادي بالحجر الرمادي. توجد خرائط قديمة في الطابق العلوي. "
_EMOJI = "The ferry 🛥️ leaves Torsund at 9:40 on Sundays 👨‍👩‍👧 for families."
_SPACES = "The\u00a0ferry leaves Torsund at\u202f9:40 on\u2009Sundays."

BEHAVIOURS = (
    Behaviour("budget kept", _has(), [*_OTHER, _ANSWER]),
    Behaviour("text verbatim", _is_verbatim, [*_OTHER[:2], _ANSWER, *_OTHER[2:]]),
    Behaviour("no passages", lambda seen: not seen.text.strip(), []),
    Behaviour("empty question", lambda seen: bool(seen.text.strip()), _OTHER, query=""),
    Behaviour("one word of 4,000 letters", _has(), ["Torsund" * 571], budget=50),
    Behaviour("one token", _has(), [*_OTHER, _ANSWER], budget=1),
    Behaviour("blank passages", _has(_ANSWER), ["", " \n", *_OTHER, _ANSWER, "\t"]),
    Behaviour("all fits: untouched", _has(*_OTHER[:2], _ANSWER), [*_OTHER[:2], _ANSWER], budget=400),
    Behaviour("same answer twice", lambda seen: seen.text == seen.again, [*_OTHER, _ANSWER]),
    Behaviour("input unchanged", lambda seen: seen.unchanged, [*_OTHER, _ANSWER]),
    Behaviour(
        "order of the source",
        _is_in_order,
        [
            *_OTHER[:2],
            "On Mondays the ferry leaves at 8.",
            *_OTHER[2:],
            "On Wednesdays the ferry leaves Torsund at 9.",
            "On Fridays the ferry leaves Torsund on time, Sundays too.",
        ],
    ),
    Behaviour("duplicates once", lambda seen: seen.text.count(_ANSWER) == 1, [_ANSWER, *_OTHER, _ANSWER, _ANSWER]),
    Behaviour(
        "numbers whole",
        _has("a deposit of 1,250.50 EUR (3.5 %)"),
        [*_OTHER, "The ferry asks for a deposit of 1,250.50 EUR (3.5 %) for a car. It is paid back in a week."],
        query="What deposit does the ferry ask for a car?",
    ),
    Behaviour(
        "negation with its sentence",
        _has("The pump must not be run without water, not even for a test."),
        [*_OTHER, "The pump is blue. The pump must not be run without water, not even for a test. It weighs 4 kg."],
        query="Can the pump be run without water?",
    ),
    Behaviour(
        "heading with its text",
        _has("## Sundays", "It leaves at 9:40 from the northern pier."),
        [_PAGE, *_OTHER],
        query="When does it leave on Sundays?",
        budget=60,
    ),
    Behaviour(
        "row with its header",
        _has(_TABLE[0], "| Torsund | 15:10 | 15:35 |"),
        ["\n".join(_TABLE), *_OTHER],
        query="When is the Sunday ferry from the port Torsund?",
    ),
    Behaviour("JSON stays JSON", _is_json, [_RECORDS], query="Which pier and time on sunday has the port Torsund?"),
    Behaviour(
        "code block whole",
        _has(f"```python\n{_CODE}\n```"),
        [f"The fare depends on age and zone:\n\n```python\n{_CODE}\n```\n\nTickets are sold on board.", *_OTHER],
        query="What is the ferry fare for a given age and zone?",
        budget=120,
    ),
    Behaviour(
        "fence closed, with the line asked for",
        _is_closed,
        [f"# Build\n\nRun the stages:\n\n```sh\n{_STEPS}\n```\n\nThen wait."],
        query="How is step_07 run?",
        budget=100,
    ),
    Behaviour(
        "indentation",
        _has(_CODE),
        [f"{_FUNCTIONS}\n\n\n{_CODE}\n"],
        query="What fare does ferry_fare return for an age and a zone?",
        budget=110,
    ),
    Behaviour(
        "diff with its hunk header",
        _has(_HUNK, "+        return 0"),
        [_DIFF],
        query="How did the ferry_fare change for age below 6?",
        budget=120,
    ),
    Behaviour(
        "error line of a log",
        _has(_ERROR_LINE),
        ["\n".join([*_LOG[:20], _ERROR_LINE, *_LOG[20:]])],
        query="Why did the pump stop?",
    ),
    Behaviour(
        "traceback whole",
        _has(_TRACEBACK),
        ["\n".join([*_LOG[:20], _TRACEBACK, *_LOG[20:]])],
        query="Why did the job fail?",
        budget=150,
    ),
    Behaviour("Chinese", _has(_CHINESE), [_OTHER_CHINESE + _CHINESE], query="渡轮星期日几点从托尔松德出发？"),
    Behaviour(
        "Thai",
        _has(_THAI),
        [_OTHER_THAI, _OTHER_THAI.replace("เจ็ด", "แปด"), _THAI],
        query="เรือข้ามฟากออกจากทอร์ซุนด์วันอาทิตย์กี่โมง",
    ),
    Behaviour("Arabic", _has(_ARABIC), [_OTHER_ARABIC * 2 + _ARABIC], query="متى تغادر العبارة تورسوند يوم الأحد؟"),
    Behaviour("emoji", _has(_EMOJI), [*_OTHER, _EMOJI]),
    Behaviour("half a surrogate pair", _has("at 9:40 on Sundays"), [*_OTHER, f"\ud83d {_ANSWER}"]),
    Behaviour("rare spaces", _has(_SPACES), [*_OTHER, _SPACES]),
    Behaviour(
        "Windows line ends",
        _has("Sundays:\r\n- 9:40 from Torsund"),
        ["\r\n\r\n".join([*_OTHER, "The ferry leaves on Sundays:\r\n- 9:40 from Torsund\r\n- 9:55 from Halvik"])],
    ),
    Behaviour("a line of 30,000 characters", _has(_ANSWER), [" ".join([*_OTHER * 20, _ANSWER, *_OTHER * 20])]),
    Behaviour(
        "hostile markup", _has(_ANSWER), ["<div><![CDATA[" * 40, "[[[](((`**_" * 40, "```\n" * 9 + "|-|" * 50, _ANSWER]
    ),
)
