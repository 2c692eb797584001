"""Source code is judged by what calls what, and by what a segment is; only where it is most of the retrieval."""

import numpy as np
import pytest
from corpora import corpus_of

from ctxcompress import Passage, compress
from ctxcompress.query.terms import query_terms
from ctxcompress.score.matches import find_matches
from ctxcompress.score.source_features import SOURCE, source_features
from ctxcompress.text.words import Terms

TEXT = '''"""Keeps books."""


class Shelf:
    def put(self, book):
        check_title(book)
        return book

    def _count(self):
        return 0

    def __len__(self):
        return self._count()


def check_title(book):
    return book.title
'''


def test_source_code_beside_more_prose_is_judged_with_it():
    prose = [Passage(f"p{n}", f"The shelf {n} of the library holds many books. " * 3) for n in range(9)]
    source = Passage("s", TEXT, file_path="shelf.py")
    alone = compress("who checks the title of a book?", [source], max_tokens=60)
    beside = compress("who checks the title of a book?", [*prose, source], max_tokens=60)
    assert "check_title" in alone.text
    assert beside.tokens <= 60


CONSTANT = "    #: Default maximum depth.\n    DEFAULT_DEPTH_MAX = 120\n\n"
POND = f'"""Ponds."""\n\n\nclass Pond:\n    """Hold ducks."""\n\n{CONSTANT}' + "".join(
    f'    def get_depth_{n}(self, depth):\n        """Return the depth of part {n}, at most the maximum depth."""\n'
    f"        depth = max(depth, {n})\n        return min(self.depth, depth)\n\n"
    for n in range(40)
)


@pytest.mark.parametrize("budget", [80, 100, 150, 200, 300, 400, 500, 700, 1000])
@pytest.mark.parametrize("query", ["what is the default maximum depth?", "default depth max"])
def test_a_constant_is_found_by_its_name_at_every_budget(query, budget):
    assert "DEFAULT_DEPTH_MAX = 120" in compress(query, [Passage("pond.py", POND)], max_tokens=budget).text
    without = POND.replace("    #: Default maximum depth.\n", "")
    assert "DEFAULT_DEPTH_MAX = 120" in compress(query, [Passage("pond.py", without)], max_tokens=budget).text


SHELF = """class Shelf:
    def put(self, book):
        check_title(book)
        return book

    def __len__(self):
        return self._count()


def check_title(book):
    return book.title
"""


def test_a_definition_is_judged_by_who_calls_it_and_by_what_its_name_resembles():
    corpus, terms = corpus_of(SHELF, "shelf.py"), Terms("en")
    wanted = query_terms("look at the length and the checking of titles", language="en", terms=terms)
    rows = source_features(
        corpus, find_matches(corpus, wanted, terms), tuple(wanted), np.array([0.001, 0.9, 0.02, 0.05])
    )
    put, length, check = range(1, 4)
    found = dict(zip(SOURCE, rows, strict=True))
    assert (found["called"][check], found["calls"][put]) == (0.9, 0.05)
    assert (found["same_outermost"][length], found["same_definition"][put]) == (0.9, 0)
    assert min(found["resembles"][[check, length]]) > 0 == found["resembles"][put]
