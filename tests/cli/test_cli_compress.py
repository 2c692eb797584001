"""The command `compress`, through a runner in this process."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from ctxcompress import __version__
from ctxcompress.apps.cli.app import app
from ctxcompress.text.tokens import TokenCounter

QUESTION = "What is the default timeout?"
ANSWER = "The default timeout is 30 seconds."
FILLER = "Lighthouses were painted white so that ships could see them by day. " * 20


def run(*arguments: str, stdin: str | bytes | None = None) -> Result:
    return CliRunner().invoke(app, ["compress", "--query", QUESTION, *arguments], input=stdin)


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    texts = {
        "filler.txt": FILLER,
        "answer.md": f"# Timeouts\n\n{ANSWER}\n",
        "code.py": "def lighthouse():\n    return 1\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return [str(tmp_path / name) for name in texts]


def test_the_answer_and_nothing_else_goes_to_standard_output(files: list[str]) -> None:
    result = run(*files, "--max-tokens", "30")
    assert result.exit_code == 0
    assert ANSWER in result.stdout
    assert result.stderr == ""


def test_the_output_fits_the_budget(files: list[str]) -> None:
    output = run(*files, "--max-tokens", "30", "--encoding", "cl100k_base", "--json").stdout
    text = json.loads(output)["text"]
    assert 0 < TokenCounter("cl100k_base")(text) <= 30


def test_a_text_that_fits_comes_out_as_it_went_in(tmp_path: Path) -> None:
    text = "  Tabs\tand\r\nline ends\n\n\u00e9e\u0301 \U0001f469\u200d\U0001f680\n"
    (tmp_path / "a.txt").write_bytes(text.encode())
    assert run(str(tmp_path / "a.txt")).stdout_bytes == text.encode()


@pytest.mark.parametrize("arguments", [(), ("--json",), ("--jsonl", "--stats")])
@pytest.mark.parametrize("text", ["", "\n", " \t\r\n"])
def test_an_input_without_a_text_is_said(text: str, arguments: tuple[str, ...]) -> None:
    result = run(*arguments, stdin=text)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == (
        "ctxcompress: there is no text in the input; name files that have some, or pipe a text into this command\n"
    )


@pytest.mark.parametrize("arguments", [(), ("-",)])
def test_standard_input_is_read(arguments: tuple[str, ...]) -> None:
    assert run(*arguments, stdin=ANSWER).stdout == ANSWER + "\n"


def test_a_byte_order_mark_is_no_text() -> None:
    assert run(stdin=b"\xef\xbb\xbf" + ANSWER.encode()).stdout == ANSWER + "\n"


def test_json_says_what_was_kept_and_what_was_dropped(files: list[str]) -> None:
    document = json.loads(run(*files, "--max-tokens", "30", "--json").stdout)
    assert document["schema"] == "ctxcompress/1"
    assert (document["query"], document["max_tokens"]) == (QUESTION, 30)
    assert document["stats"]["original_count"] == len(files)
    assert document["stats"]["compressed_tokens"] <= 30
    for part in document["passages"]:
        original = Path(part["file"]).read_text(encoding="utf-8")
        assert part["text"].replace(" […]", "") == "".join(original[start:end] for start, end in part["spans"])
        assert part["tokens"] > 0
        assert isinstance(part["relevance"], float)


def test_stats_go_to_standard_error(files: list[str]) -> None:
    result = run(*files, "--max-tokens", "30", "--stats")
    assert "limit 30" in result.stderr
    assert "saved" in result.stderr
    assert "saved" not in result.stdout


def test_nothing_is_said_and_ends_with_1_where_nothing_answers(files: list[str]) -> None:
    result = run(files[0], "--adaptive", "--set", "on_empty=drop")
    assert (result.exit_code, result.stdout.strip()) == (1, "")
    assert "nothing is kept" in result.stderr


def test_jsonl_holds_one_passage_a_line(tmp_path: Path) -> None:
    path = tmp_path / "passages.jsonl"
    lines = [
        {"id": "a", "text": "First.", "metadata": {"file_path": "docs/a.md"}},
        {"page_content": "Second, with a \u2028 separator."},
        "Third.",
    ]
    path.write_text("\n\n".join(json.dumps(line, ensure_ascii=False) for line in lines), encoding="utf-8")
    kept = json.loads(run(str(path), "--json").stdout)["passages"]
    assert [(part["id"], part["file"]) for part in kept] == [
        ("a", "docs/a.md"),
        (f"{path}:3", None),
        (f"{path}:5", None),
    ]
    assert kept[1]["text"] == "Second, with a \u2028 separator."


@pytest.mark.parametrize("line", ["{", "[" * 100_000, "12", "null", '["text"]', '{"id": "a"}', '{"text": 3}'])
def test_a_bad_line_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "passages.jsonl"
    path.write_text(f'{{"text": "good"}}\n{line}\n', encoding="utf-8")
    result = run(str(path))
    assert result.exit_code == 1
    assert f"{str(path)!r} is skipped: line 2 is not a passage" in result.stderr
    assert ("'id'" in result.stderr) == ('"id"' in line)
    assert len(result.stderr) < 1_000


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (None, "No such file"),
        (b"ok \xff", "byte 0xff at offset 3"),
        ("h\u00e9".encode("utf-16"), "is not UTF-8"),
        (b"a\0b", "it is not text"),
        (b"%PDF-1.4\n1 0 obj << /Type /Catalog >> endobj\n%%EOF\n", "it is a PDF, which is not text; convert it first"),
        (b"\xef\xbb\xbf\r\n%PDF-1.7\n", "it is a PDF"),
        (rb"{\rtf1\ansi The default timeout is 30 seconds.}", "it is RTF"),
    ],
)
def test_a_file_that_cannot_be_used_is_named(tmp_path: Path, content: bytes | None, complaint: str) -> None:
    path = tmp_path / "file.txt"
    if content is not None:
        path.write_bytes(content)
    result = run(str(path))
    assert result.exit_code == 1
    assert complaint in result.stderr
    assert str(path) in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize("content", [b"caf\xe9 timeout", None])
def test_a_file_that_cannot_be_used_is_skipped_and_the_others_answer(files: list[str], content: bytes | None) -> None:
    path = Path(files[0]).with_name("latin.txt")
    if content is not None:
        path.write_bytes(content)
    result = run(files[0], str(path), files[1], "--max-tokens", "30")
    assert result.exit_code == 3
    assert ANSWER in result.stdout
    assert result.stderr.startswith(f"ctxcompress: {str(path)!r} is skipped: ")
    assert result.stderr.count("\n") == 1


def test_a_file_without_end_is_skipped(files: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctxcompress.apps.cli.inputs.MOST_BYTES", 1_000)
    result = run("/dev/zero", files[1])
    assert result.exit_code == 3
    assert "'/dev/zero' is skipped: it has more than 1,000 bytes; split it" in result.stderr
    assert ANSWER in result.stdout


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--max-tokens", "0"), "at least 1"),
        (("--tier", "huge"), "huge"),
        (("--tier", "summary", "--max-tokens", "5"), "give one of them"),
        (("--language", "xx"), "language is 'xx'; give a two-letter code such as 'en'"),
        (("--no-such-option",), "--no-such-option"),
    ],
)
def test_wrong_usage_ends_with_2(arguments: tuple[str, ...], complaint: str) -> None:
    result = run(*arguments, stdin="text")
    assert result.exit_code == 2
    assert complaint in result.stderr
    assert result.stdout == ""


def test_the_version() -> None:
    assert CliRunner().invoke(app, ["--version"]).stdout == f"ctxcompress {__version__}\n"


def test_any_option_can_be_set_by_its_name_and_a_value_in_toml(files: list[str]) -> None:
    result = run(
        *files, "--json", "--set", "top_n=1", "--set", "score_kind=rank", "--set", 'synonyms={timeout=["limit"]}'
    )
    assert len(json.loads(result.stdout)["passages"]) == 1


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        ("top_n", "'top_n' sets no option; give NAME=VALUE, such as top_n=5"),
        ("topn=5", "there is no option 'topn'; did you mean 'top_n'?"),
        ("top_n=five", "top_n is 'five'; give a whole number, at least 1, or None to keep all"),
        ("encoder=magic", "encoder is 'magic'; give 'static' or 'words', or in code an object"),
    ],
)
def test_a_wrong_assignment_is_refused(assignment: str, message: str) -> None:
    result = run("--set", assignment, stdin="text")
    assert result.exit_code == 2
    assert message in result.stderr


def test_what_must_be_kept_is_kept(files: list[str], tmp_path: Path) -> None:
    (tmp_path / "account.txt").write_text(f"{FILLER} The account is INV-77, since 2024-05-17. {FILLER}")
    for option in (["--must-keep", "INV-77"], ["--must-keep", "dates"], ["--must-keep-regex", r"INV-\d+"]):
        result = run(*files, str(tmp_path / "account.txt"), "--max-tokens", "40", *option)
        assert "The account is INV-77" in result.stdout
    result = run(*files, str(tmp_path / "account.txt"), "--max-tokens", "2", "--must-keep", "INV-77")
    assert result.exit_code == 1
    assert "give at least" in result.stderr
