"""The stop words of each language, and language detection by script and function words."""

from collections.abc import Collection, Mapping
from functools import cache
from types import MappingProxyType

from ctxcompress.lazy_regex import lazy_regex

__all__ = ["LANGUAGE_CODES", "STOP_WORDS", "detect_language", "is_prose_in"]

_WORDS = {
    "en": "a about after all also am an and any are as at be because been before being between both but by can "
    "could did do does doing during each for from further had has have having he her here hers him his how i "
    "if in into is it its itself just me more most my no nor not of off on once only or other our out over "
    "own s same she should so some such t than that the their them then there these they this those through "
    "to too under until up very was we were what when where which while who whom whose why will with would "
    "you your",
    "de": "aber alle als also am an auch auf aus bei bin bis bist da damit dann das dass dem den denn der des die "
    "dies diese diesem diesen dieser dieses doch dort du durch ein eine einem einen einer eines er es für "
    "gegen hat hatte hatten haben ich ihr ihre ihren im in ist ja jede jeder kann kein keine können man mehr "
    "mit nach nicht noch nur ob oder ohne sehr sein seine sich sie sind so über um und uns unter vom von vor "
    "wann war waren warum was welche welchem welchen welcher welches wenn wer werden wie wieso wieviel wir "
    "wird wo wurde wurden zu zum zur zwischen",
    "fr": "à alors au aucun aussi autre aux avec avoir c ce cela ces cet cette ceux chez combien comme comment d "
    "dans de des donc dont du elle elles en entre est et eu était étaient être fait furent fut il ils j je l "
    "la le les leur leurs lui m mais même mes moi mon n ne nos notre nous on ont ou où par pas pendant plus "
    "pour pourquoi qu quand que quel quelle quelles quels qui quoi s sa sans se ses si son sont sous sur t "
    "ta te tes toi ton tu un une vos votre vous y",
    "es": "a al algo ante antes así aún aunque cada como cómo con contra cual cuál cuales cuáles cuando cuándo "
    "cuanta cuánta cuántas cuanto cuánto cuántos de del desde donde dónde durante e el él ella ellas ellos "
    "en entre era eran es esa ese eso esta está están estas este esto estos fue fueron ha había haber han "
    "hasta hay la las le les lo los más me mi muy ni no nos o otra otro para pero poco por porque qué que "
    "quién quien quiénes se según ser si sí sin sobre son su sus también tan te tiene tienen todo todos tu "
    "un una unas uno unos y ya",
    "it": "a ad agli ai al alla alle allo anche ancora c che chi ci come con cosa cui d da dagli dai dal dalla "
    "dalle dei del della delle dello di dopo dove e è ed era erano essere fra gli ha hai hanno ho i il in io "
    "l la le lei li lo loro lui ma mentre mi nei nel nella nelle no noi non o ogni per perché più prima qual "
    "quale quali quando quanta quante quanti quanto quella quelle quelli quello questa queste questi questo "
    "s se sei si sia sono sopra sotto stata stato su sua sue sugli sui sul sulla suo suoi tra tu un una uno "
    "vi voi",
    "pt": "a ainda além ao aos aquela aquele as às até cada com como da das de dela dele depois do dos e é ela "
    "elas ele eles em entre era eram essa esse esta está estão este eu foi foram há isso isto já la lhe lo "
    "mais mas me mesmo meu minha muito na não nas nem no nos o onde os ou para pela pelas pelo pelos por "
    "porque qual quais quando quanta quantas quanto quantos que quem são se sem ser seu seus só sob sobre "
    "sua suas também tem têm um uma uns",
    "nl": "aan al alle als bij dan dat de der deze die dit door dus een en er haar had heb hebben heeft hem het "
    "hier hij hoe hoeveel hun ik in is je kan kon maar me meer men met mij na naar niet nog nu of om omdat "
    "ons onder ook op over te tot tussen u uit van veel voor waar waarom wanneer want waren was wat we welk "
    "welke wel werd wie worden wordt ze zich zij zijn zo zonder zou",
    "sv": "all alla än är att av bara blev bli både de dem den denna deras dess det detta dig din du där efter "
    "eller en ett från för före ha hade han hans har henne hennes hon honom hur i in inte jag kan kunde man "
    "med men mellan mig min mot mycket när någon något nu och om oss på sedan sig sin sina skulle som så "
    "till under upp ut utan vad var varför vem vi vid vilka vilken vilket",
    "ru": "а без более бы был была были было быть в вам вас весь во вот все всех вы где да даже для до его ее её "
    "если есть еще ещё же за и из или им их к как какая какие какой каком каких когда кого кто ли между меня "
    "мне много мы на над не него нее ней нет ни них но о об однако он она они оно от перед по под после "
    "почему при с сам свой себя сколько со так также такой там то того тоже той только том ты у уже чего чем "
    "что чтобы эта эти это этого этой этом этот я",
    "tr": "acaba ama ancak arasında artık aslında az bana bazı belki ben biri birçok bir biz bu bunu bunun böyle "
    "çok çünkü da daha de değil diye en gibi göre hangi hangisi hem hep her hiç için ile ise kaç kadar kez "
    "ki kim kime kimin mı mi mu mü nasıl ne neden nedir nerede nereye nereden niçin niye o olan olarak oldu "
    "olduğu olduğunu olur onlar onu onun orada oysa şey şu tarafından tüm üzere var ve veya ya yani "
    # suffixes written after the apostrophe of a name
    "e a i ı u ü in ın un ün nin nın nun nün ye yi yı yu yü na ne ni nı nu nü ta te dan den tan ten "
    "nda nde daki deki taki teki yla yle la le dır dir",
    "ar": "في من إلى على عن مع هذا هذه ذلك تلك التي الذي الذين اللذان ما ماذا متى أين كيف كم هل لماذا لم لن لا إن "
    "أن أنه أنها كان كانت كانوا يكون تكون هو هي هم هن نحن أنت أنا و أو ثم قد كل بعض غير بين حتى إذا إذ لكن "
    "بل عند عندما منذ خلال بعد قبل حول أي أية من هما ليس فيه فيها به بها له لها لهم منه منها عليه عليها وقد "
    "ولم ومن وفي وما وهو وهي ولا وكان وكانت وعلى وعن ومع والتي والذي الى اين اذا او ان اي انه انها هذة فى التى "
    "بماذا لما فيما مما عما بما وماذا ولماذا وكيف وأين ومتى لأي بأي تم يتم تمت هناك هنا كما أيضا يمكن يوجد توجد "
    "اللتان اللواتي اللاتي عنه عنها معه معها إليه إليها بينها بينهما لديه لديها",
    "hi": "का के की को में से पर और है हैं था थी थे यह वह ये वे कि जो तो भी ही एक नहीं ने इस उस इन उन के लिए साथ "
    "तक हो होता होती होते हुआ हुई हुए कर करना करने किया किए गया गई गए क्या कौन कब कहाँ कहां क्यों कैसे कितना "
    "कितनी कितने किस किसने किसका किसकी किसे जब तब अब या लेकिन अपने अपनी अपना वाला वाली वाले द्वारा बाद",
    "zh": "什么 什麼 么是 麼是 是什 多少 哪些 哪个 哪個 哪里 哪裡 哪一 哪年 一年 怎么 怎麼 怎样 为什 為什 如何 "
    "何时 何時 是谁 是誰 谁是 了什 的什 有什 个什 為何 为何 有多 是多 些什 是哪 在哪 有哪 于哪 的是 是在 "
    "是由 的一 一个 一個 之一 以及 么时 麼時 时候 時候 哪位 哪种 哪種 么类 叫什 的哪 是何 于何 "
    "是 的 了 在 和 与 有 谁 誰 哪",
    "th": "อะไร ที่ไหน เมื่อไร เมื่อไหร่ เมื่อใด อย่างไร ทำไม ใคร เท่าไร เท่าไหร่ เท่าใด หรือไม่ หรือเปล่า บ้าง และ ของ เป็น ซึ่ง หรือ",
    "ja": "何で です すか ます ました した する して いる ある こと もの これ それ どの どこ いつ なぜ だれ 誰が "
    "何が 何を 何の のは では には とは から まで ため よう という って れた れる され った ている の は が "
    "を に で と も か 何 誰",
}

