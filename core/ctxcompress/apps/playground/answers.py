"""Answers a request of the page: the compression with its settings, as fragments of the page and as texts."""

from time import perf_counter

from ctxcompress.apps.playground import Source
from ctxcompress.apps.playground.settings import Settings
from ctxcompress.apps.prices import InputPrice
from ctxcompress.apps.xray.collect import collect_xray
from ctxcompress.apps.xray.facts import MEANING, Facts
from ctxcompress.apps.xray.html import Html, element
from ctxcompress.apps.xray.page import cards, final_text, number, numbers
from ctxcompress.compressor import Compressor
from ctxcompress.config.options import Preset
from ctxcompress.config.presets import PRESETS
from ctxcompress.data.metadata import as_number
from ctxcompress.data.results import Compression

__all__ = ["answer"]

_NOTHING_ASKED = "Without a question, the first passages are kept."
_NOTHING_FOUND = "No text in this folder has words of the question."
_ASK_FIRST = "Ask a question to find passages in this folder."
_NOTHING_KEPT = "Nothing is kept with these settings."
_NO_SCORES = "Most of this preset judges scores of a retriever, which these texts do not have: it changes little here."
_OF_SCORES = frozenset(("min_score", "metadata_only"))
"""Options that do nothing without scores of a retriever."""


def answer(source: Source, given: object, price: InputPrice | None = None) -> dict[str, object]:
    """Compress what the source has for the question of the request, with its settings.

    The fragments are those of the x-ray page, whose style sheet they need. price: that of the language model, to say
    what is saved. Raises CtxCompressError.
    """
    settings = Settings.read(given)
    config, passages = settings.config, source(settings.query)
    begin = perf_counter()
    result = Compressor(config).compress(settings.query, passages)
    milliseconds = 1_000 * (perf_counter() - begin)
    facts = collect_xray(result, config)
    return {
        "text": result.text,
        "stats": {
            "tokens_in": facts.tokens_in,
            "tokens": result.tokens,
            "max_tokens": result.max_tokens,
            "saved": 1 - result.tokens / facts.tokens_in if facts.tokens_in else 0.0,
            "milliseconds": milliseconds,
        },
        "note": _note(result, settings.preset),
        "html": _fragments(facts, milliseconds, price),
        "exports": settings.exports(),
    }


def _fragments(facts: Facts, milliseconds: float, price: InputPrice | None) -> dict[str, str]:
    """Return what the page shows, by its places there; places for which there is nothing are empty."""
    reasons = ((element("bdi", {"class": "why"}, reason.value), MEANING[reason], " ") for reason in facts.reasons)
    meanings = element("p", {"class": "reasons"}, *(part for reason in reasons for part in reason))
    time = number(f"{milliseconds:,.0f}", "ms", "to compress")
    found: dict[str, str] = {
        "numbers": numbers(facts, *([] if price is None else [_money(facts, price)]), time),
        "text": final_text(facts) if facts.compression.text else "",
        "passages": Html.of((meanings, cards(facts))),
    }
    return found if facts.passages else dict.fromkeys(found, "")


def _money(facts: Facts, price: InputPrice) -> Html:
    found = price.saving([(facts.tokens_in, facts.compression.tokens)], 1_000)
    of = f"of ${found.before:,.2f} saved"
    return number(f"${found.before - found.after:,.2f}", of, f"{found.calls:,} calls of {found.model}")


def _note(result: Compression, preset: Preset | None) -> str:
    """Say why the page shows less than one may expect; "" if there is nothing to say."""
    if not result.input_count:
        return _NOTHING_FOUND if result.query.strip() else _ASK_FIRST
    if not result.text:
        return _NOTHING_KEPT
    if not result.query.strip():
        return _NOTHING_ASKED
    has_scores = any(as_number(passage.score) is not None for passage in result.input_passages())
    return _NO_SCORES if preset and _OF_SCORES & {*PRESETS[preset]} and not has_scores else ""
