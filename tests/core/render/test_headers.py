"""What headers cost, on five results such as a search of documentation finds. docs/formats.md has these numbers."""

import re
from pathlib import Path

import pytest

from ctxcompress import CompressionConfig, Compressor, Passage, compress
from ctxcompress.text.tokens import TokenCounter

PAGE = Path(__file__).parents[3] / "docs" / "formats.md"
RESULTS = [
    Passage(str(number), text, score=score, file_path=path, header_path=headings)
    for number, (score, path, headings, text) in enumerate(
        (
            (
                0.9234,
                "docs/authentication.md",
                ("Configuration", "Authentication"),
                "Authentication is configured in the auth section of config.toml. Use the `auth_provider` field to say "
                "which backend is asked. OAuth2, SAML and LDAP are supported.",
            ),
            (
                0.8817,
                "docs/configuration.md",
                ("Configuration reference", "The auth section"),
                "`auth_provider` is a string, and `none` by default. `session_ttl` is the number of seconds until "
                "a user has to sign in again, 86400 by default.",
            ),
            (
                0.8420,
                "docs/deployment/reverse-proxy.md",
                ("Deployment", "Behind a proxy", "Headers"),
                "Let the proxy pass the Authorization header on, or no request is authenticated. With nginx that takes "
                "`proxy_pass_header Authorization;`.",
            ),
            (
                0.7961,
                "docs/troubleshooting.md",
                ("Troubleshooting", "Sign-in fails"),
                "A loop of redirects means that the callback address of the provider is not the one in config.toml. "
                "Compare both, the scheme included.",
            ),
            (
                0.7405,
                "docs/api/users.md",
                ("API", "Users"),
                "`GET /users/me` returns the user who is signed in, with the groups that the provider names.",
            ),
        )
    )
]


def overhead(format):
    """Characters and tokens that a format adds to the texts and the blank lines between them."""
    count = TokenCounter("o200k_base")
    plain = compress("", RESULTS).text
    shown = Compressor(CompressionConfig(format=format)).compress("how is authentication configured?", RESULTS).text
    return len(shown) - len(plain), count(shown) - count(plain)


@pytest.mark.parametrize("format", ["compact", "verbose", "xml", "json"])
def test_the_page_tells_what_a_format_costs(format):
    row = re.search(rf"^\| `{format}` \| (\d+) \| (\d+) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert row is not None
    assert (int(row[1]), int(row[2])) == overhead(format)
