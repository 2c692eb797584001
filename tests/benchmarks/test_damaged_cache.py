"""Damaged cache files: each is an empty cache at worst, as `benchmarks/damaged_cache.py` shows of many more."""

from pathlib import Path
from types import ModuleType

import pytest


@pytest.mark.slow(reason="150 files are damaged, each in another way")
def test_damaged_files_raise_nothing_give_no_wrong_answer_and_work_again(
    damaged_cache: ModuleType, tmp_path: Path
) -> None:
    sources, expected = damaged_cache.material(tmp_path)
    outcomes = [damaged_cache.outcome(f"test:{number}", tmp_path, sources, expected) for number in range(150)]
    assert [one for one in outcomes if one.error or one.wrong or not one.works] == []
    assert sum(one.is_refused for one in outcomes) < 5  # of which nothing was left
    assert sum(one.is_new for one in outcomes) > 20
    assert len({way for one in outcomes for way in one.ways}) > 20
