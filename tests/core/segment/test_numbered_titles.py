"""Numbered titles of contracts, laws and terms of service in plain text are headings."""

import pytest

from ctxcompress import compress
from ctxcompress.data.passages import Kind
from ctxcompress.segment.numbered_titles import numbered_titles
from ctxcompress.segment.segments import segment

LEASE = """RESIDENTIAL LEASE AGREEMENT

This Agreement is made on the first of May between Harbour Homes Ltd. ("Landlord") and the person below ("Tenant").

ARTICLE I

DEFINITIONS

Words with a capital letter have the meaning that this Article gives them. "Premises" means the flat and its cellar.

Section 1.1 Business Days

Saturdays do not count. Holidays of the city do not count either.

Article 2 - Term

The lease begins on the first of June. It ends after two years unless both parties renew it in writing.

Article 3 - Deposits

The Tenant pays three monthly rents before moving in. The Landlord returns them within sixty days, as said in
Article 2 and in
Section 1.1 of this Agreement.

4.1 Repairs
The Landlord repairs the roof and the heating. The Tenant reports damage within a week.

4.2 Pets
Cats may be kept. Dogs need the consent of the Landlord.

SCHEDULE A
Inventory of the Premises

One table and four chairs are left in the kitchen.
"""
MIETVERTRAG = """Mietvertrag über Wohnraum

§ 1 Mietsache
(1) Vermietet wird die Wohnung im zweiten Stock mit drei Zimmern.
(2) Der Keller gehört dazu.
§ 2 Mietzeit
Das Mietverhältnis beginnt am ersten Juni. Es läuft auf unbestimmte Zeit.

§ 3. Miete und Nebenkosten

1. Die Miete beträgt 900 Euro.
2. Die Nebenkosten betragen 150 Euro, wie es in
§ 2 Satz 1 und in
§ 556 Absatz 3 bestimmt ist.

§ 4 Kaution

Der Mieter zahlt drei Monatsmieten als Sicherheit. Der Vermieter legt sie getrennt von seinem Vermögen an.

Anlage 1: Hausordnung

Ab zehn Uhr abends ist Ruhe zu halten.
"""
VERORDNUNG = """KAPITEL II

Grundsätze

Artikel 5

Grundsätze für die Verarbeitung von Daten

(1) Die Daten müssen auf rechtmäßige Weise verarbeitet werden.

ARTIKEL 6

Rechtmäßigkeit

Die Verarbeitung ist nur rechtmäßig, wenn eine Einwilligung vorliegt.
"""
CONTRACT_ZH = """房屋租赁合同

第一章 总则

第一条 租赁物
甲方将位于海淀区的房屋出租给乙方使用。房屋面积为八十平方米。

第二条 租赁期限

租赁期限为两年。期满后乙方可以优先续租。

第三条（押金）
乙方应当支付相当于三个月租金的押金。

第四条
本合同自双方签字之日起生效。
"""
TITLES = {
    LEASE: [
        "ARTICLE I DEFINITIONS",
        "Section 1.1 Business Days",
        "Article 2 - Term",
        "Article 3 - Deposits",
        "4.1 Repairs",
        "4.2 Pets",
        "SCHEDULE A Inventory of the Premises",
    ],
    MIETVERTRAG: [
        "§ 1 Mietsache",
        "§ 2 Mietzeit",
        "§ 3. Miete und Nebenkosten",
        "§ 4 Kaution",
        "Anlage 1: Hausordnung",
    ],
    VERORDNUNG: [
        "KAPITEL II Grundsätze",
        "Artikel 5 Grundsätze für die Verarbeitung von Daten",
        "ARTIKEL 6 Rechtmäßigkeit",
    ],
    CONTRACT_ZH: ["第一章 总则", "第一条 租赁物", "第二条 租赁期限", "第三条（押金）", "第四条"],
}  # fmt: skip


def headings(text):
    parts = segment(text)
    assert "".join(text[part.start : part.end] for part in parts) == text
    return [" ".join(text[part.start : part.end].split()) for part in parts if part.kind is Kind.HEADING]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("text", TITLES)
def test_numbered_titles_are_headings(text, newline):
    assert headings(text.replace("\n", newline)) == TITLES[text]


