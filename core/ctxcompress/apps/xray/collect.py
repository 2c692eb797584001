"""Collects the facts for the X-ray page of a compression.

A compression does not store the scores of its segments, so they are computed again in the same way.
"""

from collections.abc import Mapping, Sequence

from ctxcompress.apps.prices import InputPrice
from ctxcompress.apps.xray.facts import Facts, Scored
from ctxcompress.config.options import CompressionConfig
from ctxcompress.data.must_keep import Finds
from ctxcompress.data.passages import Passage, Span
from ctxcompress.data.results import Compression
from ctxcompress.data.table import Floats
from ctxcompress.pipeline.analysis import Analysis
from ctxcompress.pipeline.pipeline import analysed_again
from ctxcompress.pipeline.scoring import score_segments
from ctxcompress.pipeline.task import resolve_auto_budget
from ctxcompress.query.complexity import classify_complexity, classify_intent
from ctxcompress.text.tokens import TokenCounter

__all__ = ["collect_xray"]

_PROBABILITY, _SHARE = ("the probability that it is needed", 3), ("as a share of the best one", 1)
"""What scores are, and the exponent of the levels. Most probabilities are small, so small ones get more levels."""


def collect_xray(
    compression: Compression, config: CompressionConfig, *, asks_encoder: bool = True, price: InputPrice | None = None
) -> Facts:
    """Collect the facts about a compression that was made with these options.

    asks_encoder: whether to ask the encoder, if there is one, for its part of the scores. price: that of the language
    model, to say what is saved. Raises what the encoder raises, and CtxCompressError if the tokenizer cannot count a
    text.
    """
    config = resolve_auto_budget(compression.query, config)
    of_scores = config if asks_encoder or config.own_encoder is None else config.with_options(encoder=None)
    passages, tokens_in = compression.input_passages(), compression.original.tokens()
    saved = [("money saved", price.saving([(tokens_in, compression.tokens)], 1_000).summary())] if price else []
    scale, power = _PROBABILITY if config.scorer == "evidence" else _SHARE
    return Facts(
        compression=compression,
        passages=passages,
        tokens_in=tokens_in,
        question=_question(compression.query, config),
        options=[*_options(compression, config, asks_encoder=asks_encoder), *saved],
        scores=_scores(compression.query, passages, of_scores, fits=tokens_in <= compression.max_tokens),
        scale=scale,
        levels=[(level / 10) ** power for level in range(10)],
        count=TokenCounter(config.encoding),
        required=Finds.of(config.must_keep, dict(enumerate(passages))).spans,
    )


def _scores(
    query: str, passages: Sequence[Passage], config: CompressionConfig, *, fits: bool
) -> Mapping[int, Sequence[Scored]]:
    """Return number of a passage -> its segments in order with their scores, from 0 to 1.

    The scorer "evidence" gives probabilities, others shares of the best score. A passage that was dropped whole before
    segments were scored has none. fits: whether the passages fit into the budget unchanged.
    """
    again = analysed_again(query, passages, config, fits=fits)
    documents, analysis = again.documents, again.analysis
    scored = score_segments((query,), again, config)
    best = float(scored.scores.max(initial=0.0)) if config.scorer != "evidence" else 1.0
    found: dict[int, list[Scored]] = {}
    table = analysis.table
    along = _along(analysis, scored.scores)
    for document, segment, score, why in zip(
        table.document, table.segments, scored.scores.tolist(), along, strict=True
    ):
        for passage, spans in documents[document].of_passages([Span(segment.start, segment.end)]).items():
            found.setdefault(passage, []).extend(Scored(span, score / best if best else 0.0, why) for span in spans)
    return {passage: sorted(of_passage) for passage, of_passage in found.items()}


def _along(analysis: Analysis, scores: Floats) -> list[str]:
    """Return for each segment why it may come along with one that has a better score; "" if it would not."""
    found = ["completes" if gain > 0 else "" for gain in (analysis.completions.shared(scores) - scores).tolist()]
    structure = analysis.structure
    above = zip(analysis.table.above, structure.announcement, structure.antecedent, strict=True)
    for number, sentences in enumerate(above):
        for other in (*analysis.table.needs(number), *sentences):
            if other >= 0 and scores[other] < scores[number]:
                found[other] = "needed"
    return found


def _question(query: str, config: CompressionConfig) -> list[tuple[str, str]]:
    if not query.strip():
        return []
    complexity = classify_complexity(query, language=config.language)
    intent = classify_intent(query, language=config.language)
    searches = "one search" if complexity.sub_query_count == 1 else f"{complexity.sub_query_count} searches"
    return [
        ("complexity", _with_reasons(f"{complexity.level}, {searches}", complexity.reasons)),
        ("intent", _with_reasons(str(intent.intent), intent.reasons)),
    ]


def _options(compression: Compression, config: CompressionConfig, *, asks_encoder: bool) -> list[tuple[str, str]]:
    encoding = config.encoding if isinstance(config.encoding, str) else "a function"
    encoder = "" if config.own_encoder is None else f" with {type(config.own_encoder).__name__}"
    if encoder and not asks_encoder:
        encoder += ", which was not asked again: scores of words alone"
    took = sum(stage.milliseconds for stage in compression.stages)
    return [
        ("scorer", f"{config.scorer}{encoder}"),
        ("tokens of", encoding),
        ("output", f"{config.format}, {config.order} order"),
        ("time", f"{took:.1f} ms in stages"),
    ]


def _with_reasons(value: str, reasons: Sequence[str]) -> str:
    return f"{value} ({'; '.join(reasons)})" if reasons else value
