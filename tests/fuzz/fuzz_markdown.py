"""Cutting Markdown: within the budget, verbatim, and no fence is left open that was closed."""

from cutting import cut
from fuzzing import read, spliced
from structures import is_whole

mutate = spliced(
    *(
        "# A\n\n",
        "```\n",
        "```python\n",
        "~~~\n",
        "````\n",
        "> ",
        "- ",
        "  - ",
        "1. ",
        "   ",
        "    ",
        "\n\n",
        "\n",
        "\r\n",
    ),
    *(
        "| a | b |\n|---|---|\n| 1 | 2 |\n",
        "<b>",
        "</b>",
        "<!-- ",
        " -->",
        "`",
        "``",
        "[x](y)",
        "[x]: y\n",
        "\\",
        "***\n",
    ),
    *("The timeout is 30 s. ", "It is so.", "Note:\n", "def f():\n    return 1\n", '{"a": 1}\n', "> ```\n", "- ```\n"),
)


def check(data: bytes) -> None:
    given = read(data)
    result = cut(given, "a.md" if given.choice % 2 else None)
    if result and is_whole("Markdown", given.text) and given.budget > 40:
        assert is_whole("Markdown", result.text), result.text
