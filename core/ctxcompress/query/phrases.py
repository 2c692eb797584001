"""The phrases that signal comparison, analysis, explanation and the like in a query, for each language."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from types import MappingProxyType
from typing import Generic, TypeVar

from ctxcompress.errors import InputError
from ctxcompress.text.language import STOP_WORDS, detect_language

__all__ = ["PHRASES", "Phrases", "Signals", "signals_for"]

_UNSPACED = frozenset(("zh", "ja", "th"))
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Phrases(Generic[_T]):
    """What signals what in one language: phrases in lower case separated by "|", or the pattern of all of them.

    "*" at the end of a phrase matches the rest of a word, " " matches any white space.
    """

    comparison: _T
    """Signals of a comparison."""
    contrast: _T
    """Phrases that come before the compared things, or after them in some languages."""
    versus: _T
    """Words between two things that make it a comparison."""
    between: _T
    """Words between the things of a comparison that another phrase signals."""
    purpose: _T
    """Words that begin the end of a comparison or an explanation: what it is for, and when."""
    analysis: _T
    """Signals that a thorough answer is wanted."""
    current: _T
    """Signals that the query asks for news or the current state."""
    explanation: _T
    """Signals that something is to be explained."""
    conjunction: _T
    """Conjunctions."""
    concept: _T
    """Question words and comparisons that ask for an understanding."""
    guide: _T
    """Names of introductory texts."""


@dataclass(frozen=True, slots=True)
class Signals(Phrases[re.Pattern[str]]):
    """The patterns for the language of a query, to be matched against lower-case text."""

    ignored: frozenset[str]
    """Function words, in lower case."""
    is_spaced: bool
    """True if the language has spaces between words."""


PHRASES: Mapping[str, Phrases[str]] = MappingProxyType(
    {
        "en": Phrases(
            comparison="compare|compares|compared|comparing|comparison|comparisons|vs|versus|difference between|"
            "differences|pros and cons|advantages and disadvantages|trade-offs|trade-off|tradeoffs|tradeoff",
            contrast="compare|comparing|comparison of|comparison between|difference between|differences between|"
            "distinguish between",
            versus="vs|vs.|versus",
            between="and|or|with|to",
            purpose="for|in terms of|regarding|when|with respect to|in|on|as|to build|to use",
            analysis="analyze*|analyse*|analyzing|analysing|analysis|investigate|investigation|research|researching|comprehensive*|"
            "deep dive|deep-dive|survey|surveys|state of|landscape|evaluat*|in detail|thorough*",
            current="latest|current|currently|recent|recently|trending|trends|new developments|newest|up to date|today",
            explanation="explain*|describe*|discuss*|outline|walk me through|introduce",
            conjunction="and|or|but",
            concept="why|how|explain|what|difference*|compare|compared|comparison|versus|vs|when should|which",
            guide="getting started|get started|overview|background|introduction|tutorial|guide|concepts",
        ),
        "de": Phrases(
            comparison="vergleich*|unterschied*|vs|versus|gegenüber|gegenüberstellung|vor- und nachteile|"
            "vorteile und nachteile",
            contrast="vergleiche|vergleichen|vergleich von|vergleich zwischen|unterschied zwischen|"
            "unterschiede zwischen",
            versus="vs|vs.|versus",
            between="und|oder|mit",
            purpose="für|bei|hinsichtlich|bezüglich|in|im|als|wenn|um",
            analysis="analys*|untersuch*|recherchier*|umfassend*|ausführlich*|gründlich*|eingehend*|im detail|"
            "detailliert*|bewert*|stand der|überblick über",
            current="neueste*|neuste*|aktuell*|derzeit*|jüngst*|kürzlich|trends|heute",
            explanation="erklär*|erläuter*|beschreib*|schilder*",
            conjunction="und|oder|aber",
            concept="warum|wieso|weshalb|wie|was|erklär*|unterschied*|vergleich*|welche*|wann sollte",
            guide="erste schritte|einstieg|einführung|überblick|übersicht|hintergrund|grundlagen|anleitung",
        ),
        "es": Phrases(
            comparison="compar*|diferencia entre|diferencias|frente a|versus|vs|pros y contras|ventajas y desventajas|"
            "ventajas e inconvenientes",
            contrast="compara|comparar|compare|comparación de|comparación entre|diferencia entre|diferencias entre",
            versus="vs|vs.|versus|frente a",
            between="y|e|o|u|con|frente a",
            purpose="para|en cuanto a|respecto a|en|cuando|como",
            analysis="analiz*|análisis|investig*|exhaustiv*|a fondo|en profundidad|detallad*|en detalle|estudio|"
            "estado de|panorama|evalu*",
            current="último*|última*|últimos|últimas|actual*|reciente*|tendencias|hoy",
            explanation="explica*|explique*|describ*",
            conjunction="y|e|o|u|pero",
            concept="por qué|cómo|qué|cuál|cuáles|explica*|diferencia*|compar*|versus|vs",
            guide="primeros pasos|introducción|resumen|visión general|fundamentos|guía|tutorial",
        ),
        "fr": Phrases(
            comparison="compar*|différence entre|différences|par rapport à|versus|vs|avantages et inconvénients|"
            "pour et le contre",
            contrast="compare|comparez|comparer|comparaison de|comparaison entre|différence entre|différences entre",
            versus="vs|vs.|versus",
            between="et|ou|avec|à",
            purpose="pour|en termes de|concernant|dans|en|quand|comme",
            analysis="analys*|enquêt*|recherche*|exhausti*|approfondi*|détaillé*|en détail|état de|état des lieux|"
            "panorama|évalu*|étude",
            current="dernier|dernière|derniers|dernières|actuel*|récent*|tendances|aujourd'hui",
            explanation="expliqu*|décri*|présent*",
            conjunction="et|ou|mais",
            concept="pourquoi|comment|que|quoi|quel|quelle|quels|quelles|qu'est-ce|expliqu*|différence*|compar*|vs",
            guide="premiers pas|introduction|aperçu|vue d'ensemble|contexte|guide|tutoriel|bases",
        ),
        "it": Phrases(
            comparison="confront*|differenza tra|differenze|rispetto a|versus|vs|pro e contro|vantaggi e svantaggi",
            contrast="confronta|confrontare|confronto tra|differenza tra|differenze tra",
            versus="vs|vs.|versus",
            between="e|ed|o|con|tra",
            purpose="per|in termini di|riguardo a|in|nel|nella|quando|come",
            analysis="analizz*|analisi|indag*|ricerc*|esaustiv*|approfondi*|dettagliat*|in dettaglio|stato di|"
            "panorama|valut*",
            current="ultimo|ultima|ultimi|ultime|attual*|recent*|tendenze|oggi",
            explanation="spieg*|descriv*|illustr*",
            conjunction="e|ed|o|ma",
            concept="perché|come|cosa|che cos'è|quale|quali|spieg*|differenz*|confront*|vs",
            guide="primi passi|introduzione|panoramica|contesto|guida|tutorial|basi",
        ),
        "pt": Phrases(
            comparison="compar*|diferença entre|diferenças|versus|vs|prós e contras|vantagens e desvantagens",
            contrast="compare|comparar|comparação entre|diferença entre|diferenças entre",
            versus="vs|vs.|versus",
            between="e|ou|com",
            purpose="para|em termos de|quanto a|em|no|na|quando|como",
            analysis="analis*|análise|investig*|pesquis*|abrangente|aprofundad*|detalhad*|em detalhe|estado de|"
            "panorama|avali*",
            current="último|última|últimos|últimas|atual|atuais|atualmente|recente*|tendências|hoje",
            explanation="expliqu*|explica*|descrev*",
            conjunction="e|ou|mas",
            concept="por que|por quê|porque|como|o que|qual|quais|explica*|expliqu*|diferença*|compar*|vs",
            guide="primeiros passos|introdução|visão geral|contexto|guia|tutorial|conceitos",
        ),
        "ru": Phrases(
            comparison="сравн*|отличи*|отлича*|разниц*|различи*|против|vs|плюсы и минусы|преимущества и недостатки",
            contrast="сравни|сравните|сравнить|сравнение|разница между|различия между|отличия между",
            versus="vs|против",
            between="и|или|с|от|против",
            purpose="для|по|в|на|при|когда",
            analysis="анализ*|проанализир*|исследу*|исследован*|подробн*|всесторонн*|обзор|оцени*|детальн*",
            current="последн*|текущ*|недавн*|новейш*|актуальн*|тренд*|сегодня|сейчас",
            explanation="объясн*|опиш*|расскаж*",
            conjunction="и|или|но",
            concept="почему|зачем|как|что|какой|какая|какие|объясн*|разниц*|сравн*|отлич*|vs",
            guide="начало работы|введение|обзор|руководство|основы|учебник",
        ),
        "tr": Phrases(
            comparison="karşılaştır*|fark*|arasındaki fark*|kıyasla*|vs|artıları ve eksileri|"
            "avantajları ve dezavantajları",
            contrast="karşılaştır|karşılaştırın",
            versus="vs",
            between="ve|veya|ile",
            purpose="için|açısından|konusunda",
            analysis="analiz*|incele*|araştır*|kapsamlı*|ayrıntılı*|detaylı*|değerlendir*|derinlemesine",
            current="en son|güncel*|son dönem*|yeni gelişmeler|trend*|bugün*",
            explanation="açıkla*|anlat*|tarif et*",
            conjunction="ve|veya|ya da|ama|fakat",
            concept="neden|niçin|nasıl|nedir|ne|hangi|açıkla*|fark*|karşılaştır*|vs",
            guide="başlarken|giriş|genel bakış|rehber|kılavuz|temeller",
        ),
        "zh": Phrases(
            comparison="比较|對比|对比|比較|区别|區別|差异|差異|不同|优缺点|優缺點|利弊|vs",
            contrast="比较|比較|对比|對比|区别|區別|差异|差異|不同",
            versus="vs",
            between="和|与|與|及|跟|或",
            purpose="的|在|用于|用於|对于|對於",
            analysis="分析|研究|调查|調查|全面|深入|详细|詳細|综述|現狀|现状|评估|評估",
            current="最新|当前|當前|目前|最近|近期|趋势|趨勢|今天",
            explanation="解释|解釋|说明|說明|介绍|介紹|描述",
            conjunction="和|或|与|與|以及|但",
            concept="为什么|為什麼|如何|怎么|怎麼|有什么|有什麼|有何|什么|什麼|解释|解釋|区别|區別|比较|比較|哪",
            guide="入门|入門|概述|背景|简介|簡介|教程|指南|原理",
        ),
        "ja": Phrases(
            comparison="比較|違い|差異|メリットとデメリット|長所と短所|優劣|vs",
            contrast="比較|違い|差異",
            versus="vs",
            between="と|や|または|か",
            purpose="の|における|について|に関して",
            analysis="分析|調査|研究|包括的|徹底|詳しく|詳細|評価|現状",
            current="最新|現在|最近|トレンド|動向|今日",
            explanation="説明|解説|紹介|教えて",
            conjunction="と|や|または|そして|しかし|および",
            concept="なぜ|どうして|どのように|どうやって|何|なに|説明|違い|比較|どれ|どちら",
            guide="はじめに|入門|概要|背景|チュートリアル|ガイド|基礎",
        ),
        "th": Phrases(
            comparison="เปรียบเทียบ|แตกต่าง|ความต่าง|ข้อดีและข้อเสีย|ข้อดีข้อเสีย|vs",
            contrast="เปรียบเทียบ|แตกต่าง|ความต่าง",
            versus="vs",
            between="กับ|และ|หรือ",
            purpose="สำหรับ|ในด้าน|ใน|ของ",
            analysis="วิเคราะห์|วิจัย|สำรวจ|ละเอียด|เชิงลึก|ครอบคลุม|ประเมิน",
            current="ล่าสุด|ปัจจุบัน|แนวโน้ม|เมื่อเร็วๆ นี้|วันนี้",
            explanation="อธิบาย|บรรยาย|เล่า",
            conjunction="และ|หรือ|แต่",
            concept="ทำไม|อย่างไร|ยังไง|อะไร|อธิบาย|แตกต่าง|เปรียบเทียบ|ไหน",
            guide="เริ่มต้น|ภาพรวม|เบื้องต้น|คู่มือ|บทนำ|พื้นฐาน",
        ),
        "ar": Phrases(
            comparison="قارن*|مقارنة|الفرق بين|الفروق|الفرق|مقابل|مزايا وعيوب|إيجابيات وسلبيات|vs",
            contrast="قارن|قارن بين|مقارنة بين|الفرق بين|الفروق بين",
            versus="vs|مقابل",
            between="و|أو|مع|مقابل",
            purpose="من حيث|في|لأجل|عند|بالنسبة",
            analysis="حلل|تحليل|ابحث|بحث|شامل*|بالتفصيل|تفصيلي*|معمق*|قيم|تقييم|دراسة",
            current="أحدث|الحالي*|حاليا|الأخيرة|اتجاهات|اليوم|آخر",
            explanation="اشرح|شرح|صف|وضح",
            conjunction="و|أو|لكن",
            concept="لماذا|كيف|ما|ماذا|أي|اشرح|الفرق|مقارنة|قارن",
            guide="البدء|مقدمة|نظرة عامة|خلفية|دليل|أساسيات",
        ),
        "hi": Phrases(
            comparison="तुलना|अंतर|फर्क|फ़र्क|फायदे और नुकसान|बनाम|vs",
            contrast="तुलना",
            versus="vs|बनाम",
            between="और|या|बनाम|से",
            purpose="के लिए|के मामले में|में",
            analysis="विश्लेषण|जांच|जाँच|शोध|विस्तृत|विस्तार से|गहन|मूल्यांकन|सर्वेक्षण",
            current="नवीनतम|वर्तमान|हाल|हालिया|ताज़ा|ताजा|रुझान|आज",
            explanation="समझाइए|समझाओ|समझाएं|वर्णन|बताइए|व्याख्या",
            conjunction="और|या|लेकिन|तथा",
            concept="क्यों|कैसे|क्या|कौन|कौनसा|समझाइए|अंतर|तुलना|बनाम",
            guide="शुरुआत|परिचय|अवलोकन|पृष्ठभूमि|गाइड|मूल बातें",
        ),
    }
)
"""ISO 639-1 code -> phrases of the language."""


def signals_for(query: str, language: str | None = None) -> Signals:
    """Return the patterns for the language of `query`, and for English, because people mix in English words.

    language: ISO 639-1 code; None detects it. Raises InputError if `query` is not a string.
    """
    if not isinstance(query, str):
        raise InputError(f"query is a {type(query).__name__}; give a string")
    return _signals(language or detect_language(query))


@cache
def _signals(language: str) -> Signals:
    sources = [(code, PHRASES[code]) for code in dict.fromkeys((language, "en")) if code in PHRASES]
    names = [entry.name for entry in fields(Phrases)]
    patterns = {
        name: re.compile("|".join(_pattern(getattr(phrases, name), code) for code, phrases in sources))
        for name in names
    }
    ignored = STOP_WORDS["en"] | STOP_WORDS.get(language, frozenset())
    return Signals(**patterns, ignored=ignored, is_spaced=language not in _UNSPACED)


def _pattern(phrases: str, language: str) -> str:
    """Return a pattern of whole words, the longest first. In a language without spaces it matches anywhere."""
    longest = sorted(phrases.split("|"), key=len, reverse=True)
    parts = (
        re.escape(phrase.rstrip("*")).replace("\\ ", r"\s++") + r"\w*+" * phrase.endswith("*") for phrase in longest
    )
    found = "|".join(parts)
    return f"(?:{found})" if language in _UNSPACED else rf"(?<!\w)(?:{found})(?!\w)"
