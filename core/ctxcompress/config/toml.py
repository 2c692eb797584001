"""Options written as TOML: in the tables of a configuration file, or one by one in a shell.

The tables are those that documentation and code search tools write:

[search]                        # of a documentation search
min_confidence = 0.3            # -> min_score
max_chunks_per_doc = 2
dedup_enabled = true            # dedup_threshold -> similarity_threshold
ngram_dedup_enabled = true      # ngram_dedup_threshold -> ngram_threshold

[compression]                   # options by their own names
max_tokens = 1000
enabled = false                 # every text passes as it is, whatever else is given
encoder = "static"              # -> StaticVectors()
cache = "memory"                # -> MemoryCache(); see ctxcompress.config.cache_table

[compression.smartTruncation]   # of a code search
maxLength = 2000                # -> max_length; preserveStructure -> preserve_structure

[compression.metadataOnly]      # -> metadata_only
scoreThreshold = 0.4            # -> score_threshold; scores are compared as they are (normalize_scores = false)
"""

import tomllib
from collections.abc import Collection, Iterable, Mapping
from difflib import get_close_matches

from ctxcompress.config.cache_table import cache_named
from ctxcompress.config.checks import closest
from ctxcompress.encoders import encoder_named
from ctxcompress.errors import ConfigError

__all__ = ["TABLES", "option_from_text", "options_of", "synonyms_from_texts"]

TABLES = ("search", "compression")
"""The tables of a file that are read; others belong to other programs."""

_SEARCH = {
    "min_confidence": "min_score",
    "min_score": "min_score",
    "max_chunks_per_doc": "max_chunks_per_doc",
    "top_n": "top_n",
}
_STAGES = (
    ("dedup_enabled", "dedup_threshold", "similarity_threshold", 0.85),
    ("ngram_dedup_enabled", "ngram_dedup_threshold", "ngram_threshold", 0.7),
)
"""(switch, threshold, our option, the default threshold of a stage that is on)."""
_CODE_SEARCH: Mapping[str, Mapping[str, str]] = {
    "smartTruncation": {"maxLength": "max_length", "preserveStructure": "preserve_structure"},
    "metadataOnly": {"scoreThreshold": "score_threshold"},
    "llm": {"model": "", "maxTokens": ""},
}
"""Tables of code search tools: key -> our option. A table is a stage; its key `enabled` switches it on and off."""
_ON: Mapping[str, Mapping[str, object]] = {
    "smartTruncation": {"max_length": 2_000, "preserve_structure": True},
    "metadataOnly": {"metadata_only": True, "score_threshold": 0.4, "normalize_scores": False},
}
"""Our options for a stage that is on and gives nothing else."""
_OFF: Mapping[str, Mapping[str, object]] = {
    "smartTruncation": {"max_length": None},
    "metadataOnly": {"metadata_only": False},
    "llm": {},
}


def options_of(tables: Mapping[str, object], known: Collection[str]) -> dict[str, object]:
    """Return the options that the tables [search] and [compression] give, and `enabled` if it is False.

    known: the names of all options. Raises ConfigError on an unknown key, with the closest one there is, and on a stage
    that does not exist here.
    """
    for name in tables:
        meant = get_close_matches(name, TABLES, n=1, cutoff=0.8)
        if meant and name != meant[0]:
            raise ConfigError(f"there is a table [{name}]; did you mean [{meant[0]}]?")
    options, staged = _of_search(_table(tables, "search")), dict[str, object]()
    table = _table(tables, "compression")
    is_on = table.get("enabled", True)
    if not isinstance(is_on, bool):
        raise ConfigError(f"compression.enabled is {is_on!r}; give true or false")
    for key, value in table.items():
        if key in _CODE_SEARCH:
            staged |= _of_stage(key, value)
        elif key != "enabled":
            _check_known("compression", key, (*known, *_CODE_SEARCH, "enabled"))
            options[key] = _object_named(key, value) if is_on else value
    if not is_on:  # then neither is needed: one loads a package, the other may write a file
        options = {**options, "enabled": False, "encoder": None, "cache": None}
    return staged | options


def option_from_text(text: str) -> tuple[str, object]:
    """Return the name and the value that `name=value` gives; a value that is not TOML is a string.

    Raises ConfigError where there is no equals sign, or no encoder or cache of that name.
    """
    name, equals, value = text.partition("=")
    if not equals:
        raise ConfigError(f"{text!r} sets no option; give NAME=VALUE, such as top_n=5")
    try:
        given: object = tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        given = value
    return name, _object_named(name, given)


def synonyms_from_texts(texts: Iterable[str]) -> dict[str, list[str]]:
    """Return the synonyms that texts such as "k8s=kubernetes,kube" give. Raises ConfigError."""
    synonyms: dict[str, list[str]] = {}
    for text in texts:
        word, _, others = text.partition("=")
        names = [name.strip() for name in others.split(",") if name.strip()]
        if not word.strip() or not names:
            raise ConfigError(f"{text!r} gives no synonyms; give WORD=OTHER,..., such as k8s=kubernetes")
        synonyms.setdefault(word.strip(), []).extend(names)
    return synonyms


def _object_named(option: str, value: object) -> object:
    """Return the object that the value of an option names; any other value as it is."""
    if option == "encoder" and isinstance(value, str):
        return encoder_named(value)
    if option == "cache" and isinstance(value, str | Mapping):
        return cache_named(value)
    return value


def _of_search(search: Mapping[str, object]) -> dict[str, object]:
    switches = [name for stage in _STAGES for name in stage[:2]]
    options = {}
    for key, value in search.items():
        _check_known("search", key, (*_SEARCH, *switches))
        if key in _SEARCH:
            options[_SEARCH[key]] = value
    for switch, threshold, option, default in _STAGES:
        if search.get(switch, threshold in search) is True:
            options[option] = search.get(threshold, default)
        elif switch in search:
            _check_flag(f"search.{switch}", search[switch], wanted=False)
            options[option] = None
    return options


def _table(tables: Mapping[str, object], name: str) -> Mapping[str, object]:
    table = tables.get(name, {})
    if not isinstance(table, Mapping):
        raise ConfigError(f"{name} is {table!r}; make it a table: [{name}]")
    return table


def _of_stage(name: str, table: object) -> dict[str, object]:
    """Return the options that a table of a code search tool gives. A stage is on unless `enabled` is false."""
    if not isinstance(table, Mapping):
        raise ConfigError(f"compression.{name} is {table!r}; make it a table: [compression.{name}]")
    for key in table:
        _check_known(f"compression.{name}", key, ("enabled", *_CODE_SEARCH[name]))
    if table.get("enabled", True) is False:
        return dict(_OFF[name])
    if name == "llm" and table.get("enabled", True) is True:
        raise ConfigError(
            "compression.llm is on, but no file can hold a language model; set enabled = false in it, and give the "
            "model in code"
        )
    _check_flag(f"compression.{name}.enabled", table.get("enabled", True), wanted=name in _ON)
    return {**_ON[name], **{option: table[key] for key, option in _CODE_SEARCH[name].items() if key in table}}


def _check_flag(name: str, value: object, *, wanted: bool) -> None:
    if value is not wanted:
        raise ConfigError(f"{name} is {value!r}; only {str(wanted).lower()} is possible here")


def _check_known(table: str, key: str, known: Collection[str]) -> None:
    if key not in known:
        hint = closest(key, known, f"it can have {', '.join(sorted(known))}")
        raise ConfigError(f"[{table}] has an unknown key {key!r}; {hint}")
