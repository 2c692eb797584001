"""Cutting JSON: what remains can be parsed, if any value fits with its brackets."""

from cutting import cut
from fuzzing import json_changed, read
from record_texts import are_all_tried
from structures import is_whole, may_be_broken

mutate = json_changed("id", "name", "a:b", 'q"', "items", "东京", "The timeout is 30 s. Why? Yes.", "{", "\\", "\x1f")


def check(data: bytes) -> None:
    given = read(data)
    result = cut(given, "a.json" if given.choice % 2 else None)
    if not result or given.text.lstrip()[:1] not in ("[", "{") or not is_whole("JSON", given.text):
        return
    if given.budget > 100 or are_all_tried(given.text, given.budget):
        assert is_whole("JSON", result.text) or may_be_broken("JSON", given.text, given.budget), result.text
