"""The comments above a definition of SQL belong to it, whatever their form."""

import pytest

from ctxcompress import Passage, compress
from ctxcompress.code.line_outline import line_outline

BODY = "CREATE FUNCTION shelf_of(item int) RETURNS int\n    LANGUAGE sql\nRETURN $1 / 40;\n\n"
COMMENTS = [
    "-- The shelf that holds an item.\n",
    "-- The shelf that holds an item,\n-- or nothing (NULL when it is lent).\n",
    "/* The shelf that holds an item,\n * or nothing (NULL when it is lent). */\n",
    "/*\n * The shelf that holds an item.\n */\n-- See the plan.\n",
]


@pytest.mark.parametrize("comment", COMMENTS)
def test_a_definition_of_sql_is_found_below_its_comment(comment: str) -> None:
    before = "SET search_path TO store;\n\n"
    nodes = line_outline(before + comment + BODY, "sql")
    assert [node.name for node in nodes] == ["", "shelf_of"]
    assert (nodes[1].start, nodes[1].signature) == (len(before), len(before + comment))


def test_a_comment_within_a_statement_of_sql_does_not_end_it() -> None:
    text = "CREATE VIEW loans AS\n-- all of them\nSELECT *\n/* and the\nlost ones */\nFROM lent;\n\nSELECT 1;\n"
    assert [text[node.start : node.end].split()[0] for node in line_outline(text, "sql")] == ["CREATE", "SELECT"]


def test_the_comment_above_a_function_of_sql_is_found_by_its_name() -> None:
    others = [
        f"CREATE VIEW {name}_of AS\n    SELECT item, {name} FROM store WHERE {name} IS NOT NULL AND item > {n};\n\n"
        for n, name in enumerate("column index return case plank floor door item lamp desk".split() * 3)
    ]
    text = "".join([*others[:15], COMMENTS[2], BODY, *others[15:]])
    asked = "What does shelf_of return if the item is in no column?"
    assert "NULL when it is lent" in compress(asked, [Passage("a", text, file_path="store.sql")], max_tokens=110).text
