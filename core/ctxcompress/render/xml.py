"""Tags around each text, as vendors of models advise for long contexts: Anthropic ("Long context prompting tips") and
OpenAI ("GPT-4.1 prompting guide", whose form this is: what is known of a document stands in its tag).

    <documents>
    <document index="1" source="docs/auth.md" section="Configuration > Authentication" score="0.92">
    Authentication is configured in the auth section of config.toml.
    </document>
    </documents>

It is made for readers, not for parsers: in a text only the "<" that would open or close one of these tags becomes
"&lt;", whatever stands between it and the name, so that source code can be read.
"""

import re
from dataclasses import dataclass

from ctxcompress.render.entry import Entry
from ctxcompress.render.headers import path_of, score_of, section_of, title_of
from ctxcompress.text.invisible import INVISIBLE, spelled

__all__ = ["Xml"]

_TAG = re.compile(rf"<(?=[\s/\\{INVISIBLE}]*+{spelled('document')}[{INVISIBLE}]*+s?(?![^\W_]))", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Xml:
    separator: str = "\n"
    opening: str = "<documents>\n"
    closing: str = "\n</documents>"

    def entry(self, entry: Entry) -> str:
        passage = entry.passage
        known = (
            ("index", str(entry.number)),
            ("source", path_of(passage)),
            ("title", title_of(passage)),
            ("section", section_of(passage)),
            ("score", score_of(passage, 2)),
        )
        attributes = "".join(f' {name}="{_quoted(value)}"' for name, value in known if value)
        return f"<document{attributes}>\n{_TAG.sub('&lt;', entry.text)}\n</document>"


def _quoted(value: str) -> str:
    """As the value of an attribute."""
    return value.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