def test_a_title_is_deeper_than_the_titles_above_it():
    path_of = {
        part.heading[-1]: part.heading for text in (LEASE, CONTRACT_ZH) for part in segment(text) if part.heading
    }
    assert path_of["Section 1.1 Business Days"] == ("ARTICLE I DEFINITIONS", "Section 1.1 Business Days")
    assert path_of["Article 2 - Term"] == ("Article 2 - Term",)
    assert path_of["4.2 Pets"] == ("Article 3 - Deposits", "4.2 Pets")
    assert path_of["第三条（押金）"] == ("第一章 总则", "第三条（押金）")


@pytest.mark.parametrize(
    ("text", "query", "kept"),
    [
        (LEASE, "deposits", "Article 3 - Deposits\n\nThe Tenant pays three monthly rents"),
        (MIETVERTRAG, "Wie hoch ist die Kaution?", "§ 4 Kaution\n\nDer Mieter zahlt drei Monatsmieten"),
        (CONTRACT_ZH, "租赁期限是多久？", "第二条 租赁期限\n\n租赁期限为两年。"),
    ],
)
@pytest.mark.parametrize("budget", [40, 60, 80])
def test_a_title_is_kept_with_its_text_and_never_without(text, query, kept, budget):
    found = compress(query, [text], max_tokens=budget).text
    assert kept in found
    assert found.splitlines()[-1] not in TITLES[text]


@pytest.mark.parametrize(
    "line",
    [
        "Section 3 applies to all of them.",
        "Article 5 Deposits are held in a bank, and they are returned.",
        "Section 3,",
        "section 3 Term",
        "Part of it",
        "Table 3 Results",
        "1.2 million",
        "1.5",
        "12.05.2023 Meeting",
        "10.05 Train",
        "1.2 Scope ........ 4",
        "1.2 Scope      4",
        "1.2 Scope | 4",
        "- 1.2 Scope",
        "| 1.2 | Scope |",
        "Article 7 - Deposits and all else that the tenant has to pay before the keys are handed over to them at last",
        "第三条规定，",
        "第三条租赁期限为两年。",
        "第三天 早晨",
    ],
)
def test_what_is_no_title(line):
    assert headings(f"Some text comes before it.\n\n{line}\n\nSome text comes after it.\n") == []


@pytest.mark.parametrize(
    "text",
    [
        "This is said in\nSection 3. Term\nof the law.",
        "This is said in\n§ 4 Kaution\nDer Mieter zahlt.",
        "It is said here.\nSection 3 Term\nand so on.",
        "1.1 Scope\n1.2 Term\n1.3 Deposits",
        "The end of it.\n\nSection 3. Term\n",
        "§ 4 Kaution",
    ],
)
def test_a_line_within_a_sentence_or_without_text_is_no_title(text):
    assert headings(text) == []


def test_of_a_table_of_contents_no_entry_is_a_title_that_another_follows():
    contents = "Contents\n\n1.1 Scope\n1.2 Term\n\n1.1 Scope\n\nAll deliveries.\n\n1.2 Term\n\nTwo years.\n"
    assert headings(contents) == ["1.1 Scope", "1.2 Term"]


def test_titles_in_fences_tables_and_lists_stay_there():
    fence, quote = "```\n§ 4 Kaution\nDer Mieter zahlt.\n```\n\n", "> § 5 Miete\n> Er zahlt mehr.\n\n"
    text = f"Look:\n\n{fence}{quote}- Ja.\n\n  § 6 Ende\n  Gut.\n"
    assert headings(text) == []


@pytest.mark.parametrize("part", ["§ ", "\n§ 1", "\nSection 1", "\n1.2 A", "1.", "第", "\nART. ", "\nI V X"])
def test_hostile_texts_are_no_burden(part):
    text = f"\n{part * 50_000}\n§ 1 Ende\nGut."
    assert all(title.start < title.end for title in numbered_titles(text))


def test_articles_that_have_sections_are_above_them():
    text = (
        "Article I\n\nSection 1\n\nThe council meets in May.\n\nSection 2\n\nThe mayor presides.\n\n"
        "Article II\n\nSection 1\n\nThe clerk keeps the seal.\n\nAmendment I\n\nThe clerk may resign.\n"
    )
    paths = {text[part.start : part.end].strip(): part.heading for part in segment(text)}
    assert paths["The mayor presides."] == ("Article I", "Section 2")
    assert paths["The clerk keeps the seal."] == ("Article II", "Section 1")
    assert paths["The clerk may resign."] == ("Amendment I",)
