"""Cutting XML: what remains can be parsed, if any element fits with the tags around it."""

from cutting import cut
from fuzzing import read, spliced
from record_texts import are_all_tried
from structures import is_whole, may_be_broken

mutate = spliced(
    *(
        "<a>",
        "</a>",
        "<a/>",
        "<b c='d'>x</b>",
        "<!-- x -->",
        "<![CDATA[<x>]]>",
        "<?p x?>",
        "&amp;",
        "&#65;",
        "\n",
        "  ",
    ),
    *("<order id='1'><name>Lyon</name></order>", "<x:y xmlns:x='z'>t</x:y>", "The timeout is 30 s. ", "]]>", ">", "<"),
)


def check(data: bytes) -> None:
    given = read(data)
    result = cut(given, "a.xml" if given.choice % 2 else None)
    if not result or not is_whole("XML", given.text):
        return
    if are_all_tried(given.text, given.budget):
        assert is_whole("XML", result.text) or may_be_broken("XML", given.text, given.budget), result.text
