"""The answer's sentence is kept at a small budget, in any language, without any option."""

import pytest

from ctxcompress import compress
from ctxcompress.data.passages import shown

LANGUAGES = {
    "zh": (
        "图书馆周末几点关门？",
        "图书馆周末下午五点关门。",
        "花园里种满了玫瑰。孩子们在河边玩耍。邮局在火车站旁边。面包店早上很忙。",
    ),
    "ja": (
        "図書館は週末何時に閉まりますか？",
        "図書館は週末の午後五時に閉まります。",
        "庭にはバラが咲いています。子供たちは川で遊びます。駅の隣に郵便局があります。朝のパン屋は忙しいです。",
    ),
    "th": (
        "ห้องสมุดปิดกี่โมงในวันหยุด",
        "ห้องสมุดปิดห้าโมงเย็นในวันหยุด",
        "ในสวนมีดอกกุหลาบ เด็กเล่นที่ริมแม่น้ำ ไปรษณีย์อยู่ข้างสถานีรถไฟ ร้านขนมปังยุ่งมากตอนเช้า",
    ),
    "ar": (
        "متى تغلق المكتبة في عطلة الأسبوع؟",
        "تغلق المكتبة في عطلة الأسبوع الساعة الخامسة مساءً.",
        "تنمو الورود في الحديقة. يلعب الأطفال قرب النهر. مكتب البريد بجانب المحطة. المخبز مزدحم صباحاً.",
    ),
    "hi": (
        "पुस्तकालय सप्ताहांत में कब बंद होता है?",
        "पुस्तकालय सप्ताहांत में शाम पाँच बजे बंद होता है।",
        "बगीचे में गुलाब खिले हैं। बच्चे नदी के पास खेलते हैं। डाकघर स्टेशन के बगल में है।",
    ),
    "ru": (
        "Когда закрывается библиотека в выходные?",
        "В выходные библиотеки закрываются в пять часов вечера.",
        "В саду растут розы. Дети играют у реки. Почта стоит рядом с вокзалом. Утром в пекарне много людей.",
    ),
    "tr": (
        "Kütüphane hafta sonu saat kaçta kapanıyor?",
        "Kütüphaneler hafta sonu akşam beşte kapanır.",
        "Bahçede güller açıyor. Çocuklar nehirde oynuyor. Postane istasyonun yanında. Fırın sabahları çok kalabalık.",
    ),
    "ko": (
        "도서관은 주말에 몇 시에 닫나요?",
        "도서관이 주말에는 오후 다섯 시에 닫습니다.",
        "정원에는 장미가 핍니다. 아이들은 강가에서 놉니다. 우체국은 역 옆에 있습니다. 빵집은 아침에 붐빕니다.",
    ),
    "de": (
        "Wann schließt die Bibliothek am Wochenende?",
        "Am Wochenende schließen die Bibliotheken um fünf Uhr nachmittags.",
        "Im Garten blühen Rosen. Kinder spielen am Fluss. Die Post ist neben dem Bahnhof. Morgens ist der Bäcker voll.",
    ),
    "es": (
        "¿A qué hora cierra la biblioteca el fin de semana?",
        "Las bibliotecas cierran el fin de semana a las cinco de la tarde.",
        "En el jardín crecen rosas. Los niños juegan junto al río. El correo está al lado de la estación.",
    ),
}


@pytest.mark.parametrize("options", [{}, {"scorer": "bm25"}, {"language": "given"}], ids=str)
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_answer_is_kept_at_a_small_budget(language, options):
    question, answer, filler = LANGUAGES[language]
    texts = [f"{filler} {n}" for n in range(10)]
    texts[6] = f"{filler} {answer} {filler}"
    options = {name: language for name in options if name == "language"} or options
    result = compress(question, texts, max_tokens=60, **options)
    assert answer in result.text
    assert result.tokens <= 60


@pytest.mark.parametrize("language", LANGUAGES)
def test_punctuation_and_letters_are_as_they_were(language):
    question, answer, filler = LANGUAGES[language]
    for kept in compress(question, [f"{filler} {answer}"] * 2, max_tokens=40).passages:
        assert kept.text == shown(kept.original.text, kept.spans, kept.markers)
        assert kept.text
