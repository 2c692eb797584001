"""The README's code runs, and does what the comments in it say."""

import re
from pathlib import Path

import pytest

README = Path(__file__).parent.parent / "README.md"
BLOCKS = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)


TIMEOUT = ("The default timeout is 30 seconds.", r"\[\[|Span\(")
AUTHENTICATION = ("Set auth_provider to oauth2 or saml in config.toml. Restart afterwards.\n", "After deduplication: 1")
EXPECTED = {"langchain": TIMEOUT, "llamaindex": TIMEOUT, "core": TIMEOUT, "meaning": TIMEOUT, "copies": AUTHENTICATION}


@pytest.mark.parametrize(("block", "expected"), list(zip(BLOCKS, EXPECTED.values(), strict=True)), ids=EXPECTED)
def test_the_code_of_the_readme_finds_the_answer(
    block: str, expected: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    exec(compile(block, str(README), "exec"), {})
    printed = capsys.readouterr().out
    answer, more = expected
    assert answer in printed
    assert re.search(more, printed)
