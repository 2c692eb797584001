"""Finds the part of a message that asks, as people write to assistants: after a greeting, beside thanks and wishes.

"Hi, I am new here and stuck. How do I set the timeout of the pool? Thanks a lot!" asks for the timeout of the pool.
Words of the other sentences occur in texts by accident, so they count for less. They count fully if the question needs
them: "The job fails at night. Why is that?"
"""

import re
from collections.abc import Sequence

from ctxcompress.lazy_regex import lazy_regex

__all__ = ["question_in"]

_QUESTION_WORD = (
    r"(?:who|whom|whose|what|which|when|where|why|how|wer|wen|wem|was|welche[rsnm]?|wann|wo|warum|wieso|wie"
    r"|qui|que|quoi|quel(?:le)?s?|quand|où|pourquoi|comment|quién(?:es)?|qué|cuál(?:es)?|cuándo|dónde|por qué|cómo)\b"
)
_CLOSING = r"[\"'”’)\]]*+"
_END = lazy_regex(
    rf"(?<![!?…])[!?…]++{_CLOSING}\s+|\.{_CLOSING}\s+(?=[\"'“‘(\[¿¡]*+(?:[^\W\da-zß-ÿ]|(?i:{_QUESTION_WORD})))|[。！？]++|\n+"
    r"|\s(?=(?:Please|Thanks?|Bitte|Danke|Merci|Gracias|Por favor)\b)|(?i:\b(?:question|query|frage|pregunta)\s*+:\s)"
)
_MAY_END = lazy_regex(
    rf"[!?….。！？\n:\s](?:(?<=[。！？\n:])|(?<=[!?….]){_CLOSING}\s"
    r"|(?<=\s)(?:Please|Thank|Bitte|Danke|Merci|Gracias|Por favor))"
)
"""What each match of `_END` has, found several times as fast: most queries are one sentence."""
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
_LEAD = lazy_regex(
    r"\W*+(?:(?:(?:hi|hello|hey|hallo|bonjour|salut|hola|ciao)(?: there| all| everyone| team)?"
    r"|dear [\w ]{1,30}?|guten (?:tag|morgen|abend)|good (?:morning|afternoon|evening))[,!:] "
    r"|(?:user|human|customer|question|quick (?:one|question)|frage)\s?: ?"
    r"|(?:um+|uh+)(?: (?:so|like|yeah|well|ok|just|basically)){0,4},? |(?:so|well|ok(?:ay)?|also), |(?:please|pls),? "
    r"|(?:can|could|would|will) you (?:please |kindly |maybe )?(?:tell me|explain|show me|help me understand),? "
    r"|(?:i (?:want|wanted|would like|need|have) to (?:know|ask)|i['’]d like to (?:know|ask)"
    r"|what i (?:want|wanted) to ask is|i was wondering|do you know|tell me|(?:any|some)one know)[,:]? )",
    re.IGNORECASE,
)
"""What people put before a question in the same sentence."""
_MOST_LEADS = 6
_REFERS = frozenset(
    "this that these those it its they them their theirs he him his she her hers one ones there then such same former "
    "latter so dies diese dieser dieses das es er sie ihr ihm ihn sein seine dort da ce cet cette ces cela il elle ils "
    "elles leur leurs son sa ses lui esto esta este estos estas eso esa ese él ella ellos ellas su sus lo la".split()
)
"""Words that refer to what was said before."""
_FEWEST = 3
"""Words of a question that can stand alone."""
_WORD = lazy_regex(r"\w+")


def question_in(query: str) -> str:
    """Return the sentences of a query that ask, if they can be understood without the others; else the whole query.

    These are the sentences that end with a question mark; without any, those that begin with a question word; without
    those, too, all but greetings, thanks and what is said about the writer or the answer.
    """
    sentences = _sentences(query)
    question = " ".join(map(_without_lead, _asking(sentences) if len(sentences) > 1 else sentences))
    if question == query:
        return query
    words = [word.lower() for word in _WORD.findall(question)]
    return query if len(words) < _FEWEST or not _REFERS.isdisjoint(words) else question


def _without_lead(sentence: str) -> str:
    """Return a sentence without what is before its question: "Hello, could you tell me"."""
    for _ in range(_MOST_LEADS):
        lead = _LEAD.match(sentence)
        if lead is None or not sentence[lead.end() :].strip():
            break
        sentence = sentence[lead.end() :]
    return sentence


def _asking(sentences: Sequence[str]) -> list[str]:
    found = [each for each in sentences if _MARK.search(each)] or [each for each in sentences if _ASKS.match(each)]
    return found or [each for each in sentences if not _COURTESY.match(each)]


def _sentences(query: str) -> list[str]:
    ends = [match.end() for match in _END.finditer(query)] if _MAY_END.search(query) else []
    pairs = zip([0, *ends], [*ends, len(query)], strict=True)
    return [part for start, end in pairs if (part := query[start:end].strip())]
