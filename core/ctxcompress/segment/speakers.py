"""Turns and their speakers. Tells speakers from other words before a colon, and what people say from other text."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import regex

from ctxcompress.lazy_regex import lazy_regex

__all__ = [
    "Turn",
    "are_recurring_names",
    "has_title",
    "is_handle",
    "is_plain_name",
    "is_prompt",
    "is_role",
    "is_said",
    "is_speaker",
    "recorded_speaker",
    "speaker_name",
]

_MARKS = " \t*_:：#[]<>|"
_LONGEST_NAME = 60
_MOST_WORDS = 9
"""The most words of a name, such as "Chandler Bing and Phoebe Buffay and Rachel Green"."""
_FEW_WORDS = 3
"""The most words of a name without capital letters."""
_ROLES = frozenset(
    "user human assistant system ai bot chatbot tool developer agent customer operator support"
    " interviewer interviewee moderator guest caller doctor patient teacher student narrator q a question answer"
    " frage antwort pregunta respuesta nutzer benutzer kunde assistent usuario asistente cliente utilisateur"
    " chatgpt gpt claude gemini llama copilot me you ich yo moi".split()
)
_SPEAKER_KEYS = ("speaker", "sender", "role")
"""Metadata keys that say who speaks, the most telling first."""
_KEYS = frozenset(_SPEAKER_KEYS)
_NO_TURNS = frozenset(("tool", "system", "developer"))
"""Roles in a chat memory whose texts are documents rather than speech."""
_ASKING, _ANSWERING = frozenset(("user", "human")), frozenset(("assistant", "ai", "bot", "chatbot"))
_PARTICLES = frozenset(
    "and und et y e i or of the for de del della di da do dos das du des van von der den ten ter la le el al bin ibn"
    " ben zu zur zum af av à a from at".split()
)
"""Words of a name that begin with a small letter."""
_NO_SPEAKERS = frozenset(
    """
    note notes nb example examples warning caution danger important attention tip tips hint info information notice
    remark todo fixme hack bug issue issues problem error errors fatal debug trace critical warn err severity level
    status state result results output input outputs inputs response request return returns raises raise throws yields
    yield usage default defaults type types value values name names title titles subject author authors date dates time
    times version versions license licence copyright source sources reference references see also link links url urls
    website homepage email mail e-mail phone tel fax address location place city country street zip id ids key keys
    code codes number numbers no nr total totals subtotal sum price prices cost costs amount quantity size sizes length
    width height weight color colour file files path paths folder directory line lines page pages table tables figure
    figures fig chapter section sections part parts step steps phase stage day days week weeks month months year years
    monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september
    october november december today yesterday tomorrow morning evening option options parameter parameters param params
    arg args argument arguments attribute attributes property properties field fields method methods function functions
    class classes module modules package packages import imports requires require requirement requirements prerequisites
    dependencies dependency install installation setup configuration config settings features feature description
    summary abstract introduction conclusion background overview objective objectives goal goals purpose scope method
    discussion results appendix contents index keywords tags tag category categories topic topics agenda attendees
    participants present absent action actions item items decision decisions deadline due priority owner assignee
    reporter component components environment platform os browser steps expected actual solution solutions fix fixed
    fixes added changed removed deprecated security changes changelog unreleased new old before after pros cons
    advantages disadvantages benefits risks risk advice answer-key hours opening shipping delivery payment payments
    return refund refunds policy policies terms conditions warranty contact contacts hometown born died occupation
    spouse children parents education nationality genre label labels released release recorded producer producers
    director directors starring cast plot episode episodes season seasons track tracks disc side video videos audio
    image images photo photos picture main further more other others first second third fourth finally last next
    previous however therefore thus hence similarly conversely meanwhile moreover specifically generally overall
    ingredients directions method serves servings calories nutrition allergies symptoms treatment diagnosis medication
    dose dosage interactions side-effects effects rank score scores points team teams group groups round rounds match
    session sessions conversation conversations
    cookie set-cookie user-agent host accept content-type content-length authorization cache-control server
    http https ftp file mailto std self cls def if else elif while with try except case switch select from where join
    set get put post delete patch head let var const public private protected static final void int str bool float
    list dict tuple array object string boolean null none true false yes no
    hinweis hinweise achtung warnung wichtig beispiel beispiele anmerkung datum ort thema betreff preis siehe quelle
    nota ejemplo advertencia importante fecha lugar asunto remarque exemple attention avertissement lieu objet esempio
    """.split()
)
"""Words that label something else: no name has one of them, except as a number's word ("Speaker 1" is a name)."""
_WORD_IN_NAME = regex.compile(r"[#@]?[\w'’.\-]+(?:#\d{1,5}|#)?\Z|[&+]\Z")
_NAME_END = lazy_regex(r"\s*+\([^()]*+(?:\([^()]*+\)[^()]*+)*+\)\s*+\Z")
"""A role or a place in parentheses, also nested ones."""
_SIGN = lazy_regex(
    r"\?|!|？|！|؟|…|\.\.\.|我|你|您|吗|吧|呢|嗯|です|ます|私|はい|네|아니|저는|أنا|أنت|نعم|شكرا|مرحبا|मैं|आप|हाँ|नहीं"
)
"""What people say to each other and what is rare in other text. Each begins with a character of its own, which a search
skips to."""
_SAID = frozenset(
    "i you your yours we my mine me us our yeah yes yep no nope ok okay uh oh ah aha hey hi hello bye thanks thank "
    "please sorry well wow great right sure cool lol "
    "ich du wir mir mich dir dich uns euch ihr ja nein nee danke bitte hallo moin doch "
    "je tu nous vous moi toi oui non merci bonjour salut yo tú nosotros usted ustedes sí hola gracias vale nos te "
    "io noi voi ciao grazie eu você vocês oi olá obrigado obrigada sim não ik jij wij jullie hoi dank "
    "я ты мы вы да нет привет спасибо мне тебе cześć dzięki tak ben sen biz siz evet hayır merhaba".split()
)
"""Words of the same kind, in lower case."""
_DRAWN_OUT = lazy_regex(r"hmm*+|mm++|umm*+|haha\w*+")
_CONTRACTED = lazy_regex(
    r"\w['’](?:re|ll|ve)\b|\b(?:let['’]s|(?:do|does|did|ca|wo|is|are|was|would|should|could|have|has)n['’]t)\b",
    re.IGNORECASE,
)
_WORD = lazy_regex(r"\w+")
_HANDLE = lazy_regex(r"[^\W\d_A-Z][\w.-]{1,24}")
_NO_HANDLES = frozenset(
    "info warn warning error debug trace fatal note hint feat fix chore docs test tests build perf refactor style ci "
    "add added changed removed fixed name id type key value title description get post put delete http https".split()
)
"""Words before colons at the beginnings of lines that are no names."""
_LEAST_LINES = 4
"""The least number of lines that show that names recur."""
_WORDS_SAID = 3
"""The least number of words of a line, on average, with the name, unless some lines have signs of speech."""
_SAID_BY_SOME, _SAID_BY_PLAIN = 0.2, 0.3
"""The least share of lines with signs of speech after short names, and after names of several words."""
_TELEPHONE = lazy_regex(r"\+\d[\d \u00a0\u2011()-]{5,20}")
_READ = 300
"""Characters of a turn that are enough to see whether it is speech."""
_TITLES = ("Mr. ", "Mrs. ", "Ms. ", "Dr. ", "Prof. ", "Hon. ", "Sen. ", "Rep. ", "Sir ", "Herr ", "Frau ")


