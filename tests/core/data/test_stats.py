"""The statistics of a compression: as lines for people, as JSON, and in the log."""

import json
import logging

import pytest

from ctxcompress import CompressionConfig, Compressor, Passage, compress
from ctxcompress.data.results import Stats

QUERY = "how to configure authentication"

# The seed's scenario: 47 results. 23 are good enough, of these 11 say the same as another one, and of the 12 that are
# left 4 are the third or fourth of their document.
TOPICS = {
    "docs/auth.md": (
        "To configure authentication open the settings page, choose the identity provider of your company, paste the "
        "address that it gives you and save the page so that everybody can sign in with the usual account",
        "Authentication with a certificate needs a file that the administrator signs once a year and that is put into "
        "the folder of the service before it starts, where nobody else may read or replace it",
        "Sessions end after a while without any work, and whoever comes back has to authenticate again unless the box "
        "below the form was ticked, which the policy of a company can take away from the page",
        "A second factor is asked for wherever an unknown device signs in, be it a phone that shows a code or a key "
        "that is plugged in, and both can be configured by users on their own profile",
    ),
    "docs/proxy.md": (
        "Behind a proxy the service trusts the header that names the user, so configure the proxy to remove the header "
        "from whatever comes from outside and to set it only after it has checked the ticket",
        "The proxy forwards the cookie of the session to every backend, which is why all of them have to share the "
        "secret that signs it, and why a new secret signs everybody out at the same moment",
        "Health checks of the proxy come without any account, and the path that they ask for is answered although "
        "authentication is configured for all the others, with nothing in it but a short word",
    ),
    "docs/tokens.md": (
        "Programs authenticate with a token instead of a password: create one on the profile page, copy it at once "
        "because it is shown a single time, and configure the client to send it along with each request",
        "Tokens can be limited to reading, to one project or to some hours of the day, and the list below the form "
        "shows when each of them was used last and from which address that request came",
        "When a token leaks take it back from the list, look through the log for what was done with it, and tell the "
        "owners of the projects in question before a fresh token is handed to the program",
    ),
    "docs/ldap.md": (
        "A directory server holds the accounts of many companies: configure its address, the branch where the people "
        "are and the attribute that holds the login, then test the connection with the button",
        "Groups of the directory become roles here if the names match, and whoever leaves a group loses the role at "
        "the next login or when the nightly job compares both sides with each other",
    ),
}
WAYS = "quickly calmly safely gladly kindly plainly surely neatly smoothly simply easily".split()
ASIDES = "bakery harbour orchard library stadium theatre chapel market fountain windmill lighthouse vineyard".split()


def seed_results():
    originals = [(path, text) for path, texts in TOPICS.items() for text in texts]
    scores = iter([1.0, *(round(0.98 - 0.03 * n, 2) for n in range(22))])  # 23 from 1.0 down to 0.35
    results = [
        Passage(f"r{n}", f"{text}.", score=next(scores), file_path=path) for n, (path, text) in enumerate(originals)
    ]
    for n, way in enumerate(WAYS):  # the same elsewhere in the document, with a harmless word more
        path, text = originals[n]
        results.append(Passage(f"c{n}", f"{text} {way}.", score=next(scores), file_path=path))
    for n in range(24):  # the long tail, from 0.29 down to 0.05
        place = f"{ASIDES[n % 12]} {WAYS[n % 11]}"
        text = f"Far from the question, the {place} is only mentioned beside the road to the {ASIDES[(n + 5) % 12]}."
        results.append(Passage(f"t{n}", text, score=round(0.29 - 0.24 * n / 23, 4), file_path=f"news/{n}.md"))
    return results


@pytest.fixture
def seed_result():
    return compress(QUERY, seed_results(), config=CompressionConfig.from_preset("docs_published"))


