"""Source code is judged by what calls what, and by what a segment is; only where it is most of the retrieval."""

import numpy as np
import pytest

from ctxcompress import Passage, compress
from ctxcompress.data.documents import documents_as_they_are
from ctxcompress.data.table import SegmentTable
from ctxcompress.query.terms import query_terms
from ctxcompress.score.corpus import Corpus
from ctxcompress.score.matches import find_matches
from ctxcompress.score.source_features import SOURCE, source_features
from ctxcompress.segment.segments import segment_outlined
from ctxcompress.segment.source_code import outline
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


def rows(probability, query="who checks books on the shelf?"):
    segments = segment_outlined(TEXT, outline(TEXT, "shelf.py"), whole=120)
    corpus = Corpus.of([Passage("0", TEXT)], SegmentTable.of(documents_as_they_are([TEXT]), [segments]))
    terms = Terms("en")
    wanted = query_terms(query, language="en", terms=terms)
    matches = find_matches(corpus, wanted, terms)
    table = source_features(corpus, matches, tuple(wanted), np.array(probability))
    paths = [".".join(s.heading) for s in segments]
    return {name: dict(zip(paths, row.tolist(), strict=True)) for name, row in zip(SOURCE, table, strict=True)}


def test_who_calls_whom():
    found = rows([0.001, 0.001, 0.9, 0.05, 0.02, 0.01])
    assert found["called"]["check_title"] == 0.9
    assert found["calls"]["Shelf.__len__"] == 0.05
    assert found["same_outermost"]["Shelf._count"] == 0.9
    assert found["same_outermost"]["Shelf.put"] == 0.05
    assert found["same_definition"]["Shelf.put"] == 0
    assert found["judged"]["Shelf.put"] == np.log(9)


def test_a_name_resembles_what_it_contains_or_abbreviates():
    found = rows([0.1] * 6, "look at the length, the counter and the checking of titles")["resembles"]
    assert min(found["check_title"], found["Shelf.__len__"]) > 0
    assert found["Shelf._count"] > 0
    assert found["Shelf.put"] == found["Shelf"] == found[""] == 0


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
