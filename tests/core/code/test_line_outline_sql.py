"""The comments above a definition of SQL belong to it, whatever their form."""

from ctxcompress import Passage, compress

BODY = "CREATE FUNCTION shelf_of(item int) RETURNS int\n    LANGUAGE sql\nRETURN $1 / 40;\n\n"
COMMENTS = [
    "-- The shelf that holds an item.\n",
    "-- The shelf that holds an item,\n-- or nothing (NULL when it is lent).\n",
    "/* The shelf that holds an item,\n * or nothing (NULL when it is lent). */\n",
    "/*\n * The shelf that holds an item.\n */\n-- See the plan.\n",
]


def test_the_comment_above_a_function_of_sql_is_found_by_its_name() -> None:
    others = [
        f"CREATE VIEW {name}_of AS\n    SELECT item, {name} FROM store WHERE {name} IS NOT NULL AND item > {n};\n\n"
        for n, name in enumerate("column index return case plank floor door item lamp desk".split() * 3)
    ]
    text = "".join([*others[:15], COMMENTS[2], BODY, *others[15:]])
    asked = "What does shelf_of return if the item is in no column?"
    assert "NULL when it is lent" in compress(asked, [Passage("a", text, file_path="store.sql")], max_tokens=110).text
