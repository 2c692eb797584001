"""The code of docs/xray.md prints what the page says."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "xray.md"
BLOCKS = re.compile(r"```python\n(.*?)```\n\n```text\n(.*?)```", re.DOTALL)


def test_each_block_prints_what_stands_below_it(capsys):
    page = PAGE.read_text(encoding="utf-8")
    blocks = BLOCKS.findall(page)
    assert len(blocks) == page.count("```python") == 1
    names = {}
    for code, expected in blocks:
        exec(compile(code, str(PAGE), "exec"), names)
        assert capsys.readouterr().out.rstrip() == expected.rstrip()
