"""When two addresses are of the same page."""

import re
from urllib.parse import SplitResult, urlsplit

__all__ = ["page_of"]

# What is added to an address to know where its reader came from; the page is the same without.
_TRACKING = re.compile(
    r"(?:utm_\w++|gclid|gclsrc|dclid|gbraid|wbraid|fbclid|msclkid|yclid|twclid|ttclid|igshid|mc_cid|mc_eid|_ga|_gl"
    r"|srsltid)(?:=|$)",
    re.IGNORECASE,
)
_PORTS = {"http": ":80", "https": ":443"}


def page_of(address: str) -> str:
    """What all addresses of a page have in common: without scheme, ``www.``, fragment, trailing slash and tracking.

    A fragment that names a page of its own (``#/path``, ``#!path``) stays. What is no address comes back as it is.
    """
    try:
        parts = urlsplit(address.strip())
        host = _host(parts)
    except ValueError:  # an unfinished IPv6 address
        return address
    if not host:
        return address.strip()
    query = "&".join(part for part in parts.query.split("&") if part and not _TRACKING.match(part))
    fragment = f"#{parts.fragment}" if parts.fragment.startswith(("/", "!")) else ""
    return host + parts.path.rstrip("/") + (f"?{query}" if query else "") + fragment


def _host(parts: SplitResult) -> str:
    return parts.netloc.lower().removesuffix(_PORTS.get(parts.scheme.lower(), "\0")).removeprefix("www.")
