"""Language detection by script and function words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcompress.text.language import detect_language

SENTENCES = {
    "en": "What is the default time after which the connection is closed by the server?",
    "de": "Wie lange wartet der Server, bis er die Verbindung von sich aus schließt?",
    "fr": "Combien de temps le serveur attend-il avant de fermer la connexion ?",
    "es": "¿Cuánto tiempo espera el servidor antes de cerrar la conexión por sí mismo?",
    "it": "Quanto tempo aspetta il server prima di chiudere la connessione che non è usata?",
    "pt": "Quanto tempo o servidor espera até fechar a conexão que não é usada por ele?",
    "nl": "Hoe lang wacht de server voordat hij de verbinding met een gebruiker verbreekt?",
    "sv": "Hur länge väntar servern innan den stänger anslutningen som inte används av någon?",
    "ru": "Сколько времени сервер ждёт, прежде чем закрыть соединение?",
    "tr": "Sunucu bağlantıyı kapatmadan önce ne kadar bekler ve bu değer nasıl değişir?",
    "ar": "كم من الوقت ينتظر الخادم قبل إغلاق الاتصال؟",
    "hi": "कनेक्शन बंद करने से पहले सर्वर कितनी देर प्रतीक्षा करता है?",
    "zh": "服务器在关闭连接之前等待多长时间？",
    "ja": "サーバーは接続を閉じるまでにどのくらい待ちますか？",
    "th": "เซิร์ฟเวอร์รอนานเท่าใดก่อนปิดการเชื่อมต่อ",
    "ko": "서버는 연결을 닫기 전에 얼마나 기다립니까?",
    "el": "Πόση ώρα περιμένει ο διακομιστής πριν κλείσει τη σύνδεση;",
    "he": "כמה זמן השרת מחכה לפני שהוא סוגר את החיבור?",
}


QUESTIONS = {
    "en": "how long is the default timeout?|What did the writer 村上 say about the city of Tokyo in that interview?",
    "es": "¿Dónde está el hospital?|¿Precio?",
    "de": "Wo ist das Krankenhaus?|Öffnungszeiten Bücherei",
    "ru": "Сколько стоит билет?|порт PostgreSQL",
    "tr": "Hastane nerede?|ışık hızı",
    "ar": "أين المستشفى؟",
    "hi": "अस्पताल कहाँ है?",
    "zh": "医院在哪里？|如何配置 timeout 参数？",
    "ja": "病院はどこ？|東京都庁舎建設費用総額の内訳|サーバー接続設定|ﾃﾞｰﾀﾍﾞｰｽ",
    "th": "โรงพยาบาลอยู่ที่ไหน",
}


@pytest.mark.parametrize("language", SENTENCES)
def test_languages_of_sentences_and_of_short_questions_are_told(language):
    texts = [SENTENCES[language], *filter(None, QUESTIONS.get(language, "").split("|"))]
    assert {detect_language(text) for text in texts} == {language}


@pytest.mark.parametrize("text", ["", " ", "12345", "x = 1", "timeout", "\ud800", "👍👍"])
def test_english_where_nothing_tells(text):
    assert detect_language(text) == "en"


@given(st.text())
def test_every_text_has_one(text):
    language = detect_language(text)
    assert len(language) == 2
    assert detect_language(text) == language
