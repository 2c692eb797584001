"""The sentence with the answer is kept at a quarter of the text, though the question's words have other forms."""

import pytest

from ctxcompress import CompressionConfig, compress

PASSAGES = {
    "es": (
        "La biblioteca municipal abrió en 1931. Presta novelas, mapas y discos. Los lunes permanece cerrada.",
        "El puente de piedra cruza el río desde 1874. Lo diseñó una ingeniera portuguesa. Hoy solo pasan peatones.",
        "El mercado ocupa la plaza mayor. Los agricultores venden queso y aceitunas. Empieza a las siete.",
        "La estación de tren queda al norte. De allí salen seis trenes diarios a la capital. El billete cuesta poco.",
        "El hospital atiende a toda la comarca. Cuenta con cuarenta médicos. Las urgencias nunca cierran.",
    ),
    "de": (
        "Die Stadtbücherei öffnete 1931. Sie verleiht Romane, Karten und Schallplatten. Montags ist sie geschlossen.",
        "Die Steinbrücke führt seit 1874 über den Fluss. Eine Ingenieurin aus Porto entwarf sie. Autos dürfen nicht.",
        "Der Markt füllt den großen Platz. Bauern verkaufen Käse und Äpfel. Er beginnt um sieben.",
        "Das Museum zeigt Gemälde aus dem Barock. Ein Brand zerstörte 1968 zwei Säle. Der Eintritt ist frei.",
        "Das Krankenhaus versorgt den ganzen Kreis. Dort arbeiten vierzig Ärzte. Die Notaufnahme schließt nie.",
    ),
    "ru": (
        "Городская библиотека открылась в 1931 году. Она выдаёт романы, карты и пластинки. В понедельник она закрыта.",
        "Каменный мост стоит над рекой с 1874 года. Его построила женщина из Порту. Машинам въезд запрещён.",
        "Рынок занимает всю площадь. Крестьяне продают сыр и яблоки. Торговля начинается в семь.",
        "Больница лечит жителей всего района. Здесь работают сорок врачей. Приёмный покой открыт всегда.",
        "Праздник проходит в августе. Под ёлками играют оркестры, а по полю скачут лошади. Гости едут издалека.",
    ),
    "tr": (
        "Şehir kütüphanesi 1931 yılında açıldı. Roman, harita ve plak ödünç verir. Pazartesi günleri kapalıdır.",
        "Taş köprü 1874 yılından beri nehrin üstündedir. Onu Portolu bir mühendis çizmiş. Arabalar geçemez.",
        "Müzede eski ustaların tabloları asılıdır. Çıkan yangın 1968 yılında iki salonu yok etti. Giriş ücretsizdir.",
        "Hastane bütün ilçeye bakar. Burada kırk doktor çalışıyor. Acil servis hiç kapanmaz.",
        "IŞIK ŞENLİĞİ ağustosta yapılır. Nehir kıyısında fenerler yakılır. Uzaktan konuklar gelir.",
    ),
    "zh": (
        "市图书馆于一九三一年开放。读者可以借小说、地图和唱片。星期一闭馆。",
        "石桥自一八七四年起横跨河流。设计它的是一位葡萄牙女工程师。汽车不得通行。",
        "集市占满了大广场。农民出售奶酪和苹果。早上七点开始。",
        "博物馆收藏古代绘画。一九六八年火灾烧毁了两个展厅。门票免费。",
        "医院服务整个地区。四十名医生在这里工作。急诊从不关门。",
    ),
    "ja": (
        "市立図書館は１９３１年に開館した。小説や地図やレコードを貸し出す。月曜日は休みである。",
        "石橋は１８７４年から川に架かっている。設計したのはポルトガルの女性技師だった。車は通れない。",
        "市場は大きな広場で開かれる。農家がチーズやりんごを売る。朝七時に始まる。",
        "駅は町の北にある。首都へは一日六本の列車が出ている。切符は安い。",
        "博物館には古い絵画がある。１９６８年の火事で二つの展示室が焼けた。入場は無料である。",
    ),
    "th": (
        "ห้องสมุดเทศบาลเปิดเมื่อปี ๒๔๗๔ ให้ยืมนวนิยาย แผนที่ และแผ่นเสียง วันจันทร์ปิดทำการ",
        "สะพานหินข้ามแม่น้ำสร้างเมื่อปี ๒๔๑๗ วิศวกรหญิงชาวโปรตุเกสเป็นผู้ออกแบบ รถยนต์ผ่านไม่ได้",
        "ตลาดนัดอยู่ที่ลานกว้างกลางเมือง ชาวนาขายเนยแข็งและแอปเปิล เริ่มเจ็ดโมงเช้า",
        "พิพิธภัณฑ์เก็บภาพวาดโบราณ ไฟไหม้ทำลายห้องแสดงสองห้องเมื่อปี ๒๕๑๑ เข้าชมฟรี",
        "โรงพยาบาลดูแลคนทั้งอำเภอ มีแพทย์สี่สิบคนทำงานที่นี่ ห้องฉุกเฉินไม่เคยปิด",
    ),
    "ar": (
        "فتحت مكتبة البلدية أبوابها سنة ١٩٣١. تعير الروايات والخرائط والأسطوانات. وهي مغلقة يوم الاثنين.",
        "يعبر الجسر الحجري النهر منذ سنة ١٨٧٤. صممته مهندسة برتغالية. لا تمر عليه السيارات.",
        "يملأ السوق الساحة الكبيرة. يبيع المزارعون الجبن والتفاح. يبدأ في السابعة صباحاً.",
        "يضم المتحف لوحات قديمة. دمّر حريق قاعتين من قاعاته سنة ١٩٦٨. الدخول مجاني.",
        "يخدم المستشفى المنطقة كلها. يعمل فيه أربعون طبيباً. لا يغلق قسم الطوارئ أبداً.",
    ),
    "hi": (
        "नगर पुस्तकालय सन् १९३१ में खुला। यहाँ उपन्यास, नक्शे और रिकॉर्ड मिलते हैं। सोमवार को यह बंद रहता है।",
        "पत्थर का पुल १८७४ से नदी के ऊपर खड़ा है। इसे पुर्तगाल की एक महिला ने बनाया। गाड़ियाँ मना हैं।",
        "संग्रहालय में पुराने चित्र हैं। १९६८ की आग ने दो कमरों को नष्ट कर दिया। प्रवेश मुफ़्त है।",
        "अस्पताल पूरे ज़िले की सेवा करता है। यहाँ चालीस डॉक्टर काम करते हैं। आपात सेवा कभी बंद नहीं होती।",
        "मेला अगस्त में लगता है। हिंदी कवियों की सभा और घुड़दौड़ होती है। मेहमान दूर से आते हैं।",
    ),
}
QUESTIONS = (
    ("es", "¿Cuántos médicos hay en los hospitales?", "Cuenta con cuarenta médicos."),
    ("es", "¿Quién fue el ingeniero que diseñaba los puentes?", "Lo diseñó una ingeniera portuguesa."),
    ("de", "Wie viele Ärztinnen und Ärzte arbeiten in Krankenhäusern?", "Dort arbeiten vierzig Ärzte."),
    ("de", "Wann hat ein Brand die Saele des Museums zerstört?", "Ein Brand zerstörte 1968 zwei Säle."),
    ("ru", "Сколько врачей работает в больницах?", "Здесь работают сорок врачей."),
    ("ru", "Что бывает под елкой?", "Под ёлками играют оркестры, а по полю скачут лошади."),
    ("tr", "Hastanelerde kaç doktor çalışır?", "Burada kırk doktor çalışıyor."),
    ("tr", "Yangında müzenin hangi salonları yok oldu?", "Çıkan yangın 1968 yılında iki salonu yok etti."),
    ("tr", "Işıklı şenlik ne zaman?", "IŞIK ŞENLİĞİ ağustosta yapılır."),
    ("zh", "有多少医生在医院工作？", "四十名医生在这里工作。"),
    ("zh", "哪一年的火灾烧毁了博物馆的展厅？", "一九六八年火灾烧毁了两个展厅。"),
    ("ja", "首都へ行く列車は一日に何本ですか？", "首都へは一日六本の列車が出ている。"),
    ("ja", "1931年に開館したのは何ですか？", "市立図書館は１９３１年に開館した。"),
    ("th", "ปี 2511 เกิดอะไรขึ้น", "ไฟไหม้ทำลายห้องแสดงสองห้องเมื่อปี ๒๕๑๑"),
    ("th", "มีแพทย์กี่คนทำงานในโรงพยาบาล", "มีแพทย์สี่สิบคนทำงานที่นี่"),
    ("ar", "كم عدد الأطباء العاملين في المستشفيات؟", "يعمل فيه أربعون طبيباً."),
    ("ar", "ما القاعات التي دمرتها الحرائق بالمتحف؟", "دمّر حريق قاعتين من قاعاته سنة ١٩٦٨."),
    ("hi", "1968 में क्या हुआ?", "१९६८ की आग ने दो कमरों को नष्ट कर दिया।"),
    ("hi", "अस्पतालों में कितने डॉक्टर काम कर रहे हैं?", "यहाँ चालीस डॉक्टर काम करते हैं।"),
    ("hi", "हिन्दी कहाँ?", "हिंदी कवियों की सभा और घुड़दौड़ होती है।"),
)


@pytest.mark.parametrize("scorer", ["evidence", "bm25"])
@pytest.mark.parametrize(("language", "question", "answer"), QUESTIONS)
def test_the_sentence_with_the_answer_is_kept(language, question, answer, scorer):
    passages = PASSAGES[language]
    assert any(answer in passage for passage in passages)
    quarter = len("\n\n".join(passages)) // 4
    config = CompressionConfig(encoding=list, scorer=scorer)
    result = compress(question, passages, max_tokens=quarter, config=config)
    assert answer in result.text
    assert len(result.text) <= quarter


@pytest.mark.parametrize("language", PASSAGES)
def test_given_and_detected_languages_do_the_same(language):
    question = next(question for of_language, question, _ in QUESTIONS if of_language == language)
    passages = PASSAGES[language]
    results = [
        compress(question, passages, max_tokens=100, config=CompressionConfig(encoding=list, language=given))
        for given in (None, language)
    ]
    assert results[0].text == results[1].text
