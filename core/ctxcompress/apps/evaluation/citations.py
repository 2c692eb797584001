"""Evidence from citations: what an answer over the whole context rests on, for questions that nobody has marked.

    questions = respond(questions, model, retrieve=retrieve)
    report = evaluate(questions, retrieve=retrieve)

What an answer quotes is evidence, and a passage that it cites by number is a relevant document. That is weaker than
what people have marked: it measures agreement with a reader of the whole context, who can be wrong.
"""

import asyncio
from collections.abc import Iterable, MutableMapping, Sequence
from dataclasses import replace
from typing import Any

from ctxcompress.apps.evaluation.answering import Progress, Reader, together
from ctxcompress.apps.evaluation.questions import Question, Retrieve, passages_of
from ctxcompress.apps.feedback.answer_quotes import used_by_answer
from ctxcompress.data.passages import Passage, Span
from ctxcompress.data.results import KeptPassage

__all__ = ["cited", "respond"]

_PROMPT = """Answer the question from the passages alone, in one or two sentences.
After each sentence cite the passage that says so by its number in brackets, such as [2].
If the passages do not say it, answer: unknown

Passages:
{passages}

Question: {question}
Answer:"""


def cited(question: Question, passages: Sequence[Passage]) -> Question:
    """Return the question with what its response cites as evidence, if there is nothing else to look for.

    Passages are cited by their position, from 1.
    """
    if question.is_judged:
        return question
    parts = []
    for number, passage in enumerate(passages):  # of each everything is kept
        whole = (Span(0, len(passage.text)),) if passage.text else ()
        parts.append(
            KeptPassage(number, passage, passage.text, whole, tokens=0, relevance=1.0, metadata_only=not whole)
        )
    found = used_by_answer(question.response, parts, numbered=True)
    used = [(passages[each.passage].text, each.spans) for each in found]
    return replace(
        question,
        evidence=[text[start:end] for text, spans in used for start, end in spans or ()],
        documents=[text for text, spans in used if spans is None],
    )


def respond(
    questions: Iterable[Question],
    model: Any,
    *,
    retrieve: Retrieve | None = None,
    store: MutableMapping[str, bytes] | None = None,
    at_once: int = 8,
    progress: Progress | None = None,
) -> list[Question]:
    """Have a language model answer the questions that have nothing to look for, citing the passages by number.

    retrieve: the function that `evaluate` is given, too: it must return the same passages in the same order. For the
    others see `answer`; as that, it is for where no event loop is running. Raises InputError if a question has no
    passages, and what the model raises.
    """
    asked = [*questions]
    silent = [number for number, question in enumerate(asked) if not (question.is_judged or question.response)]
    prompts = []
    for each in (asked[number] for number in silent):
        passages = enumerate(passages_of(each, retrieve), 1)
        numbered = "\n\n".join(f"[{number}] {passage.text}" for number, passage in passages)
        prompts.append(_PROMPT.format(passages=numbered, question=each.query))
    responses = asyncio.run(_responses(Reader(model, store, asyncio.Semaphore(at_once)), prompts, progress))
    for number, response in zip(silent, responses, strict=True):
        asked[number] = replace(asked[number], response=response)
    return asked


async def _responses(reader: Reader, prompts: Sequence[str], progress: Progress | None) -> list[str]:
    return await together([reader.answer(prompt) for prompt in prompts], progress)