STOP_WORDS: Mapping[str, frozenset[str]] = MappingProxyType(
    {language: frozenset(words.split()) for language, words in _WORDS.items()}
)
"""ISO 639-1 code -> stop words, including the spellings that `fold` produces. Chinese and Japanese have single
characters and pairs of characters. Thai has strings that are words wherever they occur."""

LANGUAGE_CODES = frozenset(
    "aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en "
    "eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv "
    "ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne "
    "ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg sh si sk sl sm sn so sq sr ss "
    "st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu".split()
)
"""The codes of ISO 639-1. Of most of these languages only the script and the sentence ends are known here."""

# Each of these scripts belongs to one language, or nearly so, among those with a stemmer or stop words.
_SCRIPTS = (
    ("zh", lazy_regex(r"[\u3040-\u30ff\uff66-\uff9f\u3400-\u9fff\uf900-\ufaff\U00020000-\U000323af]")),
    ("ko", lazy_regex(r"[\u1100-\u11ff\uac00-\ud7af]")),
    ("th", lazy_regex(r"[\u0e00-\u0e7f]")),
    ("ar", lazy_regex(r"[\u0600-\u06ff]")),
    ("hi", lazy_regex(r"[\u0900-\u097f]")),
    ("ru", lazy_regex(r"[\u0400-\u04ff]")),
    ("el", lazy_regex(r"[\u0370-\u03ff]")),
    ("hy", lazy_regex(r"[\u0530-\u058f]")),
    ("ta", lazy_regex(r"[\u0b80-\u0bff]")),
    ("he", lazy_regex(r"[\u0590-\u05ff]")),
)
_LATIN = ("en", "de", "fr", "es", "it", "pt", "nl", "sv", "tr")
_LATIN_WORD = lazy_regex(r"[a-zà-öø-ÿğışœ]+")
_ASCII_LETTERS = bytes(byte if bytes((byte,)).isalpha() else ord(" ") for byte in bytes(range(256)).lower())
"""A table for `bytes.translate` that makes ASCII letters lower case, and all else a space."""
_HIRAGANA = lazy_regex(r"[\u3040-\u309f]")
_KATAKANA = lazy_regex(r"[\u30a0-\u30ff\uff66-\uff9f]")
_SCRIPT_SHARE = 0.2
_HIRAGANA_SHARE, _KATAKANA_SHARE = 0.05, 0.3
"""A Japanese text exceeds one of these shares of its Han and kana. A Chinese text may have names in katakana."""
_SAMPLE, _FUNCTION_WORDS = 1_000, 0.15
"""Characters that `is_prose_in` reads, and the least share of function words in prose."""
_OWN_LETTERS = {"de": "äöüß", "es": "ñ¿¡", "pt": "ãõ", "sv": "å", "tr": "ığşİ"}


