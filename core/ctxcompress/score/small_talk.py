"""Turns without content, such as "ok", "lol", "good morning" or a thumb; and replies.

A chat is full of small talk. If the query names its speaker, it looks as likely as the turn that answers. A reply is no
small talk: after a question, "yes" may be the answer, and it may come a turn or two later.
"""

from collections import Counter
from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from ctxcompress.data.passages import Kind
from ctxcompress.data.table import Floats
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.score.corpus import Corpus
from ctxcompress.score.matches import Matches

__all__ = ["asks", "with_replies", "without_small_talk"]

_TURN = Kind.TURN  # ten times as fast as an attribute of an enum
_MARK = lazy_regex(r"[?\uff1f\u061f]")
_WORDS = frozenset(
    """
    ok okay okey k kk okie yes yeah yep yup yea ya no nope nah sure alright right fine good great nice cool awesome
    super perfect wow lol lmao rofl haha hahaha hehe hihi ha hm hmm mhm ah oh uh um aha thanks thank thankyou thx ty
    tysm np welcome please pls sorry hi hello hey heya hiya yo bye goodbye ciao cheers morning afternoon evening night
    day gm gn weekend see soon later tomorrow brb afk bbl gtg omg btw tbh idk ikr same agreed exactly indeed congrats
    congratulations happy birthday all everyone guys folks team really much very lot well dear
    danke bitte gerne ja nein nee jo moin hallo guten gute morgen abend nacht tag tschüss genau klar gut super merci oui
    non bonjour bonsoir salut bonne nuit soirée journée d'accord gracias vale sí hola buenos buenas días tardes noches
    adiós jaja jajaja grazie sì buongiorno obrigado obrigada sim não oi olá bom dia boa noite kkk
    """.split()
)
"""What people say to each other to be polite, beside function words."""
_LONGEST = 6
"""Words: a longer turn has content."""
_REPEATED = 3
"""A turn of few words that is said this many times has none."""
_FEW = 3
_SHARES = (0.5, 0.25, 0.125)
"""How likely the first, the second and the third turn after a question are needed, if the question is."""


def asks(corpus: Corpus) -> Floats:
    """Return 1 for each unit that asks, else 0."""
    found = np.zeros(corpus.units.continues.size)
    marked = np.array([_MARK.search(text) is not None for text in corpus.texts], dtype=bool)
    found[corpus.units.number[marked]] = 1.0
    return found


def without_small_talk(corpus: Corpus, matches: Matches, ignored: Collection[str], probability: Floats) -> Floats:
    """Return the probabilities, those of small talk of a speaker in the query no higher than that of any other turn.

    ignored: the function words of the language.
    """
    if not matches.own.unit.size:
        return probability
    turns = _turns(corpus)
    idle = turns & _idle(corpus, matches, ignored)
    others = turns & ~idle
    if not idle.any() or not others.any():
        return probability
    return np.where(idle, np.minimum(probability, probability[others].min()), probability)


def with_replies(corpus: Corpus, likelihoods: Floats) -> Floats:
    """Return the likelihoods, those of the turns after a question no less than a share of the question's.

    A reply may share no word with what asks for it, and somebody may say something else between the two.
    """
    if _TURN not in corpus.table.kinds:
        return likelihoods
    units = corpus.units
    heard = np.zeros(units.continues.size)
    np.maximum.at(heard, units.number, likelihoods)
    heard *= asks(corpus)
    found = np.zeros(heard.size)
    for share in _SHARES:
        heard = units.before(heard)
        found = np.maximum(found, share * heard)
    return np.where(_turns(corpus), np.maximum(likelihoods, found[units.number]), likelihoods)


def _turns(corpus: Corpus) -> NDArray[np.bool_]:
    return np.fromiter((segment[0] is _TURN for segment in corpus.segments), bool, len(corpus.segments))


def _idle(corpus: Corpus, matches: Matches, ignored: Collection[str]) -> NDArray[np.bool_]:
    """Tell which segments of speakers in the query have no content and answer no question."""
    said = [tuple(map(str.lower, words)) if len(words) <= _LONGEST else None for words in corpus.words]
    times = Counter(words for words in said if words and len(words) <= _FEW)
    idle = np.zeros(len(said), dtype=bool)
    for number in set(matches.own.unit.tolist()).difference(matches.body.unit.tolist()):
        words = said[number]
        idle[number] = words is not None and (times[words] >= _REPEATED or _is_empty(words, ignored))
    replies = corpus.units.before(asks(corpus)) > 0
    return idle & ~replies[corpus.units.number]


def _is_empty(words: Sequence[str], ignored: Collection[str]) -> bool:
    return all(word in _WORDS or word in ignored for word in words)
