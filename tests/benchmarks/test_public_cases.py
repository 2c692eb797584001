"""Cases of published sets, in the form that the other commands take."""

import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest

DATA = Path(__file__).parents[2] / "notebooks" / "data"


@pytest.mark.parametrize(
    ("given", "download", "made"),
    [
        ("squad_form", "dev-v1.1", "page"),
        ("squad_form", "xquad.zh", "xquad_zh"),
        ("hotpot_form", "hotpot_dev_distractor_v1", "hotpot"),
    ],
)
def test_a_download_becomes_cases_at_equal_distances(
    cases: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str, download: str, made: str
) -> None:
    file = tmp_path / f"{download}.json"
    file.write_bytes((DATA / f"{given}.json").read_bytes())
    monkeypatch.setattr(sys, "argv", ["", str(file), "-o", str(tmp_path / "made"), "--limit", "3"])
    importlib.import_module("public_cases").main()
    every = list(cases.read_cases(file))
    assert list(cases.read_cases(tmp_path / "made" / f"{made}.json.gz")) == [
        every[number * len(every) // 3] for number in range(3)
    ]


def test_a_file_of_another_name_is_refused(cases: ModuleType) -> None:
    with pytest.raises(SystemExit, match=r"notes\.json is not the name of a download"):
        importlib.import_module("public_cases")._set_of(Path("notes.json"))