class Turn(NamedTuple):
    """What one speaker says at once, or a title between turns. The turns of a text follow each other."""

    start: int
    body: int
    """Where its text begins, after the speaker."""
    end: int
    heading: tuple[str, ...] = ()
    """The titles above it, such as the session; of a title, the last one is the title itself."""
    is_title: bool = False


@lru_cache(maxsize=4_096)
def speaker_name(label: str) -> str:
    """Return the name in the words before a colon, without marks, a role in parentheses and case."""
    bare = label.strip(" \t*_:：")
    return _NAME_END.sub("", bare).strip(" \t*_").casefold()


@lru_cache(maxsize=4_096)
def is_speaker(label: str) -> bool:
    """Tell whether the words before a colon can be the name of a speaker: "Anna", "Dr. Li (chair)", "SPEAKER_00"."""
    bare = label.strip(" \t*_:：")
    name = _NAME_END.sub("", bare).strip(" \t*_")
    if is_role(name):
        return True
    words = name.split()
    if not words or len(name) > _LONGEST_NAME or len(words) > _MOST_WORDS:
        return False
    return _begins_like_name(words[0]) and all(map(_is_word_of_name, words)) and not words[-1].endswith("-")


@lru_cache(maxsize=4_096)
def is_role(label: str) -> bool:
    """Tell whether `label` is a role in a conversation: user, assistant, Q."""
    return label.strip(_MARKS).casefold() in _ROLES


