"""In catalogs of gettext, a translation is kept with its original."""

import re

import pytest

from ctxcompress import Passage, compress
from ctxcompress.data.passages import Kind
from ctxcompress.segment.segments import segment

_WORDS = "kneaded baked sold burnt frozen sliced stolen wrapped tasted returned".split()
_ENTRIES = [
    f"#: shop/events.py:{n}\n#, python-format\nmsgid \"%(loaf)s was {word}\"\nmsgstr \"%(loaf)s ist {word[::-1]}\"\n"
    for n, word in enumerate(_WORDS)
]  # fmt: skip
CATALOG = 'msgid ""\nmsgstr ""\n"Language: de\\n"\n\n' + "\n".join(_ENTRIES)


@pytest.mark.parametrize("name", ["de.po", None])
@pytest.mark.parametrize("budget", [60, 90, 130, 200])
def test_an_entry_is_one_record(name: str | None, budget: int) -> None:
    result = compress(
        "How is 'loaf was stolen' translated?", [Passage("a", CATALOG, file_path=name)], max_tokens=budget
    )
    assert _ENTRIES[6].strip() in result.text
    originals = re.findall(r'was (\w+)"\nmsgstr "%\(loaf\)s ist (\w+)', result.text)
    assert len(originals) == result.text.count('msgid "%') == result.text.count('msgstr "%')
    assert all(word == other[::-1] for word, other in originals)


def test_a_part_of_a_long_translation_stands_under_its_original() -> None:
    long = "".join(f'"Laib {n} kommt in den Ofen {n * 7}. "\n' for n in range(60))
    text = "\n".join([*_ENTRIES, f'msgctxt "help"\nmsgid "Where do the loaves go?"\nmsgstr ""\n{long}', *_ENTRIES])
    result = compress("In welchen Ofen kommt Laib 41?", [Passage("a", text, file_path="de.po")], max_tokens=120)
    assert "Laib 41 kommt in den Ofen 287." in result.text
    before = result.text[: result.text.index("Laib 41")]
    assert before.rpartition("msgid ")[2].startswith('"Where do the loaves go?"\nmsgstr ""\n"Laib')


def test_plural_forms_are_part_of_the_entry() -> None:
    text = "\n".join(
        f'msgid "{word} loaf"\nmsgid_plural "{word} loaves"\nmsgstr[0] "{word[::-1]} a"\nmsgstr[1] "{word[::-1]} b"\n'
        for word in _WORDS
    )
    result = compress("burnt loaves", [Passage("a", text, file_path="fr.po")], max_tokens=50)
    assert 'msgid "burnt loaf"\nmsgid_plural "burnt loaves"\nmsgstr[0] "tnrub a"\nmsgstr[1] "tnrub b"' in result.text


def test_a_text_about_catalogs_is_none() -> None:
    text = (
        'The keyword msgid begins the original.\nThe keyword msgstr begins the translation.\n\nmsgid "a"\nSo it is.\n'
    )
    assert Kind.RECORD not in {part.kind for part in segment(text)}
