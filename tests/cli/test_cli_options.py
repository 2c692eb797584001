"""The options of the commands that compress: named ones, presets and configuration files."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from ctxcompress.apps.cli.app import app
from ctxcompress.apps.mcp import serve
from ctxcompress.errors import ConfigError

QUESTION = "What is the default timeout?"
LINES = [
    {"id": "weak", "text": "The museum opens at nine on Sundays.", "score": 0.2},
    {"id": "answer", "text": "The default timeout is 30 seconds.", "score": 0.9},
    {"id": "other", "text": "Bananas ripen faster in a paper bag.", "score": 0.8},
]


def run(*arguments: str, command: str = "compress", query: str = QUESTION, lines: object = LINES) -> Result:
    stdin = "\n".join(map(json.dumps, lines))
    return CliRunner().invoke(app, [command, "--query", query, "--jsonl", *arguments], input=stdin)


def kept(*arguments: str, **given: object) -> list[str]:
    result = run(*arguments, "--json", **given)
    assert result.exit_code == 0, result.stderr
    return [passage["id"] for passage in json.loads(result.stdout)["passages"]]


@pytest.fixture
def config(tmp_path: Path) -> str:
    path = tmp_path / "ctxcompress.json"
    path.write_text(json.dumps({"compression": {"top_n": 1, "order": "relevance"}}))
    return str(path)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((), ["weak", "answer", "other"]),
        (("--adaptive",), ["answer"]),
        (("--adaptive", "--no-adaptive"), ["weak", "answer", "other"]),
        (("--min-score", "0.5"), ["answer", "other"]),
        (("--top-n", "2"), ["answer", "other"]),
        (("--order", "relevance", "--top-n", "1"), ["answer"]),
        (("--preset", "docs"), ["answer", "other"]),
        (("--preset", "docs", "--min-score", "0"), ["weak", "answer", "other"]),
    ],
)
def test_options_have_names_of_their_own(arguments: tuple[str, ...], expected: list[str]) -> None:
    assert kept(*arguments) == expected


def test_synonyms_are_words_with_others() -> None:
    lines = [{"id": "k", "text": "Kubernetes restarts pods."}, {"id": "m", "text": "The museum opens at nine."}]
    asked = {"query": "k8s", "lines": lines}
    assert kept("--adaptive", "--synonym", "kubernetes=k8s, kube", **asked) == ["k"]
    for wrong in ("k8s", "=x", "k8s= ,"):
        result = run("--synonym", wrong)
        assert result.exit_code == 2
        assert f"{wrong!r} gives no synonyms; give WORD=OTHER,..., such as k8s=kubernetes" in result.stderr


def test_a_configuration_file_is_where_options_start(config: str) -> None:
    assert kept("--config", config) == ["answer"]
    assert kept("--config", config, "--top-n", "3", "--order", "source") == ["weak", "answer", "other"]
    assert kept("--config", config, "--set", "top_n=2", "--set", "order=source") == ["answer", "other"]


@pytest.mark.parametrize("command", ["compress", "xray"])
def test_a_preset_and_a_file_exclude_each_other(command: str, config: str) -> None:
    result = run("--preset", "docs", "--config", config, command=command)
    assert result.exit_code == 2
    assert "name the preset in the file" in result.stderr
    assert run("--config", "nowhere.json", command=command).exit_code == 2


def test_the_server_takes_a_preset_or_a_file(tmp_path: Path, config: str) -> None:
    with pytest.raises(ConfigError, match="both preset='docs' and config are given"):
        serve(tmp_path, config=config, preset="docs")
    with pytest.raises(ConfigError, match=r"nowhere\.toml cannot be read"):
        serve(tmp_path, config="nowhere.toml")
    for arguments in (["--config", "nowhere.toml"], ["--preset", "docs", "--config", config]):
        assert CliRunner().invoke(app, ["mcp", "--docs", str(tmp_path), *arguments]).exit_code == 2
