"""What this installation has, what is missing, and how to get it."""

import os
import platform
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from time import perf_counter

from ctxcompress.compressor import compress
from ctxcompress.data.passages import Passage
from ctxcompress.errors import CtxCompressError
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.plugins import plugin_names
from ctxcompress.text.tokens import CARRIED, TokenCounter
from ctxcompress.version import __version__

__all__ = ["Finding", "diagnosis", "shown"]

_REQUIREMENT = lazy_regex(r"(?P<name>[\w.-]+)[^;]*(?:;.*extra == ['\"](?P<extra>[\w-]+)['\"])?")
_EXTRAS = {
    "langchain": "LangChain's compressor, retriever and tools",
    "agents": "middleware for LangChain's agents",
    "llamaindex": "LlamaIndex's postprocessor and tools",
    "static": "encoder=StaticVectors()",
    "semantic": "encoder=SentenceEncoder(...)",
    "rank-bm25": 'scorer="rank_bm25"',
    "qdrant": "a cache in Qdrant",
    "mcp": "the search tool over MCP",
    "otel": "telemetry=True",
    "batch": "batches of Parquet files",
    "ray": "batches on Ray",
    "prices": "what is saved in money",
    "cli": "this command",
}
"""What each extra is for."""
_GROUPS = ("formats", "filters", "renderers", "encoders", "observers")


@dataclass(frozen=True, slots=True)
class Finding:
    """One line: what was looked for, what was found, and what to do."""

    about: str
    found: str
    remedy: str = ""
    is_broken: bool = False
    """Whether nothing works before that is mended."""


def shown(findings: Sequence[Finding]) -> str:
    """Return the findings as lines of text."""
    width = max(len(finding.about) for finding in findings)
    lines = (f"{each.about:{width}}  {'; '.join(filter(None, (each.found, each.remedy)))}" for each in findings)
    return "\n".join(lines) + "\n"


def diagnosis() -> Iterator[Finding]:
    """Yield what is there, what is missing, and whether a compression works. Asks no network."""
    yield Finding("ctxcompress", f"{__version__} in {Path(__file__).parents[1]}")
    yield Finding("Python", f"{platform.python_version()} on {platform.platform()}")
    packages: dict[str, list[str]] = {}
    for requirement in requires("ctxcompress") or ():
        match = _REQUIREMENT.match(requirement)
        if match:
            packages.setdefault(match["extra"] or "", []).append(match["name"])
    for name in packages.pop("", []):
        found = _version(name)
        remedy = "" if found else "install ctxcompress again: pip install --force-reinstall ctxcompress"
        yield Finding(name, found or "MISSING", remedy, is_broken=not found)
    yield from (_extra(name, use, packages.get(name, [])) for name, use in _EXTRAS.items())
    yield _vocabularies()
    for group in _GROUPS:
        names = plugin_names(f"ctxcompress.{group}")
        yield Finding(f"plug-ins: {group}", ", ".join(names) or "none")
    yield _works()


def _extra(name: str, use: str, packages: Sequence[str]) -> Finding:
    found = {package: _version(package) for package in packages if package != "ctxcompress"}
    if not found:
        return Finding(f"extra {name}", "not known to what is installed", "install ctxcompress again")
    missing = [package for package, number in found.items() if not number]
    if missing:
        return Finding(f"extra {name}", f"not there ({use})", f"pip install 'ctxcompress[{name}]'")
    return Finding(f"extra {name}", ", ".join(f"{package} {number}" for package, number in found.items()))


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _vocabularies() -> Finding:
    folder = os.environ.get("TIKTOKEN_CACHE_DIR") or os.environ.get("DATA_GYM_CACHE_DIR")
    others = f"others from {folder}" if folder else "tiktoken downloads others once"
    return Finding("vocabularies", f"{', '.join(sorted(CARRIED))}; {others}")


def _works() -> Finding:
    """Return how long a compression takes in this process, and whether its result is right."""
    passages = [Passage("a", "The garden is open on Sundays. " * 20 + "The default timeout is 30 seconds.")]
    try:
        begin = perf_counter()
        result = compress("what is the default timeout?", passages, max_tokens=12)
        first = 1e3 * (perf_counter() - begin)
    except (CtxCompressError, ImportError, OSError) as error:
        return Finding("a compression", f"fails ({error})", "see the line above", is_broken=True)
    if "30 seconds" not in result.text or TokenCounter("o200k_base")(result.text) > 12:
        return Finding("a compression", f"keeps {result.text!r}", "report this as a bug", is_broken=True)
    return Finding("a compression", f"works; the first one of a process takes {first:,.0f} ms")
