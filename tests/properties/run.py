"""Check the rules on many cases: `nox -s properties -- N [first seed]`. Two processes do it.

A failure prints the seed and the rule; `nox -s properties -- 1 SEED` does it again, and prints the case.
"""

import copy
import faulthandler
import json
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from typing import Any, NamedTuple

import regex
from accounts import assert_partition, assert_shown
from property_cases import TOKENIZERS, Case
from pydantic import ValidationError
from structures import is_whole, may_be_broken

from ctxcompress import Compression, CompressionConfig, Compressor, Passage
from ctxcompress.data.metadata import passage_from_metadata
from ctxcompress.errors import BudgetTooSmall, ConfigError, CtxCompressError
from ctxcompress.text.tokens import TokenCounter

_AT_ONCE, _LONGEST = 100, 120
"""Cases, and the seconds after which they are taken to hang: where is printed then."""


class Done(NamedTuple):
    """What became of some cases."""

    ways: Counter[str]
    failures: list[tuple[int, str, str]]
    """Seed, entry and what was wrong."""


def passages_of(case: Case) -> list[Passage]:
    """Return the passages of a case."""
    parts = enumerate(zip(case.texts, case.metadata, case.scores, strict=True))
    return [passage_from_metadata(f"p{n}", text, about, score=score) for n, (text, about, score) in parts]


def check_core(case: Case) -> str:
    """Check the rules through the core, and return what the case came to."""
    try:
        config = CompressionConfig(encoding=TOKENIZERS[case.tokenizer], **case.options)
    except ConfigError:
        return "refused"
    given = passages_of(case)
    before = repr(given)
    compressor, count = Compressor(config), TokenCounter(TOKENIZERS[case.tokenizer])
    try:
        result = compressor.compress(case.query, given)
    except BudgetTooSmall:  # rule 7: nothing else
        return "too small"
    assert repr(given) == before, "rule 6: an input is changed"
    assert result.tokens == count(result.text) <= config.budget, "rule 1: the budget"
    assert compressor.compress(case.query, passages_of(case)) == result, "rule 6: another result"
    _check_verbatim(result, case, config)
    assert_partition(result, list(case.texts))
    assert all(part.original is given[part.index] for part in result.passages), "rule 5: another passage"
    _check_fits(result, case, config, count)
    _check_headers(result, config)
    _check_structure(result, case, config)
    return "checked"


def _check_verbatim(result: Compression, case: Case, config: CompressionConfig) -> None:
    indices = [part.index for part in result.passages]
    assert len(indices) == len(set(indices))
    assert config.order != "source" or indices == sorted(indices), "rule 2: the order"
    for part in result.passages:
        assert_shown(part, case.texts[part.index])
        # Markup is cut at its tags, also where a combining mark follows one.
        starts = {match.start() for match in regex.finditer(r"\X", case.texts[part.index])} | {
            len(case.texts[part.index])
        }
        cuts = {offset for span in part.spans for offset in span} - starts
        assert all(case.texts[part.index][offset - 1] == ">" for offset in cuts), "rule 2: within a grapheme"


def _filters(config: CompressionConfig) -> bool:
    return config.without_filters() != config or bool(config.adaptive) or config.format == "preview"


def _check_fits(result: Compression, case: Case, config: CompressionConfig, count: TokenCounter) -> None:
    if _filters(config):
        return
    if config.format == "plain" and config.order == "source":
        whole = config.separator.join(case.texts)
        assert count(whole) > config.budget or result.text == whole, "rule 3: what fits is changed"
        again = Compressor(config.with_options(must_keep=())).compress(
            case.query, [part.text for part in result.passages]
        )
        assert config.must_keep or again.text == result.text, "rule 3: compressed again"


@cache
def _header_readers() -> Any:
    import format_readers

    return format_readers


def _check_headers(result: Compression, config: CompressionConfig) -> None:
    readers, number = _header_readers(), len(result.passages)
    match config.format:
        case "compact":
            assert len(readers.parse_compact(result.text)) == number, "rule 8: a header"
        case "verbose":
            assert len(readers.VERBOSE_HEADER.findall(result.text)) == number, "rule 8: a header"
        case "json" if result.text:
            assert len(json.loads(result.text)["passages"]) == number, "rule 8: a passage"
        case "xml" if result.text:
            tags = [bool("/" in match[1]) for match in readers.TAG.finditer(result.text)]
            assert tags == [False, *[False, True] * number, True], "rule 8: an element"


