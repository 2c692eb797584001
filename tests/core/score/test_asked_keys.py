"""A field whose key the query asks for comes before longer values that only have the name of the record."""

import json
from typing import Any

import pytest

from ctxcompress import compress

_NAMES = "toolbox parser kite webby ledgerly sprocket mailman gizmo".split()
_LINKS = (
    "forks keys teams hooks events assignees branches tags blobs trees statuses languages contributors subscribers "
    "commits comments contents compare merges archive downloads issues pulls milestones labels releases deployments"
).split()


def _repository(number: int) -> dict[str, Any]:
    name = _NAMES[number]
    base = f"https://api.code.example/repos/acme/{name}"
    links = {f"{link}_url": f"{base}/{link}{{/number}}" for link in _LINKS}
    return {
        "id": 7_000 + number,
        "name": name,
        **links,
        "pushed_at": f"2026-0{number + 1}-11T08:00:00Z",
        "stargazers_count": 100 + 37 * number,
        "commits": 500 + number,
        "changed_files": 20 + number,
        "default_branch": ["main", "trunk", "next"][number % 3],
    }


REPOSITORIES = [_repository(number) for number in range(8)]


@pytest.mark.parametrize(
    ("question", "key"),
    [
        ("How many stars does {} have?", "stargazers_count"),
        ("How many commits and changed files does {} have?", "commits"),
        ("How many commits and changed files does {} have?", "changed_files"),
        ("What is the default branch of {}?", "default_branch"),
    ],
)
@pytest.mark.parametrize("name", ["kite", "gizmo"])
def test_the_key_asked_for_wins_over_addresses(question: str, key: str, name: str) -> None:
    text = json.dumps(REPOSITORIES, indent=1)
    kept = json.loads(compress(question.format(name), [text], max_tokens=160).text)
    wanted = next(repository for repository in REPOSITORIES if repository["name"] == name)
    assert [record[key] for record in kept if record["id"] == wanted["id"]] == [wanted[key]]


def _schema(name: str, reasons: list[str]) -> dict[str, Any]:
    fields = {
        "reason": {
            "type": "string",
            "description": "Why it was sent. " + "It may be shown to users. " * 9,
            "enum": reasons,
        },
        "text": {"type": "string", "description": f"The full reason of the {name} event, as people may have it."},
        "threadId": {"type": "integer", "description": f"The thread of the {name}, if it is known. " * 3},
        "hint": {"type": "boolean", "description": f"The {name} may have values that are not shown. " * 3},
    }
    body = {"type": "object", "properties": fields, "required": ["reason"]}
    event = {"type": "string", "enum": [name]}
    return {"type": "object", "properties": {"event": event, "body": body}, "required": ["event", "body"]}


def test_the_field_asked_for_wins_over_descriptions() -> None:
    reasons = {name: [f"{name} {sign}" for sign in "abcdef"] for name in ("stopped", "started", "moved", "closed")}
    text = json.dumps({f"{name.title()}Event": _schema(name, of) for name, of in reasons.items()}, indent=1)
    result = compress("Which values may the reason of a stopped event have?", [text], max_tokens=260)
    kept = json.loads(result.text)["StoppedEvent"]["properties"]["body"]["properties"]
    assert kept["reason"]["enum"] == reasons["stopped"]


def test_a_key_is_not_asked_for_by_one_of_its_words() -> None:
    rows = [{"id": n, "note": f"The price of {n} is fixed. " * 30, "price_list_url": f"u{n}"} for n in range(9)]
    kept = json.loads(compress("Why is the price fixed?", [json.dumps(rows)], max_tokens=300).text)
    assert any("note" in row for row in kept)
