"""Recognition of notices, the boilerplate of web pages: bylines, offers, cookie and rights notices, links.

A piece of text (a line, a sentence, a list item) is a notice if it is short, has the shape of one and contains nothing
else. "We use cookies to improve your visit." is a notice, "Browsers send cookies." is not.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum, auto

from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.text.words import has_unspaced

__all__ = ["Notice", "has_notice", "is_byline", "is_title_of_links", "notice_of"]


class Notice(Enum):
    """The kind of a notice."""

    BYLINE = auto()
    """The author, the date or the reading time."""
    OFFER = auto()
    """Something that visitors can do or have to know: rights, a newsletter, comments, sharing."""
    COOKIES = auto()
    """A notice about cookies. Separate from the others because the text itself may be about cookies."""
    LINKS = auto()
    """A link, or a row of links, to other pages."""
    WORD = auto()
    """A word or two that may be a link ("About"). It counts only next to other notices."""


_OFFERS = {
    "en": "all rights reserved|share this|share on|share via|tweet this|email this|print this|"
    "subscribe to our|subscribe to the newsletter|subscribe now|subscribe to my|sign up for our|"
    "sign up for the newsletter|sign up to our|join our newsletter|join our mailing list|"
    "join the newsletter|get our newsletter|follow us|follow me on|leave a comment|leave a reply|"
    "post a comment|add a comment|log in to comment|sign in to comment|log in to reply|edit this page|"
    "improve this page|edit on github|"
    "was this page helpful|was this article helpful|was this helpful|did you find this|rate this|filed under|"
    "posted in|tagged with|tags:|categories:|advertisement|sponsored content|sponsored by|"
    "we may earn a commission|this post contains affiliate|this article contains affiliate|"
    "read our privacy|read our cookie|see our privacy|"
    "cookie settings|cookie preferences|cookie policy|"
    "cookie notice|manage cookies|manage preferences|accept cookies|accept all cookies|accept all|reject all|"
    "decline all|privacy settings",
    "de": "alle rechte vorbehalten|diesen artikel teilen|beitrag teilen|teilen auf|newsletter abonnieren|"
    "jetzt abonnieren|folgen sie uns|folge uns|kommentar schreiben|kommentar hinterlassen|"
    "schreiben sie einen kommentar|anzeige|schlagwörter:|kategorien:",
    "fr": "tous droits réservés|partager cet article|partager sur|abonnez-vous à|inscrivez-vous à|suivez-nous|"
    "laisser un commentaire|étiquettes :|publicité",
    "es": "todos los derechos reservados|compartir en|comparte este|suscríbete a|síguenos|deja un comentario|"
    "etiquetas:|publicidad",
    "it": "tutti i diritti riservati|condividi su|iscriviti alla|seguici su|lascia un commento",
    "pt": "todos os direitos reservados|compartilhe|inscreva-se|siga-nos|deixe um comentário",
    "nl": "alle rechten voorbehouden|deel dit|volg ons|schrijf je in|laat een reactie",
    "ru": "все права защищены|поделиться|подпишитесь|подписывайтесь|оставить комментарий|читайте также",
    "zh": "版权所有|分享到|订阅我们",
}
_LEADS = {
    "en": "skip to content|skip to main|skip to navigation|skip to the|skip navigation|jump to content|"
    "jump to navigation|back to top|back to the top|back to home|back to all|go to top|return to top|"
    "toggle navigation|toggle menu|toggle table|open menu|close menu|main menu|show menu|read more|read next|"
    "continue reading|view all|view more|load more|previous post|next post|"
    "previous article|next article|previous page|next page|older posts|newer posts",
    "de": "zum inhalt|zum hauptinhalt|direkt zum inhalt|nach oben|weiterlesen|mehr lesen|mehr erfahren|"
    "vorheriger beitrag|nächster beitrag",
    "fr": "aller au contenu|passer au contenu|lire la suite|en savoir plus|lire aussi|article précédent|"
    "article suivant|haut de page",
    "es": "saltar al contenido|ir al contenido|leer más|seguir leyendo|entrada anterior|entrada siguiente|"
    "volver arriba",
    "it": "vai al contenuto|leggi tutto|leggi di più|continua a leggere",
    "pt": "pular para o conteúdo|ir para o conteúdo|leia mais|saiba mais",
    "nl": "naar de inhoud|ga naar inhoud|lees meer|lees verder",
    "ru": "перейти к содержанию|перейти к содержимому|читать далее|читать дальше|подробнее|наверх",
    "zh": "跳到主要内容|跳转到内容|阅读更多|返回顶部",
}
_COOKIES = (
    "we use|we and our|we also use|this site|this website|our site|our website|by continuing|by using|"
    "by clicking|by browsing|wir verwenden|wir nutzen|wir setzen|diese website|diese webseite|diese seite|"
    "unsere website|mit der nutzung|nous utilisons|ce site|en poursuivant|utilizamos|usamos|este sitio|esta web|"
    "al continuar|utilizziamo|usiamo|questo sito|este site|nosso site|ao continuar|wij gebruiken|we gebruiken|"
    "deze site|deze website|мы используем|этот сайт|наш сайт|продолжая|我们使用|本网站"
)
"""Beginnings of notices about cookies."""
_TITLES = (
    "related|related posts|related articles|related stories|related content|related links|related news|"
    "recent posts|recent articles|recent comments|popular posts|popular articles|most read|most popular|"
    "latest posts|latest news|latest articles|more stories|more articles|more posts|more news|trending|"
    "trending now|you may also like|you might also like|recommended for you|recommended articles|read next|"
    "keep reading|further articles|archives|blogroll|follow us|share this|"
    "stay connected|ähnliche artikel|ähnliche beiträge|das könnte sie auch interessieren|neueste beiträge|"
    "weitere artikel|articles similaires|articles récents|à lire aussi|artículos relacionados|entradas recientes|"
    "también te puede interesar|articoli correlati|artigos relacionados|gerelateerde artikelen|похожие статьи|"
    "читайте также|相关文章|推荐阅读"
)
_WORDS = (
    "home|homepage|menu|search|about|about us|contact|contact us|blog|news|login|log in|sign in|sign up|"
    "register|logout|log out|my account|account|cart|shop|store|products|pricing|features|support|help|"
    "faq|docs|documentation|privacy|privacy policy|cookie policy|terms|terms of service|terms of use|"
    "legal|imprint|careers|jobs|press|sitemap|rss|community|forum|download|downloads|resources|company|"
    "team|newsletter|subscribe|donate|learn|guides|tutorials|categories|archive|archives|tags|share|"
    "print|email|facebook|twitter|linkedin|instagram|youtube|github|reddit|next|previous|prev|back|yes no|"
    "english|deutsch|français|español|startseite|suche|über uns|kontakt|impressum|datenschutz|agb|"
    "anmelden|warenkorb|hilfe|accueil|recherche|à propos|connexion|mentions légales|aide|inicio|buscar|"
    "acerca de|contacto|iniciar sesión|ayuda|aviso legal|главная|поиск|о нас|контакты|войти|помощь|首页|"
    "关于我们|联系我们|登录"
)
_LINK_TITLES = frozenset(_TITLES.split("|"))
_LINK_WORDS = frozenset(_WORDS.split("|"))
_HOME = frozenset("home|homepage|startseite|accueil|inicio|главная|首页".split("|"))
_ROOTS = _HOME | {"docs", "blog"}
"""First words of a breadcrumb."""

_COUNT = lazy_regex(r"\d+ (?:comments?|shares?|likes?|views?|kommentare?|commentaires?|comentarios?)")
_RIGHTS = lazy_regex(r"(?:copyright )?(?:©|\(c\) ?(?:19|20)\d\d\b)|copyright,? (?:19|20)\d\d\b")
_PAGES = lazy_regex(
    r"\b(?:prev|previous|next|back|older|newer|zurück|weiter|précédent|suivant|anterior|siguiente|назад)\b"
)
_SEPARATED = lazy_regex(r"[|›»·•→]| [>/] ")
_LINK = lazy_regex(r"!?\[([^\[\]\n]{0,200})\]\([^()\n]{0,300}\)")
_ARROWS = "«‹←»›→"
_DECORATION = " \t\r\n#>*+-_[•"
_LONGEST = 300
"""The most characters of a notice."""
_MOST_WORDS = 20
"""The most words of a notice. Notices about cookies or rights may have twice as many."""
_MORE_WORDS = 3
"""The most words after a phrase that links elsewhere: "read more about timeouts"."""


def _groups() -> Mapping[str, Notice]:
    tables = {Notice.OFFER: _OFFERS.values(), Notice.LINKS: _LEADS.values(), Notice.COOKIES: (_COOKIES,)}
    return {phrase: notice for notice, lists in tables.items() for phrases in lists for phrase in phrases.split("|")}


_PHRASES = _groups()
_BY_LETTERS = {
    letters: sorted((phrase for phrase in _PHRASES if phrase[:2] == letters), key=len, reverse=True)
    for letters in {phrase[:2] for phrase in _PHRASES}
}

_HEAD = 6
"""Number of first characters that distinguish nearly all other text from notices."""
_DATED = ("written by", "published", "posted on", "posted by", "last updated", "last modified", "veröffentlicht")
_RIGHTS_BEGIN = ("copyright 1", "copyright 2", "copyright (", "copyright ©")
_SHORT = (*(root + mark for root in _ROOTS for mark in (" |", " /", " >", " ›", " ·")), "tags: ")
_ALONE = tuple(root + mark for root in _HOME for mark in ("", "\n", "\n\n"))
_BEFORE_LINKS = ("", "[", "- ", "* ", "- [", "* [")
_BEFORE_TITLES = ("", "# ", "## ", "### ", "**")


def _heads(phrases: Iterable[str], before: Iterable[str]) -> set[str]:
    cased = {first for phrase in phrases for first in (phrase, phrase.capitalize(), phrase.title(), phrase.upper())}
    return {(mark + first)[:_HEAD] for first in {first[:_HEAD] for first in cased} for mark in before}


_HEADS = frozenset(
    _heads((*_PHRASES, *_SHORT, *_ALONE), _BEFORE_LINKS)
    | _heads(_LINK_TITLES, _BEFORE_TITLES)
    | _heads((*_DATED, *_RIGHTS_BEGIN), ("",))
)
_UNSPACED = "|".join(filter(has_unspaced, (*_PHRASES, *_LINK_TITLES)))
_BEGINS = lazy_regex(
    rf"\n(?:\*\*|> )?(?:(?:By|Von|Par|Por) [A-ZÀ-ÞА-Я]|Автор|作者|©|\([cC]\)|[{_ARROWS}] |{_UNSPACED})"
)
_READ = " min read"
"""The end of bylines that begin with a name."""


def has_notice(pieces: Sequence[str]) -> bool:
    """Return whether a piece is a notice regardless of its neighbours. Most pieces are ruled out by how they begin."""
    return any(notice_of(piece) not in (None, Notice.WORD) for piece in _likely(pieces))


def _likely(pieces: Sequence[str]) -> list[str]:
    """Return the pieces that begin like notices or contain a sign of one."""
    heads = [piece[:_HEAD] for piece in pieces]
    found: list[str] = []
    if not _HEADS.isdisjoint(heads) or _READ in "".join(pieces):
        found = [piece for piece, head in zip(pieces, heads, strict=True) if head in _HEADS or _READ in piece]
    if _BEGINS.search("\n" + "\n".join(heads)):
        found += [piece for piece, head in zip(pieces, heads, strict=True) if _BEGINS.match(f"\n{head}")]
    return found


def notice_of(piece: str) -> Notice | None:
    """Return the kind of notice that `piece` is, or None if it is not, or not only, a notice."""
    if len(piece) > _LONGEST:
        return None
    plain = _LINK.sub(r"\1", piece) if "](" in piece else piece
    bare = " ".join(plain.replace("**", "").strip(_DECORATION).split())
    lower, words = bare.lower(), bare.count(" ") + 1
    if not bare or words > 2 * _MOST_WORDS:
        return None
    found = _by_beginning(lower) or (Notice.OFFER if _RIGHTS.match(lower) else None)
    if found or words > _MOST_WORDS:
        return found
    return _links(lower) or (Notice.BYLINE if is_byline(bare) else None)


def is_title_of_links(text: str) -> bool:
    """Return whether `text` is a title above links to other texts, such as "Related posts"."""
    return text.strip(_DECORATION).rstrip(" .:!").lower() in _LINK_TITLES


def _by_beginning(lower: str) -> Notice | None:
    """Return the notice that the piece begins like, if little else follows."""
    phrase = next((phrase for phrase in _BY_LETTERS.get(lower[:2], ()) if lower.startswith(phrase)), "")
    rest = lower[len(phrase) :]
    if not phrase or (rest[:1].isalpha() and not has_unspaced(phrase)):
        return None
    notice = _PHRASES[phrase]
    if notice is Notice.COOKIES:
        return notice if "cookie" in rest or "куки" in rest else None
    more = len(rest.strip(" .:!?»›→>…").split())
    if " " not in phrase and phrase[-1] != ":":
        return None if more else notice
    most = _MORE_WORDS if notice is Notice.LINKS and rest[:1] != ":" else _MOST_WORDS
    return notice if more <= most else None


def _links(lower: str) -> Notice | None:
    """Return the notice if the piece is a link, a row of links or a title above links."""
    word = lower.rstrip(" :")
    if word in _LINK_WORDS or _COUNT.fullmatch(word):
        return Notice.LINKS if word in _HOME else Notice.WORD
    return Notice.LINKS if is_title_of_links(lower) or _is_row_of_links(lower) else None


def _is_row_of_links(lower: str) -> bool:
    if lower[0] in _ARROWS or lower[-1] in _ARROWS:
        return lower.count(" ") < _MOST_WORDS // 2 and _PAGES.search(lower) is not None
    if " " in lower and all(word in _LINK_WORDS for word in lower.split()):
        return lower.count(" ") > 1
    if not _SEPARATED.search(lower):
        return False
    parts = [part.strip(" .") for part in _SEPARATED.split(lower)]
    if len(parts) < 3 or any(part.count(" ") > 3 for part in parts[:-1]):
        return False
    return parts[0] in _ROOTS or all(part in _LINK_WORDS for part in parts)


# --- Bylines

_MONTH = (
    r"(?:jan|feb|f[eé]v|m[aä]r|apr|avr|abr|ma[ijy]|mei|gen|ene|mag|giu|lug|ago|set|ott|dic|out|dez|d[eé]c|ju[inl]|aug"
    r"|ao[uû]|sep|o[ck]t|nov|янв|фев|мар|апр|мая|июн|июл|авг|сен|окт|ноя|дек)[^\W\d_]{0,8}\.?"
)
_DAY = (
    rf"(?:{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?(?:,? \d{{4}})?|{_MONTH} \d{{4}}"
    rf"|\d{{1,2}}(?:st|nd|rd|th|er|\.)? (?:of |de )?{_MONTH}(?:,? (?:de )?\d{{4}})?"
    r"|\d{4}[-/.]\d\d?[-/.]\d\d?|\d\d?[./-]\d\d?[./-]\d{4}|\d{4}年\d\d?月\d\d?日)"
)
_TIME = r"(?:,? (?:at )?\d\d?:\d\d(?: ?[ap]m)?(?: (?:utc|gmt|c?e?s?t))?)?"
_DATE = (
    rf"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day,? )?{_DAY}{_TIME}"
    r"|\d+ (?:minute|hour|day|week|month|year)s? ago"
)
_NAME = r"(?-i:[^\W\d_a-zа-я][\w.'’-]*(?: (?:de |van |von |der )?[^\W\d_a-zа-я][\w.'’-]*){0,3})"
"""Up to four words that begin with a capital letter or belong to a script without capitals."""
_AUTHOR = rf"(?!{_MONTH} \d){_NAME}"
_BY = r"(?:written |posted |published )?by|von|par|por|door|автор|作者"
_SAID = (
    r"(?:last |first )?(?:published|posted|updated|modified|reviewed)|veröffentlicht|(?:zuletzt )?aktualisiert|publiée?"
    r"|mis à jour|publicado|actualizado|опубликовано|обновлено|发布于|更新于"
)
_READING_TIME = (
    r"\d+[ -]min(?:ute)?s?\.? (?:read|lesezeit|de lecture|de lectura)"
    r"|(?:reading time|lesezeit|temps de lecture|tiempo de lectura):? \d+ min\w*"
)
_TOKEN = lazy_regex(
    rf"(?P<by>(?:{_BY})[: ] ?{_AUTHOR}(?:(?:, | and | & | und | et | y ){_AUTHOR})*)|(?P<read>{_READING_TIME})"
    rf"|(?P<said>(?:{_SAID})(?: on| am| le| el)?:?)|(?P<date>{_DATE})|\d+ (?:comments?|views|shares|likes)"
    rf"|(?P<name>{_NAME})|on |[\s,|·•–—/.-]+",
    re.IGNORECASE,
)
_SHORT_BYLINE = range(3, 6)
"""Number of words of a line with nothing but an author."""


def is_byline(text: str) -> bool:
    """Return whether `text` consists of authors, dates and reading times, and says that they belong to an article.

    A name and a date alone ("Berlin, 3 October 1990") are not a byline.
    """
    found: set[str] = set()
    at = 0
    while at < len(text):
        token = _TOKEN.match(text, at)
        if not token:
            return False
        found.update(name for name, value in token.groupdict().items() if value)
        at = token.end()
    if found == {"by"}:
        return len(text.split()) in _SHORT_BYLINE and not text.endswith(".")
    return "read" in found or ("date" in found and not found.isdisjoint(("by", "said")))