def _check_structure(result: Compression, case: Case, config: CompressionConfig) -> None:
    whole = config == CompressionConfig(max_tokens=config.max_tokens, encoding=config.encoding)
    if not whole or len(case.texts) != 1 or case.tokenizer != "o200k_base":
        return
    text, budget = case.texts[0], config.budget
    for form, start in (("JSON", "["), ("XML", "<shop>")):
        if text.startswith(start) and is_whole(form, text):
            assert is_whole(form, result.text) or may_be_broken(form, text, budget), f"rule 10: {form}"


def _framework(way: Any) -> Callable[[Case], str]:
    """Return the check of the same through a framework."""

    def check(case: Case) -> str:
        parts = enumerate(zip(case.texts, case.metadata, strict=True))
        items = [
            way.item(text, f"p{n}", metadata=copy.deepcopy(about), score=case.scores[n]) for n, (text, about) in parts
        ]
        before, encoding = copy.deepcopy(items), TOKENIZERS[case.tokenizer]
        try:
            component = way.component(encoding=encoding, **case.options)
        except (CtxCompressError, ValidationError):
            return "refused"
        try:
            kept = way.compress(component, items, case.query)
        except BudgetTooSmall:  # rule 7: nothing else
            return "too small"
        assert repr(items) == repr(before), "rule 6: an input is changed"
        assert all(one is not other for one in kept for other in items), "rule 6: an item is shared"
        records = [way.record(item) for item in kept]
        if case.options.get("format", "plain") == "plain" and "separator" not in case.options:
            counted = TokenCounter(encoding)(way.shown(kept))
            assert counted <= case.options["max_tokens"], "rule 1: the budget"
        for item, record in zip(kept, records, strict=True):
            if "metadata_only" not in record:
                pieces = [case.texts[record["index"]][start:end] for start, end in record["spans"]]
                for place, marker in reversed(record.get("markers", ())):
                    pieces.insert(place, marker)
                assert way.text(item) == "".join(pieces), "rule 2: verbatim"
        return "checked"

    return check


@cache
def _ways() -> dict[str, Callable[[Case], str]]:
    import langchain_way
    import llamaindex_way

    return {
        "core": check_core,
        "LangChain": _framework(langchain_way.WAY),
        "LlamaIndex": _framework(llamaindex_way.WAY),
    }


def check(seeds: Iterable[int]) -> Done:
    """Check the cases of some seeds. Two of three go through the core."""
    warnings.simplefilter("ignore")
    done = Done(Counter(), [])
    faulthandler.dump_traceback_later(_LONGEST)
    for seed in seeds:
        entry = ("core", "core", "core", "core", "LangChain", "LlamaIndex")[seed % 6]
        try:
            done.ways[f"{entry} {_ways()[entry](Case.of(seed))}"] += 1
        except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
            where = traceback.extract_tb(error.__traceback__)[-1]
            done.failures.append((seed, entry, f"{type(error).__name__} {error!s:.200} ({where.name}:{where.lineno})"))
    faulthandler.cancel_dump_traceback_later()
    return done


def checked(first: int, number: int) -> Iterator[Done]:
    """Yield what became of the cases, some at a time."""
    starts = range(first, first + number, _AT_ONCE)
    with ProcessPoolExecutor(2) as processes:
        yield from processes.map(check, (range(n, min(n + _AT_ONCE, first + number)) for n in starts))


def main(number: int, first: int = 0) -> int:
    """Check so many cases, and return the number of failures."""
    total, failures, since = Counter[str](), 0, time.monotonic()
    if number == 1:
        print(Case.of(first))
    for done in checked(first, number):
        total += done.ways
        for seed, entry, wrong in done.failures:
            failures += 1
            print(f"seed {seed} ({entry}): {wrong}", flush=True)
    print(f"{number} cases in {time.monotonic() - since:.0f} s, {failures} failures: {dict(total)}")
    return failures


if __name__ == "__main__":
    sys.exit(min(main(*map(int, sys.argv[1:])), 1))
