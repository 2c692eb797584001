"""A small SQLite file belongs to its owner and to one purpose, and a transaction happens whole or not at all."""

import os
import sqlite3

import pytest

from ctxcompress.cache.private_file import PrivateDatabase


@pytest.fixture
def database(tmp_path):
    return PrivateDatabase(
        tmp_path / "notes.sqlite", 0x6E6F7465, ("CREATE TABLE notes (text TEXT NOT NULL)",), largest=1_000
    )


def notes(database):
    with database.transaction(writes=False) as connection:
        return [text for (text,) in connection.execute("SELECT text FROM notes")]


def write(database, text):
    with database.transaction() as connection:
        connection.execute("INSERT INTO notes VALUES (?)", (text,))


def test_what_is_written_is_read_by_the_next_transaction(database):
    write(database, "one")
    write(database, "two")
    assert notes(database) == ["one", "two"]


def test_an_exception_undoes_the_transaction(database):
    write(database, "one")
    with pytest.raises(sqlite3.IntegrityError), database.transaction() as connection:
        connection.executemany("INSERT INTO notes VALUES (?)", [("two",), (None,)])
    assert notes(database) == ["one"]


def test_values_have_a_largest_size(database):
    with pytest.raises(sqlite3.Error, match="too big"):
        write(database, 1_001 * "x")
    assert notes(database) == []


def test_nothing_of_what_is_deleted_remains_in_the_file(database):
    write(database, "a secret that is deleted")
    with database.transaction() as connection:
        connection.execute("DELETE FROM notes")
    assert b"secret" not in database.path.read_bytes()


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_only_the_owner_can_read_the_file(database):
    write(database, "one")
    database.path.chmod(0o644)
    assert notes(database) == ["one"]
    assert database.path.stat().st_mode & 0o777 == 0o600


def test_a_database_of_something_else_is_refused_and_left_alone(database):
    with sqlite3.connect(database.path) as connection:
        connection.execute("CREATE TABLE other (text TEXT)")
    before = database.path.read_bytes()
    with pytest.raises(sqlite3.DatabaseError, match="a database of something else"):
        notes(database)
    assert database.path.read_bytes() == before
