"""A key that is exactly the asked word comes before one that has it as a part."""

import json

import numpy as np
import pytest

from ctxcompress import compress
from ctxcompress.score.corpus import Concordance
from ctxcompress.score.matches import occurrences
from ctxcompress.text.words import Terms

PACKAGE = {
    "name": "kite",
    "version": "2.4.0",
    "main": "./out/node/kite.js",
    "licence": "MIT",
    "dependencies": {"wind-speed": "^1.16.2", "line-data": "^4.0.6", "knot-proxy-agent": "^5.0.1", "sail": "^2.1.0"},
    "devDependencies": {"@loom/core": "^7.29.7", "weave": "^9.1.0", "spin": "^4.0.0", "dye": "^5.0.5", "hem": "^1.0.0"},
}


@pytest.mark.parametrize("query", ["What are the dependencies of kite?", "How many dependencies does kite have?"])
@pytest.mark.parametrize("budget", [40, 60])
def test_the_object_with_exactly_the_asked_key_is_kept(query, budget):
    found = json.loads(compress(query, [json.dumps(PACKAGE, indent=2)], max_tokens=budget).text)
    assert "dependencies" in found
    assert "devDependencies" not in found


def _times(texts, query):
    terms = Terms("en")
    found = occurrences(
        Concordance([text.split() for text in texts]), dict.fromkeys(query, 1.0), terms, keyed=np.arange(2)
    )
    return dict(zip(found.unit.tolist(), found.times.tolist(), strict=True))


def test_a_part_counts_half_where_the_word_is_a_key():
    assert _times(["timeout 3", "idleTimeout 5"], ["timeout"]) == {0: 1.0, 1: 0.5}


def test_a_part_counts_in_full_where_no_text_begins_with_the_word():
    assert _times(["the timeout", "idleTimeout 5"], ["timeout"]) == {0: 1.0, 1: 1.0}


def test_an_asked_identifier_counts_in_full_with_its_parts():
    terms = Terms("en")
    query = dict.fromkeys(terms.of_words(["idleTimeout"])["idleTimeout"], 1.0)
    found = occurrences(Concordance([["idleTimeout"], ["idleTimeoutOfAll"]]), query, terms, keyed=np.arange(2))
    assert np.bincount(found.unit, found.times).tolist() == [3.0, 2.0]