def test_the_seeds_five_numbers(seed_result):
    assert seed_result.stats.summary().splitlines()[:6] == [
        "Compression Stats:",
        "- Original results: 47",
        "- After score filter (≥0.3): 23",
        "- After deduplication: 12",
        "- After document limit (2 per doc): 8",
        "- Clusters merged: 11",
    ]


def test_tokens_saved_are_counted_in_the_final_text(seed_result):
    count = Compressor().count
    stats = seed_result.stats
    assert stats.original_tokens == count("\n\n".join(result.text for result in seed_results()))
    assert stats.compressed_tokens == count(seed_result.text) == seed_result.tokens
    assert stats.tokens_saved == stats.original_tokens - stats.compressed_tokens
    assert stats.savings_percent == pytest.approx(100 * stats.tokens_saved / stats.original_tokens)
    last = seed_result.stats.summary().splitlines()[-1]
    assert last == (
        f"- Tokens: {stats.original_tokens:,} -> {stats.compressed_tokens:,}, {stats.savings_percent:.1f} % saved"
    )


def native(value):
    if isinstance(value, dict):
        return all(type(key) is str and native(item) for key, item in value.items())
    if isinstance(value, list):
        return all(map(native, value))
    return type(value) in (int, float, str, bool)


def test_the_dictionary_is_json(seed_result):
    found = seed_result.stats.to_dict()
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert native(found)
    numbers = {name: value for name, value in found.items() if name not in ("savings_percent", "stages")}
    assert numbers == {name: getattr(seed_result.stats, name) for name in numbers}
    assert set(numbers) == {
        "original_count", "after_threshold", "after_dedup", "after_limit", "clusters_merged", "metadata_only_count",
        "kept_count", "original_tokens", "compressed_tokens", "tokens_saved", "cache_hits", "cache_misses",
    }  # fmt: skip
    assert found["savings_percent"] == round(seed_result.stats.savings_percent, 2)
    assert found["stages"][0] == {
        "name": "threshold", "items_in": 47, "items_out": 23, "note": "≥0.3",
        "milliseconds": seed_result.stages[0].milliseconds,
    }  # fmt: skip


def test_the_metrics_of_a_search():
    counts = dict.fromkeys("after_threshold after_dedup after_limit clusters_merged kept_count".split(), 7)
    stats = Stats(
        **counts, original_count=10, metadata_only_count=3, original_tokens=5_000, compressed_tokens=3_500, stages=()
    )
    assert stats.metrics() == {
        "totalChunks": 10,
        "metadataOnlyChunks": 3,
        "tokensBeforeCompression": 5000,
        "tokensAfterCompression": 3500,
        "tokensSaved": 1500,
        "compressionRate": "30.0%",
    }


# The log


def test_one_line_at_info_says_it_all(caplog):
    with caplog.at_level(logging.INFO, "ctxcompress"):
        result = compress(QUERY, seed_results(), config=CompressionConfig.from_preset("docs_published"))
    (record,) = caplog.records
    stats = result.stats
    assert (record.name, record.levelno) == ("ctxcompress", logging.INFO)
    assert record.getMessage() == (f"47 -> 8 passages, {stats.original_tokens} -> {stats.compressed_tokens} tokens")
    assert record.ctxcompress == stats.to_dict()


def test_without_a_reader_nothing_is_logged_and_the_whole_is_not_counted(caplog):
    seen = []

    def count(text):
        seen.append(text)
        return len(text)

    texts = [f"Only in {name * 5}: words and more words. " * 30 for name in "abc"]
    whole = "\n\n".join(texts)
    with caplog.at_level(logging.WARNING, "ctxcompress"):
        result = compress("words", texts, max_tokens=200, encoding=count, top_n=2)
    assert not caplog.records
    before = seen.count(whole)
    assert result.stats.original_tokens == len(whole)
    assert seen.count(whole) == before + 1
    seen.clear()
    with caplog.at_level(logging.INFO, "ctxcompress"):
        compress("words", texts, max_tokens=200, encoding=count, top_n=2)
    assert seen.count(whole) == before + 1
