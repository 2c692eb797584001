"""The best segment is kept where it does not fit with all around it: without its announcement, or in part."""

from itertools import pairwise

import pytest
from selections import structure_of

from ctxcompress import compress

CODE = """```python
import client

with client.open(retries=3) as pool:
    for name in pool.names():
        print(name)

pool = client.Pool(size=10)
pool.timeout = 30
pool.start()
```"""
PAGE = f"# Client\n\nUse the client so:\n\n{CODE}\n\nThe garden is open.\n"


def listing(lines: int) -> str:
    steps = "\n".join(f"./run --stage step_{number:02} --retries {number}" for number in range(lines))
    return f"# Build\n\nRun the stages:\n\n```sh\n{steps}\n```\n\nThen wait.\n"


def test_code_that_fits_only_without_its_announcement_is_kept_alone() -> None:
    alone = compress("", [CODE], max_tokens=1_000).tokens
    for room in range(alone, alone + 12):
        assert CODE in compress("how do I set the timeout of a pool?", [PAGE], max_tokens=room).text


def test_an_item_never_loses_the_line_that_says_not() -> None:
    page = "These are NOT supported by the client of this server:\n\n- audit logs\n- quotas\n\nThe garden is open.\n"
    for room in range(4, 40):
        text = compress("are audit logs supported?", [page, "Colours are blue. " * 9], max_tokens=room).text
        assert "audit logs" not in text or "NOT supported" in text


@pytest.mark.parametrize("lines", [12, 60, 400])
@pytest.mark.parametrize("asked", [3, 7, 11])
def test_of_a_long_listing_the_line_that_is_asked_for_is_kept_within_its_fence(lines: int, asked: int) -> None:
    result = compress(f"how is step_{asked:02} run?", [listing(lines)], max_tokens=100)
    assert f"--stage step_{asked:02} " in result.text
    assert result.text.count("```") == 2
    assert result.tokens <= 100


def test_lines_that_are_missing_in_a_fence_have_a_marker() -> None:
    text = compress("how is step_30 run?", [listing(60)], max_tokens=100).text
    inside = text.split("```sh\n")[1].split("```")[0].splitlines()
    assert (inside[0], inside[-1]) == ("[…]", "[…]")
    shown = [int(line.split("step_")[1][:2]) for line in inside if line != "[…]"]
    gaps = sum(after - before > 1 for before, after in pairwise(shown))
    assert inside.count("[…]") == gaps + 2


def test_a_setting_is_never_kept_without_its_value() -> None:
    page = "server:\n  port: 8080\ncache:\n  backend: redis\n  timeout: 30\n  prefix: app\n  size: 9\n"
    for budget in range(5, 40):
        text = compress("cache timeout", [page], max_tokens=budget).text
        assert {*text.splitlines()} <= {*page.splitlines(), *(line.strip() for line in page.splitlines())}


def test_where_the_first_word_is_too_long_another_one_is_kept_but_no_sign() -> None:
    assert compress("lamp", ["incomprehensibilities --- lamp"], max_tokens=5, encoding=len).text == "lamp"


def test_a_word_whose_first_sign_belongs_to_the_blank_before_it_comes_with_the_blank() -> None:
    assert compress("lamp", ["incomprehensibilities \u0301lamp"], max_tokens=6, encoding=len).text == " \u0301lamp"


def test_a_fence_alone_cannot_be_chosen() -> None:
    structure = structure_of([listing(60)])
    texts = [text.strip() for text, stands in zip(structure.table.texts, structure.stands, strict=True) if stands]
    assert len(texts) > 20
    assert not {"```", "```sh", ""} & {*texts}


@pytest.mark.parametrize("before", ["", "  ", "> "])
@pytest.mark.parametrize("room", [8, 20])
def test_a_line_in_a_fence_that_is_too_long_is_cut_within_the_fence(before: str, room: int) -> None:
    code = f"{before}```sh\n{before}run {'this ' * 60}\n{before}```"
    page = f"- In the evening:\n\n{code}\n\n- Other things are done by others, and they are not written here."
    text = compress("run this", [page], max_tokens=room, encoding=lambda text: len(text.split())).text
    assert text.startswith(f"{before}```sh\n{before}run this ")
    assert text.endswith(f"\n{before}```")


@pytest.mark.parametrize("before", ["", "  ", "> "])
@pytest.mark.parametrize("room", [20, 30, 40])
def test_a_listing_that_is_too_long_is_cut_between_lines(before: str, room: int) -> None:
    code = "\n".join(before + line for line in ("```sh", *(f"run this {'and that ' * 4}now" for _ in range(5)), "```"))
    page = f"- In the evening:\n\n{code}\n\n- Other things are done by others, and they are not written here."
    text = compress("run this", [page], max_tokens=room, encoding=lambda text: len(text.split())).text
    assert {before + "```sh", before + "```"} < {*text.splitlines()} <= {*page.splitlines()}


def test_a_statement_of_code_that_is_too_long_is_not_cut_where_another_one_fits() -> None:
    code = f"def lamp():\n    lamp = [{'lamp, ' * 60}]\n    return lamp\n\n\ndef tea():\n    return 1\n"
    text = compress("lamp", [{"text": code, "metadata": {"source": "a.py"}}], max_tokens=30).text
    assert {*text.splitlines()} <= {*code.splitlines(), "    # ..."}


HUNK = """--- a/gate.go
+++ b/gate.go
@@ -10,6 +10,6 @@ func mayEnter(name string, hour int) (bool, error) {
     if len(name) == 0 {
-        return true, nil
+        return false, errors.New("the name is missing")
     }
     if hour < opening || hour > closing {
         return false, errors.New("the gate is locked")
     }
     return true, nil
 }
"""


@pytest.mark.parametrize("budget", range(40, 120))
def test_a_part_of_a_diff_ends_where_a_line_ends(budget):
    kept = compress("what does mayEnter return without a name?", [HUNK], max_tokens=budget).text
    assert set(kept.split("\n")) <= {*HUNK.split("\n"), "[…]"}
