"""Language models that answer what a test says, and remember what they were asked."""

import re
from collections.abc import Callable, Sequence

from ctxcompress import Passage
from ctxcompress.language_model import Answer, Prompt

QUERY = "what is the default timeout of the client?"
ANSWER = "The default timeout is 30 seconds."

TOWNS = ("Oslo", "Bergen", "Turku", "Riga", "Gdansk", "Kiel", "Malmo", "Tartu")
ABOUT = ("harbour", "museum", "library", "station", "bakery", "garden")


def page(place: int = 3) -> Passage:
    """A page with a heading for each town, forty sentences on the client, and the answer under one heading."""
    parts = []
    for number, town in enumerate(TOWNS):
        lines = [f"The client of the {about} in {town} has version {number}." for about in ABOUT]
        if number == place:
            lines.insert(2, ANSWER)
        parts.append(f"## {town}\n\n" + " ".join(lines))
    return Passage("page", "\n\n".join(parts), file_path="docs/towns.md")


class Model:
    """Answers what a function makes of the prompt."""

    def __init__(self, answer: Callable[[Prompt], object] | str, identity: str = "model-1", **usage: object) -> None:
        self.answer, self.identity, self.usage = answer, identity, usage
        self.asked: list[Prompt] = []

    def complete(self, prompt: Prompt, /) -> Answer:
        self.asked.append(prompt)
        return Answer(self.answer if isinstance(self.answer, str) else self.answer(prompt), **self.usage)


class AsyncModel(Model):
    """The same, which must be awaited."""

    def complete(self, prompt: Prompt, /) -> Answer:
        raise AssertionError("it is not awaited")

    async def acomplete(self, prompt: Prompt, /) -> Answer:
        return super().complete(prompt)


def number_of(text: str, prompt: Prompt) -> str:
    """Return the number of the segment that begins with this text; "none" if the prompt does not have it."""
    found = re.search(rf"^\[(\d+)\] {re.escape(text)}", prompt.user, re.MULTILINE)
    return found[1] if found else "none"


def naming(*texts: str) -> Callable[[Prompt], str]:
    """Return what names the segments that begin with these texts, in this order."""
    return lambda prompt: ", ".join(number_of(text, prompt) for text in texts)


def numbers_in(prompt: Prompt) -> Sequence[int]:
    """Return the numbers that a prompt shows at the beginnings of lines."""
    return [int(number) for number in re.findall(r"^\[(\d+)\] ", prompt.user, re.MULTILINE)]
