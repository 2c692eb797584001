"""Conversations: finds turns and their speakers in transcripts, chat exports and messages with roles.

A text is a conversation if its lines begin with speakers, and if the speakers and what they say look like it. A list of
keys and values, a log or a page of documentation is none.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import regex

from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.text.words import WORD

__all__ = ["LoneTurn", "Turn", "begins_with_speaker", "is_said", "lone_turn", "recorded_speaker", "turns_of"]


class Turn(NamedTuple):
    """What one speaker says at once. The turns of a text follow each other."""

    start: int
    body: int
    """Where its text begins, after the speaker."""
    end: int


LoneTurn = tuple[str, Turn]
"""The speaker and the turn of a text that may be a single turn."""


class _Head(NamedTuple):
    """The beginning of a turn."""

    start: int
    body: int
    end: int
    """The end of its first line with text."""
    speaker: str


_LONGEST_NAME, _MOST_WORDS = 60, 9
"""The most characters and words of a name, such as "Chandler Bing and Phoebe Buffay and Rachel Green"."""
_FEW_WORDS = 3
"""The most words of a name without capital letters."""
_ROLES = frozenset(
    "user human assistant system ai bot chatbot tool developer agent customer operator support"
    " interviewer interviewee moderator guest caller doctor patient teacher student narrator q a question answer"
    " frage antwort pregunta respuesta nutzer benutzer kunde assistent usuario asistente cliente utilisateur"
    " chatgpt gpt claude gemini llama copilot me you ich yo moi".split()
)
_ASKING, _ANSWERING = frozenset(("user", "human")), frozenset(("assistant", "ai", "bot", "chatbot"))
"""The roles of a conversation with a language model, whose turns may be long."""
_SPEAKER_KEYS = ("speaker", "sender", "role")
"""Metadata keys that say who speaks, the most telling first."""
_NO_TURNS = frozenset(("tool", "system", "developer"))
"""Roles in a chat memory whose texts are documents rather than speech."""
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
_TELEPHONE = lazy_regex(r"\+\d[\d \u00a0\u2011()-]{5,20}")
_NAME_END = lazy_regex(r"\s*+\([^()]*+(?:\([^()]*+\)[^()]*+)*+\)\s*+\Z")
"""A role or a place in parentheses, also nested ones."""
_NO_HANDLES = frozenset(
    "info warn warning error debug trace fatal note hint feat fix chore docs test tests build perf refactor style ci "
    "add added changed removed fixed name id type key value title description get post put delete http https".split()
)
"""Words before colons at the beginnings of lines that are no names."""
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
_READ = 300
"""Characters of a turn that are enough to see whether it is speech."""

_STAMP = (
    r"(?:\d{1,4}[-/.]\d{1,2}[-/.]\d{2,4}(?:,?[ \u202fT])\s?+)?\d{1,3}[:.]\d{2}(?::\d{2})?(?:[.,]\d{1,3})?"
    r"(?:[ \u202f\u00a0]?[AaPp]\.?[Mm]\b\.?)?(?:Z|[+-]\d{2}:?\d{2})?"
)
_INVISIBLE = r"[\u200e\u200f\u202a\ufeff]{0,2}"
"""What exports of WhatsApp begin lines with."""
_PLAIN = r"[^\n:：<>\[\]|]"
"""A character of a name."""
_COLON = r"[:：](?:\*\*|__)?(?:[ \t\u00a0]++|(?=\n|\Z)|(?<=：))"
_NICK = r"<[@+%~& ]?{}[^\s<>:/]{{1,32}})>[ \t]"
_STAMPED_TURN = lazy_regex(
    rf"\n(?=[\d\[(\u200e\u200f\u202a\ufeff]){_INVISIBLE}(?:\[{_STAMP}\]|\({_STAMP}\)|{_STAMP})"
    rf"(?:[ \u202f]?[-–—|]|\t| ){{1,2}}+[ \t]*+{_INVISIBLE}"
    rf"(?:{_NICK.format('(?P<nick>')}|(?:From )?(?P<name>{_PLAIN}{{1,90}}?)(?: to {_PLAIN}{{1,60}})? ?{_COLON})?"
    rf"|\n{_NICK.format('(?P<bare>')}(?![^\n]*</)"
)
"""A time stamp, and a name in angle brackets or before a colon; or a name in angle brackets alone."""
_SPOKEN_TURN = lazy_regex(
    rf"\n[ \t]*+(?P<name>[^\s:：|<>{{}}=\[(-][^\n:：|<>{{}}=\[(]{{0,120}}+"
    rf"(?:\((?!\d{{1,2}}:\d)[^\n:：|<>{{}}=\[(]{{0,90}}+){{0,3}}+)(?:[\[(]{_STAMP}[\])] ?)?{_COLON}"
)
"""A name before a colon."""
_SAMPLE = 5_000
"""Characters: a longer text is only read further if its beginning is a conversation."""
_LONGEST_LABEL, _MOST_LINES = 200, 6
"""The most characters of a speaker, and of lines for each turn, on average."""
_FEW, _DISTINCT = 4, 0.75
"""With fewer turns, speakers need not occur twice; with more, the greatest share of distinct ones."""
_SAID_BY_SOME, _SAID_BY_PLAIN, _SAID_BY_MOST = 0.2, 0.3, 0.5
"""The least share of turns with signs of speech: if speakers repeat, if names have no capitals, if none repeats."""


def turns_of(text: str) -> list[Turn]:
    """Return the turns of a conversation. They follow each other up to the end of the text. Return none if the text is
    no conversation; text before the first turn belongs to none."""
    may_be = ":" in text or "\uff1a" in text or "<" in text
    if not may_be or (len(text) > _SAMPLE and not _heads(f"\n{text[:_SAMPLE]}")):
        return []
    heads = _heads(f"\n{text}")
    ends = [*(head.start for head in heads[1:]), len(text)]
    return [Turn(head.start, head.body, end) for head, end in zip(heads, ends, strict=False)]


def lone_turn(text: str) -> LoneTurn | None:
    """Return the speaker and the turn if a text of one paragraph may be a turn, as far as it alone can tell."""
    start = text[:_LONGEST_LABEL].partition("\n")[0]
    if (":" not in start and "\uff1a" not in start) or "\n\n" in text.rstrip():
        return None
    lines = "\n" + text
    match = _STAMPED_TURN.match(lines)
    if match is None or not match.lastgroup:
        match = _SPOKEN_TURN.match(lines)
    if match is None:
        return None
    head = _head(match)
    if not _is_handle(head.speaker) and not ("\n" not in text.strip() and _is_plain_name(head.speaker)):
        return None
    return _name(head.speaker).casefold(), Turn(0, head.body, len(text))


def begins_with_speaker(text: str) -> bool:
    """Tell whether a name and a colon begin `text`. A line that begins with a letter is no turn without them."""
    match = _SPOKEN_TURN.match("\n" + text)
    return match is not None and _is_speaker(match["name"])


def is_said(text: str) -> bool:
    """Tell whether a text has signs of speech: "you", a question mark, "hmm"."""
    beginning = text[:_READ]
    if _SIGN.search(beginning):
        return True
    words = set(map(str.lower, WORD.findall(beginning)))
    if not _SAID.isdisjoint(words) or any(map(_DRAWN_OUT.fullmatch, words)):
        return True
    return ("'" in beginning or "’" in beginning) and _CONTRACTED.search(beginning) is not None


def recorded_speaker(metadata: Mapping[str, object]) -> str | None:
    """Return who speaks by the metadata of a passage, as a chat memory records it; None if nobody does."""
    if str(metadata.get("role")).casefold() in _NO_TURNS:
        return None
    for key in _SPEAKER_KEYS:
        name = metadata.get(key)
        if isinstance(name, str) and (_is_role(name) if key == "role" else 0 < len(name.strip()) <= _LONGEST_NAME):
            return name.strip()
    return None


def _heads(lines: str) -> list[_Head]:
    """Return the beginnings of the turns, or none if the lines are no conversation, or an example in a fence."""
    heads = _stamped(lines) or _spoken(lines)
    return heads if heads and lines.count("```", 0, heads[0].start) % 2 == 0 else []


def _stamped(lines: str) -> list[_Head]:
    heads = [_head(match) for match in _STAMPED_TURN.finditer(lines)]
    named = [head for head in heads if head.speaker]
    if 2 * len(named) <= len(heads) or sum(_is_handle(head.speaker) for head in named) <= 0.8 * len(named):
        return []
    if len(heads) == 1 and heads[0].start == 0 and lines.count("\n", 0, -1) == 1:
        return heads if is_said(lines[heads[0].body + 1 :]) else []
    return heads if len(heads) > 1 and _are_filled(lines, heads) else []


def _spoken(lines: str) -> list[_Head]:
    """Return the turns of a text with names before colons, if it is a conversation."""
    found = [_head(match) for match in _SPOKEN_TURN.finditer(lines)]
    heads = [head for head in found if _is_speaker(head.speaker)]
    if len(heads) < len(found) and _are_recurring(found, lines):
        return found
    names = {_name(head.speaker).casefold() for head in heads}
    if names <= _ROLES and names & _ASKING and names & _ANSWERING:
        return heads
    if not heads or len(names) < min(2, len(heads)) or not _are_filled(lines, heads):  # nobody speaks alone
        return []
    said = sum(is_said(lines[head.body + 1 : head.end]) for head in heads)
    if len(heads) >= _FEW and len(names) <= _DISTINCT * len(heads):
        return heads if said >= _SAID_BY_SOME * len(heads) else []
    return heads if said >= _SAID_BY_MOST * len(heads) and _filled(lines) <= 2 * len(heads) else []


def _head(match: re.Match[str]) -> _Head:
    """Return the head that a pattern found. The line end after a speaker who stands alone belongs to it."""
    lines, end = match.string, match.end()
    body = end - 1 + lines.startswith("\n", end)
    line_end = lines.find("\n", body + 1)
    speaker = match[match.lastgroup] if match.lastgroup else ""
    return _Head(match.start(), body, line_end if line_end >= 0 else len(lines), speaker.strip(" *_\t\u200e"))


def _are_filled(lines: str, heads: Sequence[_Head]) -> bool:
    """Tell whether most turns have a text, and whether there are not too few for the text."""
    ends = [*(head.start for head in heads[1:]), len(lines)]
    empty = sum(not lines[head.body + 1 : end].strip() for head, end in zip(heads, ends, strict=True))
    return 2 * empty <= len(heads) and _filled(lines) <= _MOST_LINES * len(heads)


def _filled(lines: str) -> int:
    """Return the number of lines with text."""
    return sum(not line.isspace() for line in lines.split("\n") if line)


def _are_recurring(heads: Sequence[_Head], lines: str) -> bool:
    """Tell whether these are names of people that need not be capitalized: every line has one, names recur, and there
    are signs of speech. The keys of a configuration do not recur. The levels of a log and the kinds of commits are
    known."""
    times = Counter(head.speaker for head in heads)
    if not len(times) > 1 or len(heads) < max(_FEW, 2 * len(times)) or len(heads) != _filled(lines):
        return False
    are_names = all(map(_is_plain_name, times)) and _NO_HANDLES.isdisjoint(times)
    return are_names and sum(map(is_said, lines.split("\n"))) >= _SAID_BY_PLAIN * len(heads)


@lru_cache(maxsize=4_096)
def _name(label: str) -> str:
    """Return the name in the words before a colon, without marks and a role in parentheses."""
    return _NAME_END.sub("", label.strip(" \t*_:：")).strip(" \t*_")


@lru_cache(maxsize=4_096)
def _is_speaker(label: str) -> bool:
    """Tell whether the words before a colon can be the name of a speaker: "Anna", "Dr. Li (chair)", "SPEAKER_00"."""
    name = _name(label)
    if _is_role(name):
        return True
    words = name.split()
    if not words or len(name) > _LONGEST_NAME or len(words) > _MOST_WORDS:
        return False
    first = words[0].lstrip("#@")[:1]
    is_capital = first.isalpha() and not first.islower()
    return is_capital and all(map(_is_word_of_name, words)) and not words[-1].endswith("-")


def _is_role(label: str) -> bool:
    """Tell whether `label` is a role in a conversation: user, assistant, Q."""
    return label.strip().casefold() in _ROLES


@lru_cache(maxsize=4_096)
def _is_handle(name: str) -> bool:
    """Tell whether words beside a time stamp can be the name of a speaker, such as a handle or a telephone number."""
    bare = name.strip(" ~\t\u200e\u202a\u202c\u2068\u2069")
    return _is_speaker(bare[:1].upper() + bare[1:]) or _TELEPHONE.fullmatch(bare) is not None


@lru_cache(maxsize=4_096)
def _is_plain_name(name: str) -> bool:
    """Tell whether words can be a name even if they are not capitalized: "maya", "Big fish". One such name proves
    little, because many other labels look like that."""
    words = name.casefold().split()
    return 0 < len(words) <= _FEW_WORDS and all(
        word[:1].isalpha() and _WORD_IN_NAME.match(word) and word.rstrip(".") not in _NO_SPEAKERS for word in words
    )


def _is_word_of_name(word: str) -> bool:
    folded = word.casefold().rstrip(".")
    if folded in _NO_SPEAKERS or not _WORD_IN_NAME.match(word):
        return False
    first = word.lstrip("#@'’")[:1]
    return folded in _PARTICLES or not first.islower() or word[:2].casefold() in ("o'", "d'")
