"""Calls with feedback, made of real compressions."""

from ctxcompress import Compression, CompressionConfig, Compressor, Passage
from ctxcompress.apps.feedback import FeedbackRecord, Used
from ctxcompress.apps.feedback.call_sheet import CallSheet, ScoredPart
from ctxcompress.data.passages import Span

QUESTION = "what is the default timeout of the client?"
ANSWER = "The default timeout of the client is 30 seconds."
TEXTS = (
    "The client opens a pool of ten connections. " + ANSWER + " Logs are kept for a week on the local disk.",
    "Invoices are settled by bank transfer. Refunds take five working days to arrive on the account.",
    "The server restarts at midnight. The garden is open from nine to five, and on Sundays from ten to four.",
)


def passages(scores: tuple[float | None, ...] = (0.9, 0.45, 0.09)) -> list[Passage]:
    return [Passage(f"p{place}", text, score=scores[place]) for place, text in enumerate(TEXTS)]


def compressed(**options) -> Compression:
    config = CompressionConfig(**{"max_tokens": 30, **options})
    return Compressor(config).compress(QUESTION, passages())


def span_of(text: str) -> tuple[Span, ...]:
    start = TEXTS[0].index(text)
    return (Span(start, start + len(text)),)


def made_up(
    score: float = 1.0, probability: float = 0.5, budget: int = 200, *, missing: bool = False
) -> FeedbackRecord:
    """A record whose evidence is kept up to these limits, out of 10 segments of 100 tokens each."""
    parts = tuple(ScoredPart(0, 10 * n, 10 * n + 10, 100, n / 10, 1000) for n in range(9))
    evidence = ScoredPart(0, 90, 100, 100, probability, budget)
    sheet = CallSheet(1000, 1000, (score, 1.0), (500, 500), (*parts, evidence))
    return FeedbackRecord(sheet, (Used(0, (Span(90, 100),)),), missing, 0.0)
