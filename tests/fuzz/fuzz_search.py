"""Search results of any shape: what fits comes back in its shape, or an error of ours."""

from fuzzing import json_changed, json_of, read

from ctxcompress.apps.search import compress_search_results
from ctxcompress.errors import CtxCompressError

mutate = json_changed(
    *(
        "url",
        "link",
        "href",
        "content",
        "raw_content",
        "snippet",
        "body",
        "description",
        "extra_snippets",
        "text",
        "title",
    ),
    *(
        "highlights",
        "highlight_scores",
        "summary",
        "score",
        "results",
        "items",
        "organic",
        "web",
        "https://a.b/c",
        "id",
    ),
)


def check(data: bytes) -> None:
    given, value = read(data), json_of(data)
    results = given.text if value is None or given.choice % 3 == 0 else value
    budget = given.budget if given.choice % 2 else None
    before = repr(results)
    try:
        found = compress_search_results(results, given.query, max_tokens=budget)
    except CtxCompressError:
        return
    assert repr(results) == before
    assert budget is None or found.compressed_tokens <= budget
    assert found.compressed_count <= found.original_count
    assert type(found.results) is type(results)
