"""Finds the part of a message that asks, as people write to assistants: after a greeting, beside thanks and wishes.

"Hi, I am new here and stuck. How do I set the timeout of the pool? Thanks a lot!" asks for the timeout of the pool.
Words of the other sentences occur in texts by accident, so they count for less. They count fully if the question needs
them: "The job fails at night. Why is that?"
"""

import re
from collections.abc import Sequence

from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.text.words import WORD

__all__ = ["QUESTION_MARKS", "REFERENCES", "numbered_questions", "question_in", "questions_in", "without_courtesy"]

_QUESTION_WORD = (
    r"(?:who|whom|whose|what|which|when|where|why|how|wer|wen|wem|was|welche[rsnm]?|wann|wo|warum|wieso|wie"
    r"|qui|que|quoi|quel(?:le)?s?|quand|où|pourquoi|comment|quién(?:es)?|qué|cuál(?:es)?|cuándo|dónde|por qué|cómo)\b"
)
_CLOSING = r"[\"'”’)\]]*+"
_END = lazy_regex(
    rf"(?<![!?؟…])[!?؟…]++{_CLOSING}\s+|\.{_CLOSING}\s+(?=[\"'“‘(\[¿¡]*+(?:[^\W\da-zß-ÿ]|(?i:{_QUESTION_WORD})))|[。！？]++|\n+"
    r"|\s(?=(?:Please|Thanks?|Bitte|Danke|Merci|Gracias|Por favor)\b)|(?i:\b(?:question|query|frage|pregunta)\s*+:\s)"
)
_MARK = lazy_regex(rf"[?？؟]{_CLOSING}\s*+\Z")
_ASKS = lazy_regex(rf"[\"'“(¿]*+{_QUESTION_WORD}", re.IGNORECASE)
_COURTESY = lazy_regex(
    r"\W*+(?:hi|hello|hey|dear|greetings|good (?:morning|afternoon|evening|day)|thanks?|thx|cheers|sorry|please|pls"
    r"|kindly|best|kind|regards|i hope|i am|i['’]m|i have|i['’]ve|you are|you['’]re|as an?|answer|respond|reply|cite"
    r"|keep|be|use|only|do not|don['’]t|hallo|guten|danke|vielen dank|bitte|ich bin|ich habe|du bist|antworte|bonjour"
    r"|salut|merci|s'il|je suis|tu es|hola|buen[oa]s|gracias|por favor|soy|estoy|eres|ciao|grazie|olá|obrigad[oa])\b",
    re.IGNORECASE,
)
"""How sentences begin that greet, thank, tell about the writer, or say what the answer should be like."""
_GREETING = (
    r"(?:(?:hi|hello|hey|hallo|bonjour|salut|hola|ciao)(?: there| all| everyone| team)?"
    r"|dear [\w ]{1,30}?|guten (?:tag|morgen|abend)|good (?:morning|afternoon|evening))"
)
_LEAD = lazy_regex(
    rf"\W*+(?:{_GREETING}[,!:] "
    r"|(?:user|human|customer|question|quick (?:one|question)|frage)\s?: ?"
    r"|(?:um+|uh+)(?: (?:so|like|yeah|well|ok|just|basically)){0,4},? |(?:so|well|ok(?:ay)?|also), |(?:please|pls),? "
    r"|(?:can|could|would|will) you (?:please |kindly |maybe )?(?:tell me|explain|show me|help me understand),? "
    r"|(?:i (?:want|wanted|would like|need|have) to (?:know|ask)|i['’]d like to (?:know|ask)"
    r"|what i (?:want|wanted) to ask is|i was wondering|do you know|tell me|(?:any|some)one know)[,:]? )",
    re.IGNORECASE,
)
"""What people put before a question in the same sentence."""
_AFTER_QUESTION = lazy_regex(
    r",\s*+(?:please|pls|thanks|thank you|thx|bitte|danke|vielen dank|merci|s'il vous pla[iî]t|por favor|gracias"
    r"|per favore|grazie|obrigad[oa])(?: \w+){0,4}+(?P<end>\W*+)\Z",
    re.IGNORECASE,
)
_MOST_LEADS = 6
REFERENCES = frozenset(
    "this that these those it its they them their theirs he him his she her hers one ones there then such same former "
    "latter so dies diese dieser dieses das es er sie ihr ihm ihn sein seine dort da dessen deren davon dafür "
    "dazu ce cet cette ces cela il elle ils elles leur leurs son sa ses lui esto esta este estos estas eso esa ese él "
    "ella ellos ellas su sus lo la questo questa questi queste quello quella suo sua suoi sue loro entrambi isso isto "
    "essa esse ele ela eles elas dele dela seu ambos он она оно они его её ее их ему этот эта это эти этого этой оба "
    "onu onun ona bu bunu bunun bunlar şu هو هي هم هذا هذه ذلك تلك كلاهما यह वह ये वे इस उस इसे उसे इसका उसका दोनों".split()
)
_EXISTS = lazy_regex(
    r"\b(?:(?:is|are|was|were) there|(?:is|was) it possible|gibt es|ist es möglich|est-ce|qu'est-ce|y a-t-il)\b",
    re.IGNORECASE,
)
"""Words that only seem to refer to something."""
_MOST_QUESTIONS = 8
"""The most questions of a query that are answered apart, which limits the cost of a long one."""
_ITEM = lazy_regex(r"(?<!\S)\(?(\d{1,2})[.)]\s++(?=\S)")
"""The number before a question of a list."""
_MOST_OF_COURTESY, _FEWEST = 5, 3
"""Words of a sentence that only greets, thanks or wishes, and of a question that can stand alone."""
QUESTION_MARKS = "?\uff1f\u061f"


