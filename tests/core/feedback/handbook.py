"""The pages of a handbook, as a store would return them: fixed, so that figures about them stay."""

from itertools import product

from ctxcompress import Passage

_PAGES = [
    f"# Part {part}\n\nTo keep the {thing} of {owner} {place}, give part {part} a path. It has room for {part * 7 + 3} "
    f"entries, and {owner} empties it every {part + 2} days.\n\nBefore part {part} is moved, do this:\n\n"
    f"- Stop the {thing} of part {part}.\n"
    f"- Tell {owner} that part {part} rests {place}.\n- Start part {part} again after {part + 5} minutes.\n"
    for part, (thing, owner, place) in enumerate(
        product(
            ("cache", "queue", "index", "log"),
            ("the server", "a client", "the scheduler"),
            ("on disk", "in memory", "at another site"),
        )
    )
]
_LENGTH = 400


def chunks() -> list[Passage]:
    """Return the pages in chunks of equal length, which cut sentences as chunks do."""
    text = "\n".join(_PAGES)
    return [Passage(str(at), text[at : at + _LENGTH]) for at in range(0, len(text), _LENGTH)]
