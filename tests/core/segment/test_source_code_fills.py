"""The budget is used, whatever the source code looks like: no unit is so large that it never fits."""

import random
import re
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest

from ctxcompress import Passage, compress
from ctxcompress.segment.formats import segment_outlined
from ctxcompress.segment.source_code import outline

_BUDGET = 600
_LIBRARY = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
_FIXTURES = sorted((Path(__file__).parents[1] / "code" / "fixtures").iterdir())
_NAME = re.compile(r"\b[A-Za-z]+(?:_[a-z]+|[a-z][A-Z])\w*|\b[A-Z][a-z]+\b")
"""What a programmer has named: of two words, or with a capital letter."""


def _files() -> Iterator[tuple[str, str]]:
    """Yield names and texts of files that are several times as large as the budget.

    They are modules of the standard library, and files of each language with several versions of their definitions.
    """
    for path in random.Random("py").sample(_LIBRARY, min(40, len(_LIBRARY))):
        text = path.read_text(encoding="utf-8")
        if 12_000 < len(text) < 50_000:
            yield path.name, text
    for path in _FIXTURES:
        text = path.read_text(encoding="utf-8")
        yield path.name, "\n".join(_NAME.sub(rf"\g<0>{number}", text) for number in range(12))


@pytest.mark.parametrize(("name", "text"), list(_files()), ids=lambda given: given if len(given) < 30 else "")
def test_most_of_the_budget_is_used(name: str, text: str) -> None:
    words = random.Random(name).sample(sorted(set(re.findall(r"[A-Za-z]{5,}", text))), 2)
    result = compress(f"what about {' '.join(words)}?", [Passage("a", text, file_path=name)], max_tokens=_BUDGET)
    assert result.tokens >= 0.8 * _BUDGET, (name, words, result.tokens)


_STEPS = "".join(
    f"    def step_{number}(order)\n      order.items.each {{ |item|\n"
    f"        item.check(:step_{number})\n      }}\n    end\n\n"
    for number in range(60)
)
_RUBY = f"""require "json"

module Shop
  class Cart
    OPTIONS = {{
      currency: "EUR",
    }}

    # if the order is empty, nothing is checked
{_STEPS}    def latency
      Time.now.to_f - @started
    end
  end
end
"""
_FUNCTIONS = "".join(
    f"  function step{number}(order) {{\n    for (const item of order.items) {{\n"
    f"      item.check({number});\n    }}\n  }}\n\n"
    for number in range(60)
)
_UMD = f"""(function (global, factory) {{
  typeof exports === 'object' ? factory(exports) : define(['exports'], factory);
}})(this, (function (exports) {{ 'use strict';

{_FUNCTIONS}  function latency() {{
    return Date.now() - started;
  }}

  exports.latency = latency;
}}));
//# sourceMappingURL=shop.js.map
"""


@pytest.mark.parametrize("budget", [100, 300, 1000])
@pytest.mark.parametrize(("name", "text"), [("shop.rb", _RUBY), ("shop.js", _UMD)])
def test_a_file_that_is_one_statement_is_cut_into_its_functions(name: str, text: str, budget: int) -> None:
    result = compress("How is the latency computed?", [Passage("a", text, file_path=name)], max_tokens=budget)
    assert "started" in result.text
    assert result.tokens >= 0.75 * budget


def test_a_method_of_ruby_needs_its_class_and_its_module() -> None:
    result = compress("How is the latency computed?", [Passage("a", _RUBY, file_path="shop.rb")], max_tokens=60)
    lines = result.text.split("\n")
    assert lines[:2] == ["module Shop", "  class Cart"]
    assert lines[-2:] == ["  end", "end"]


def test_what_has_no_parts_is_cut_into_paragraphs() -> None:
    body = "".join(f"  #if A{number}\n  void f{number}();\n\n" for number in range(300))
    text = f"class Shop {{\n{body}}};\n"
    parts = segment_outlined(text, outline(text, "shop.h"))
    assert "".join(text[part.start : part.end] for part in parts) == text
    assert max(part.end - part.start for part in parts) <= 500
