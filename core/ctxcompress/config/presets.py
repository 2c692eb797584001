"""Named sets of options to start from, for a kind of retrieval."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from ctxcompress.data.passages import Kind

__all__ = ["PRESETS", "QATBE_TYPE_WEIGHTS", "TECHNICAL_SYNONYMS", "Preset"]

Preset = Literal["docs", "code", "web", "page"]

QATBE_TYPE_WEIGHTS: Mapping[str, float] = MappingProxyType(
    {
        Kind.CODE: 1.5,
        Kind.TABLE: 1.4,
        Kind.HEADING: 1.3,
        Kind.LIST_ITEM: 1.1,
        Kind.PARAGRAPH: 1.0,
        Kind.QUOTE: 0.9,
        Kind.METADATA: 0.5,
    }
)
"""The published weights of QATBE. They are not the default: on pages with prose and code they lose evidence."""

_GROUPS = """
auth authentication authorization login sign-in; config configuration settings options preferences;
db database; delete remove erase drop; create add make new; update change modify edit;
error exception failure fault; bug defect issue; function method procedure routine;
parameter argument option flag; install setup installation; repo repository; directory folder path;
env environment; k8s kubernetes; js javascript; ts typescript; py python; api interface endpoint;
url link address uri; credential password secret token key; start launch run execute begin;
stop terminate kill halt end; timeout deadline expiry; limit maximum cap quota; default standard preset;
fast quick performance speed; memory ram; cpu processor; docs documentation manual guide;
deploy deployment release rollout; log logging trace; test testing spec; dependency package library module;
async asynchronous concurrent; cache caching memoize; doc document file; fetch get retrieve load;
send post submit push; encrypt encryption cipher
"""

TECHNICAL_SYNONYMS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {word: tuple(others) for word, *others in map(str.split, _GROUPS.split(";"))}
)
"""Words of technical English -> others that mean the same, for the option `synonyms`."""

PRESETS: Mapping[Preset, Mapping[str, object]] = MappingProxyType(
    {
        # A documentation index: many weak results, templates and duplicates.
        "docs": MappingProxyType({"min_score": 0.3, "ngram_threshold": 0.7, "similarity_threshold": 0.85}),
        # Chunks of source files, where similar texts differ in the details that matter.
        "code": MappingProxyType({"metadata_only": True}),
        # The results of a search service: rather all than none.
        "web": MappingProxyType({"min_score": 0.3, "on_empty": "original"}),
        # One long page, and a query that may use other words than the page.
        "page": MappingProxyType({"tier": "summary", "synonyms": TECHNICAL_SYNONYMS}),
    }
)
"""The options of each preset that differ from the defaults. None has a limit that drops evidence while there is room:
the budget decides. docs/how-to/published-settings.md has the options as they were published, with such limits."""