def question_in(query: str) -> str:
    """Return the sentences of a query that ask, if they can be understood without the others; else the whole query.

    These are the sentences that end with a question mark. If there are none, they are those that begin with a question
    word. If there are none of these either, they are all but greetings, thanks and what is said about the writer or
    the answer.
    """
    sentences = _sentences(query)
    question = " ".join(map(_without_lead, _asking(sentences) if len(sentences) > 1 else sentences))
    if question == query:
        return query
    return question if _stands_alone(question) else query


def questions_in(query: str) -> tuple[str, ...]:
    """Return the questions of a query that each want an answer of their own; the whole query if there is only one.

    What is said between the questions stays with the one that follows. A question that refers to the one before ("And
    when did she die?") stays with it. The questions of a numbered list come without their numbers, each with the words
    before the list.
    """
    numbered = numbered_questions(query)
    if 1 < len(numbered) <= _MOST_QUESTIONS:
        return numbered
    if "\n" not in query and sum(map(query.count, QUESTION_MARKS)) < 2:
        return (query,)
    sentences = _sentences(query)
    asking, found, between = set(_asking(sentences)), list[str](), ""
    for sentence in sentences:
        between = f"{between} {sentence}".strip()
        if sentence not in asking:
            continue
        if found and (len(found) == _MOST_QUESTIONS or not _stands_alone(_without_lead(sentence))):
            between = f"{found.pop()} {between}"
        found.append(between)
        between = ""
    if found and between:
        found[-1] = f"{found[-1]} {between}"
    return tuple(found) if len(found) > 1 else (query,)


def numbered_questions(query: str) -> tuple[str, ...]:
    """Return the parts of a list such as "1) ... 2) ...", each with the words before the list; () without a list."""
    items: list[re.Match[str]] = []
    for match in _ITEM.finditer(query):
        if int(match[1]) == len(items) + 1:
            items.append(match)
    if len(items) < 2:
        return ()
    before = "" if _only_wishes(query[: items[0].start()]) else query[: items[0].start()].strip()
    ends = [match.start() for match in items[1:]] + [len(query)]
    parts = [query[match.end() : end].strip() for match, end in zip(items, ends, strict=True)]
    if not all(REFERENCES.isdisjoint(map(str.lower, WORD.findall(part))) for part in parts[1:]):
        return ()
    is_list = all(" " in part or _MARK.search(part) for part in parts)  # unlike "is 1) or 2) better"
    return tuple(f"{before} {part}".strip() for part in parts) if is_list else ()


def without_courtesy(query: str) -> str:
    """Return a query without greetings, thanks and wishes; the whole query if it has hardly anything else.

    Longer sentences stay, also those that ask nothing: they may say what the question is about.
    """
    sentences = _sentences(query)
    left = [each for each in sentences if not (_only_wishes(each) and len(WORD.findall(each)) <= _MOST_OF_COURTESY)]
    bare = _AFTER_QUESTION.sub(r"\g<end>", " ".join(map(_without_lead, left)))
    return bare if len(WORD.findall(bare)) >= _FEWEST else query


def _only_wishes(text: str) -> bool:
    return not _MARK.search(text.rstrip()) and _COURTESY.match(text) is not None


def _without_lead(sentence: str) -> str:
    """Return a sentence without what is before its question: "Hello, could you tell me"."""
    for _ in range(_MOST_LEADS):
        lead = _LEAD.match(sentence)
        if lead is None or not sentence[lead.end() :].strip():
            break
        sentence = sentence[lead.end() :]
    return sentence


def _stands_alone(question: str) -> bool:
    """Tell whether a question can be understood without what was said before it."""
    words = [word.lower() for word in WORD.findall(_EXISTS.sub(" ", question))]
    return len(words) >= _FEWEST and REFERENCES.isdisjoint(words)


def _asking(sentences: Sequence[str]) -> list[str]:
    asking = [each for each in sentences if _MARK.search(each) or _ASKS.match(each)]
    if any(map(_MARK.search, asking)):  # people omit the last mark, but not before a full stop: "How odd. Who did it?"
        return [each for each in asking if _MARK.search(each) or not each.endswith((".", "!"))]
    return asking or [each for each in sentences if not _COURTESY.match(each)]


def _sentences(query: str) -> list[str]:
    ends = [match.end() for match in _END.finditer(query)]
    pairs = zip([0, *ends], [*ends, len(query)], strict=True)
    return [part for start, end in pairs if (part := query[start:end].strip())]
