"""What technical English calls by several names."""

from collections.abc import Mapping
from types import MappingProxyType

__all__ = ["TECHNICAL_SYNONYMS"]

_GROUPS = (
    "auth authentication authorization login sign-in",
    "config configuration settings options preferences",
    "db database",
    "delete remove erase drop",
    "create add make new",
    "update change modify edit",
    "error exception failure fault",
    "bug defect issue",
    "function method procedure routine",
    "parameter argument option flag",
    "install setup installation",
    "repo repository",
    "directory folder path",
    "env environment",
    "k8s kubernetes",
    "js javascript",
    "ts typescript",
    "py python",
    "api interface endpoint",
    "url link address uri",
    "credential password secret token key",
    "start launch run execute begin",
    "stop terminate kill halt end",
    "timeout deadline expiry",
    "limit maximum cap quota",
    "default standard preset",
    "fast quick performance speed",
    "memory ram",
    "cpu processor",
    "docs documentation manual guide",
    "deploy deployment release rollout",
    "log logging trace",
    "test testing spec",
    "dependency package library module",
    "async asynchronous concurrent",
    "cache caching memoize",
    "doc document file",
    "fetch get retrieve load",
    "send post submit push",
    "encrypt encryption cipher",
)

TECHNICAL_SYNONYMS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {word: tuple(other for other in group.split() if other != word) for group in _GROUPS for word in group.split()}
)
"""Word -> other words for the same thing."""
