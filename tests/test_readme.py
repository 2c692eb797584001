"""The README's code runs, and does what the comments in it say."""

import re
from pathlib import Path

import pytest

README = Path(__file__).parent.parent / "README.md"
BLOCKS = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS, ids=["langchain", "llamaindex", "core", "meaning"])
def test_the_code_of_the_readme_finds_the_answer(block: str, capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(block, str(README), "exec"), {})
    printed = capsys.readouterr().out
    assert "The default timeout is 30 seconds." in printed
    assert "[[" in printed or "Span(" in printed