def is_prompt(speakers: Iterable[str]) -> bool:
    """Tell whether these are the roles of a conversation with a language model, and nobody else."""
    roles = {speaker.strip(_MARKS).casefold() for speaker in speakers}
    return roles <= _ROLES and not roles.isdisjoint(_ASKING) and not roles.isdisjoint(_ANSWERING)


def is_handle(name: str) -> bool:
    """Tell whether words beside a time stamp can be the name of a speaker, such as a handle or a telephone number."""
    bare = name.strip(" ~\t\u200e\u202a\u202c\u2068\u2069")
    return is_speaker(bare[:1].upper() + bare[1:]) or _TELEPHONE.fullmatch(bare) is not None


@lru_cache(maxsize=4_096)
def is_plain_name(name: str) -> bool:
    """Tell whether words can be a name even if they are not capitalized: "maya", "Big fish". One such name proves
    little, because many other labels look like that."""
    words = name.casefold().split()
    return 0 < len(words) <= _FEW_WORDS and all(
        word[:1].isalpha() and _WORD_IN_NAME.match(word) and word.rstrip(".") not in _NO_SPEAKERS for word in words
    )


def are_recurring_names(names: Sequence[str], text: str, lines: int) -> bool:
    """Tell whether these are names of people that need not be capitalized: every line has one and says something, and
    names recur.

    The keys of a configuration do not recur. The levels of a log and the kinds of commits are known. lines: the number
    of lines with text.
    """
    times = Counter(names)
    if len(names) < _LEAST_LINES or len(names) != lines or len(times) < 2 or 2 * len(times) > len(names):
        return False
    if not all(map(is_plain_name, times)) or not _NO_HANDLES.isdisjoint(times):
        return False
    said = sum(map(is_said, text.split("\n"))) / lines
    if all(map(_HANDLE.fullmatch, times)):
        return said >= _SAID_BY_SOME or len(text.split()) >= _WORDS_SAID * lines
    return said >= _SAID_BY_PLAIN


def is_said(text: str) -> bool:
    """Tell whether a text has signs of speech: "you", a question mark, "hmm"."""
    beginning = text[:_READ]
    if _SIGN.search(beginning):
        return True
    words = set(map(str.lower, _WORD.findall(beginning)))
    if not _SAID.isdisjoint(words) or any(map(_DRAWN_OUT.fullmatch, words)):
        return True
    return ("'" in beginning or "’" in beginning) and _CONTRACTED.search(beginning) is not None


def recorded_speaker(metadata: Mapping[str, object]) -> str | None:
    """Return who speaks by the metadata of a passage, as a chat memory records it; None if nobody does."""
    if _KEYS.isdisjoint(metadata) or str(metadata.get("role")).casefold() in _NO_TURNS:
        return None
    for key in _SPEAKER_KEYS:
        name = metadata.get(key)
        if isinstance(name, str) and (is_role(name) if key == "role" else 0 < len(name.strip()) <= _LONGEST_NAME):
            return name.strip()
    return None


def has_title(name: str) -> bool:
    """Tell whether a name begins with a title, such as "Dr."."""
    return name.startswith(_TITLES)


def _begins_like_name(word: str) -> bool:
    first = word.lstrip("#@")[:1]
    return first.isalpha() and not first.islower()


def _is_word_of_name(word: str) -> bool:
    folded = word.casefold().rstrip(".")
    if folded in _NO_SPEAKERS or not _WORD_IN_NAME.match(word):
        return False
    first = word.lstrip("#@'’")[:1]
    return folded in _PARTICLES or not first.islower() or word[:2].casefold() in ("o'", "d'")
