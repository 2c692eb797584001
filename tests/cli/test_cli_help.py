"""What `--help` and wrong usage say: all of it, at any width, with colours or without."""

from typing import TYPE_CHECKING

import pytest
import typer
from typer.testing import CliRunner

from ctxcompress.apps.cli.app import app

if TYPE_CHECKING:
    from click import Parameter

COMMANDS = typer.main.get_command(app).commands


def words(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize(("width", "place"), [(60, {}), (80, {"NO_COLOR": "1"}), (200, {"FORCE_COLOR": "1"})])
@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_says_all_of_it(name: str, width: int, place: dict[str, str]) -> None:
    result = CliRunner().invoke(app, [name, "--help"], env=place, terminal_width=width)
    assert result.exit_code == 0
    assert "\x1b" not in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= width
    parameters: list[Parameter] = COMMANDS[name].params
    for parameter in parameters:
        assert words(parameter.help or "") in words(result.stdout)
    for paragraph in (COMMANDS[name].help or "").split("\n\n"):
        assert words(paragraph) in words(result.stdout)


def test_brackets_are_no_markup() -> None:
    shown = words(CliRunner().invoke(app, ["compress", "--help"]).stdout)
    assert "A TOML or JSON file to start from, with a table [compression]." in shown
    wrong = CliRunner().invoke(app, ["compress", "-q", "x", "--tier", "[bold]"], input="")
    assert wrong.exit_code == 2
    assert "'[bold]' is not one of" in wrong.stderr
