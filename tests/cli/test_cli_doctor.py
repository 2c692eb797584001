"""The command `doctor`: what is there, what is missing, and how to get it."""

import sys
from importlib.metadata import PackageNotFoundError

import pytest
from typer.testing import CliRunner

from ctxcompress import __version__
from ctxcompress.apps import doctor
from ctxcompress.apps.cli import main
from ctxcompress.apps.cli.app import app
from ctxcompress.errors import TokenizerUnavailable


def test_what_is_there_is_said_with_its_version() -> None:
    result = CliRunner().invoke(app, ["doctor"])
    assert result.exit_code == 0
    for said in (
        f"ctxcompress          {__version__}",
        "numpy ",
        "extra langchain      langchain-core 1.",
        "cl100k_base",
    ):
        assert said in result.stdout
    assert "works; the first one of a process takes" in result.stdout


def test_every_extra_of_users_is_known() -> None:
    from importlib.metadata import metadata

    extras = {*(metadata("ctxcompress").get_all("Provides-Extra") or ())}
    own = {"all", "docs", "test", "dev", "browser", "notebook"}
    assert {finding.about for finding in doctor.diagnosis()} >= {f"extra {name}" for name in extras - own}


def test_what_is_missing_has_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    def version(package: str) -> str:
        if package in ("langchain", "numpy"):
            raise PackageNotFoundError
        return "1.0"

    monkeypatch.setattr(doctor, "version", version)
    lines = {finding.about: finding for finding in doctor.diagnosis()}
    assert lines["extra agents"].remedy == "pip install 'ctxcompress[agents]'"
    assert (lines["numpy"].found, lines["numpy"].is_broken) == ("MISSING", True)
    assert CliRunner().invoke(app, ["doctor"]).exit_code == 1


def test_a_compression_that_fails_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise TokenizerUnavailable("no vocabulary")

    monkeypatch.setattr(doctor, "compress", fail)
    assert [*doctor.diagnosis()][-1].found == "fails (no vocabulary)"


def test_without_the_extra_of_the_command_it_still_works(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "ctxcompress.apps.cli.app", None)
    for name in ("typer", "ctxcompress.apps.cli.app"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, "typer", None)
    monkeypatch.setattr(sys, "argv", ["ctxcompress", "doctor"])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code in (0, False)
    assert "works; the first one" in capsys.readouterr().out
