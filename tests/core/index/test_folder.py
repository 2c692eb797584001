"""Which files of a folder are read; and nothing outside the folder is ever read, not even by way of a link."""

import os
import sys

import pytest
from fresh_modules import fresh

from ctxcompress.apps.index import FolderIndex
from ctxcompress.apps.index.folder import Folder, Unreadable, kinds_of

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs symbolic links and pipes")


@pytest.fixture
def docs(tmp_path):
    """A folder beside a secret."""
    (tmp_path / "secret.md").write_text("the secret")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "a.md").write_text("the secret")
    folder = tmp_path / "docs"
    (folder / "sub").mkdir(parents=True)
    (folder / "a.md").write_text("open")
    (folder / "sub" / "a.md").write_text("open")
    return folder


@pytest.fixture(params=["openat", "by path"])
def way(request, monkeypatch):
    """How files are opened: within an open folder, or as on systems that cannot do that."""
    if request.param == "by path":
        monkeypatch.setattr(os, "supports_dir_fd", frozenset())
        by_path = fresh("ctxcompress.apps.index.folder")
        for name in ("Folder", "Unreadable"):
            monkeypatch.setattr(sys.modules[__name__], name, getattr(by_path, name))
    return str(request.param)


def test_files_are_listed_with_slashes_in_order(docs, way):
    (docs / "B.TXT").write_text("b")
    assert list(Folder(docs).files().stamps) == ["B.TXT", "a.md", "sub/a.md"]
    assert Folder(docs).read("sub/a.md") == b"open"


def test_links_are_not_followed(docs, way):
    (docs / "file.md").symlink_to(docs.parent / "secret.md")
    (docs / "inside.md").symlink_to(docs / "a.md")
    (docs / "folder").symlink_to(docs.parent / "outside")
    (docs / "up").symlink_to("..")
    (docs / "loop").symlink_to(".")
    assert list(Folder(docs).files().stamps) == ["a.md", "sub/a.md"]
    for path in ("file.md", "inside.md", "folder/a.md", "up/secret.md", "loop/a.md"):
        with pytest.raises(OSError, match=r"."):
            Folder(docs).read(path)


@pytest.mark.parametrize(
    "path", ["../secret.md", "sub/../../secret.md", "/etc/passwd", "", ".", "..", "sub//a.md", "./a.md", "sub/./a.md"]
)
def test_no_path_leads_out_of_the_folder(docs, way, path):
    with pytest.raises(OSError, match=r"."):
        Folder(docs).read(path)


def test_what_becomes_a_link_after_it_was_listed_is_not_read(docs, way):
    folder = Folder(docs)
    assert list(folder.files().stamps) == ["a.md", "sub/a.md"]
    (docs / "a.md").unlink()
    (docs / "a.md").symlink_to(docs.parent / "secret.md")
    with pytest.raises(OSError, match=r"."):
        folder.read("a.md")
    (docs / "sub").rename(docs / "was")
    (docs / "sub").symlink_to(docs.parent / "outside")
    with pytest.raises(OSError, match=r"."):
        folder.read("sub/a.md")
    assert "sub/a.md" not in folder.files().stamps


def test_the_index_shows_no_secret_when_links_are_put_in_between(docs, monkeypatch):
    index = FolderIndex(docs)
    real = Folder.files

    def swapping(folder):
        listing = real(folder)
        (docs / "a.md").unlink()
        (docs / "a.md").symlink_to(docs.parent / "secret.md")
        return listing

    monkeypatch.setattr(Folder, "files", swapping)
    assert index.search("secret") == []


def test_pipes_are_neither_listed_nor_waited_for(docs, way):
    os.mkfifo(docs / "pipe.md")
    assert "pipe.md" not in Folder(docs).files().stamps
    with pytest.raises(Unreadable, match="not a regular file"):
        Folder(docs).read("pipe.md")


def test_hidden_files_and_folders_of_others_are_passed_over(docs, way):
    for name in (".env", ".git/a.md", "node_modules/p/a.md", "sub/__pycache__/a.py", "venv/a.py", ".hidden.md"):
        (docs / name).parent.mkdir(parents=True, exist_ok=True)
        (docs / name).write_text("password")
    assert list(Folder(docs).files().stamps) == ["a.md", "sub/a.md"]


@pytest.mark.parametrize("name", ["line\nbreak.md", "es\x1bcape.md", os.fsdecode(b"\xff.md"), "rtl\u202e.md"])
def test_names_that_cannot_be_shown_are_told_and_not_read(docs, name):
    (docs / name).write_text("text")
    (docs / f"{name}.png").write_bytes(b"\x89PNG\0")
    listing = Folder(docs).files()
    assert list(listing.stamps) == ["a.md", "sub/a.md"]
    assert dict(listing.unread) == {name: "its name cannot be shown; rename it"}


TEXTS = (
    *("t.csv", "t.tsv", "t.xml", "t.ini", "t.cfg", "t.ipynb", "t.graphql", "t.ics", "t.vcf", "t.svg", "t.srt", "t.vtt"),
    *("t.eml", "t.mbox", "t.hcl", "t.unheard-of", "Jenkinsfile", "run"),
)


def test_what_is_text_is_read_whatever_its_ending(docs, way):
    for name in TEXTS:
        (docs / name).write_text("größer, 30 seconds\n", encoding="utf-8")
    (docs / "long").write_text("x" + "é" * 4_000, encoding="utf-8")  # the head ends within a character
    assert sorted(Folder(docs).files().stamps) == sorted(("a.md", "sub/a.md", "long", *TEXTS))


def test_what_is_no_text_is_counted_by_its_kind(docs, way):
    (docs / "pages").mkdir()
    others = {
        **{f"pages/{number}.PNG": b"\x89PNG\r\n\0" for number in range(3)},
        "a.zip": b"PK\3\4\0",
        "program": b"\x7fELF\2\0",
        "latin.csv": b"caf\xe9",
        "a.pdf": b"%PDF-1.7 a",
        "id_rsa": b"-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEA\n",
        **dict.fromkeys(("yarn.lock", "package-lock.json", "app.min.js", "app.js.map"), b"{}"),
    }
    for name, content in others.items():
        (docs / name).write_bytes(content)
    listing = Folder(docs).files()
    assert list(listing.stamps) == ["a.md", "sub/a.md"]
    assert (listing.is_all, sum(listing.others.values())) == (True, len(others))
    assert kinds_of(listing.others) == (
        "3 .png, 2 without an ending, 1 .csv, 1 .js, 1 .json, 1 .lock, 1 .map, 1 .pdf, 1 of other kinds"
    )
