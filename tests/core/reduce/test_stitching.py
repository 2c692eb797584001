"""Chunks of a file that splitters tore apart, put together as the file was."""

from itertools import pairwise

import pytest

from ctxcompress import Passage
from ctxcompress.reduce.stitching import continuations, stitched

SHELF = '''class Shelf:
    def put(self, book):
        """Puts a book at the end."""
        self.books.append(book)
        if self.is_full:
            self.close()

        self.changed = True

    def save(self, path):
        path.write_text(str(self.books))
'''


def put_together(passages):
    numbers = range(len(passages))
    links = list(continuations(passages, numbers))
    return [document.text for document in stitched([passage.text for passage in passages], numbers, links, numbers)]


def stripped(text, cuts, **fields):
    """The parts of a text between these offsets, as a splitter makes them that strips its chunks."""
    parts = [(start, text[start:end]) for start, end in pairwise([0, *cuts, len(text)])]
    starts = [start + len(part) - len(part.lstrip()) for start, part in parts]
    return [
        Passage(str(start), part.strip(), metadata={"start_index": start}, **fields)
        for start, (_, part) in zip(starts, parts, strict=True)
    ]


@pytest.mark.parametrize("before", ["self.books", "if self.is_full", "self.changed", "def save", "path.write"])
def test_white_space_that_a_splitter_took_away_is_put_back(before):
    at = SHELF.rindex("\n", 0, SHELF.index(before)) + 1
    assert put_together(stripped(SHELF, [at], file_path="shelf.py")) == [SHELF.strip()]
    # Of tabs after a blank line it cannot be told which is which.
    if "\n\n" not in SHELF[at - 2 : at]:
        tabs = SHELF.replace("    ", "\t")
        at = tabs.rindex("\n", 0, tabs.index(before)) + 1
        assert put_together(stripped(tabs, [at], file_path="shelf.py")) == [tabs.strip()]


def test_a_comment_at_the_margin_stays_with_its_own_function():
    chunks = [
        "func find(name string) *User {\n\treturn users[name]\n}",
        "// remove deletes the user.\nfunc remove(user *User) {\n\tdelete(users, user.name)\n}",
    ]
    text = "\n\n".join(chunks) + "\n\nfunc count() int {\n\treturn len(users)\n}"
    assert put_together(stripped(text, [len(chunks[0]) + 1], file_path="users.go")) == [text]