def detect_language(text: str) -> str:
    """Return the ISO 639-1 code of the most likely language of `text`, or "en" without evidence.

    The script settles every language that does not use Latin letters. Latin texts are decided by their function
    words, and without any by letters that only one language has.
    """
    language = None if text.isascii() else _language_of_script(text)
    if language:
        return language
    hits = dict.fromkeys(_LATIN, 0)
    languages_of = _languages_of_words()
    for word in _latin_words(text):
        for language in languages_of.get(word, ()):
            hits[language] += 1
    if not text.isascii() and not any(hits.values()):
        hits |= {language: sum(map(text.count, letters)) for language, letters in _OWN_LETTERS.items()}
    return max(hits, key=lambda language: hits[language])


def _latin_words(text: str) -> Collection[str]:
    """Return the different words of `text` in Latin letters, in lower case."""
    if text.isascii():
        return set(text.encode().translate(_ASCII_LETTERS).decode().split())
    return set(_LATIN_WORD.findall(text.lower()))


@cache
def _languages_of_words() -> Mapping[str, list[str]]:
    """Return stop word -> the languages in Latin letters that have it."""
    found: dict[str, list[str]] = {}
    for language in _LATIN:
        for word in STOP_WORDS[language]:
            found.setdefault(word, []).append(language)
    return found


def is_prose_in(language: str, text: str) -> bool:
    """Return whether `text` is surely prose in `language`: many of its words are function words of the language.

    language: a language that is written in Latin letters and has stop words.
    """
    words = _LATIN_WORD.findall(text[:_SAMPLE].lower())
    found = sum(map(STOP_WORDS[language].__contains__, words))
    return bool(words) and found >= _FUNCTION_WORDS * len(words) and detect_language(text[:_SAMPLE]) == language


def _language_of_script(text: str) -> str | None:
    western = len(text.encode("latin-1", "ignore"))
    if len(text) - western <= _SCRIPT_SHARE * len(text):  # no script has enough characters among the others
        return None
    for language, characters in _SCRIPTS:
        found = len(characters.findall(text))
        if found > _SCRIPT_SHARE * len(text):
            return "ja" if language == "zh" and _is_japanese(text, found) else language
    return None


def _is_japanese(text: str, characters: int) -> bool:
    """Return whether a text is Japanese, judging by the share of kana among its Han and kana.

    characters: the number of Han and kana in the text.
    """
    hiragana, katakana = len(_HIRAGANA.findall(text)), len(_KATAKANA.findall(text))
    return hiragana > _HIRAGANA_SHARE * characters or katakana > _KATAKANA_SHARE * characters
