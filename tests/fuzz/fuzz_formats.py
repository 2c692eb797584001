"""The readers of all formats: the segments are the text."""

from fuzzing import read, spliced

from ctxcompress.segment.formats import segment

NAMES = (
    None,
    *"a.md a.py a.js a.java a.c a.go a.json a.xml a.html a.csv a.log a.toml a.yaml a.ini a.txt a.sql".split(),
)
LANGUAGES = ("en", "de", "zh", "th", "xx")
mutate = spliced(
    *("# ", "```\n", "~~~python\n", "> ", "- ", "1. ", "| a | b |\n|---|---|\n", "|", "\n\n", "\r\n", "    ", "\t"),
    *("def f(x):\n    return x\n", "class A:\n", "function f() {\n", "}\n", "/*", "*/", "//", '"""', "'", '"', "\\"),
    *(
        '{"a": 1}',
        "[",
        "]",
        "{",
        "}",
        ",",
        ":",
        "<a b='c'>",
        "</a>",
        "<!--",
        "-->",
        "<![CDATA[",
        "]]>",
        "<pre>",
        "<table>",
    ),
    *("[section]\n", "key = value\n", "key: value\n", "- item: 1\n", "key: |\n", "a,b\n1,2\n", '"a\n""b"', "\t1\t2\n"),
    *("2026-01-01 12:00:00 ERROR x failed\n", "Traceback (most recent call last):\n", '  File "a.py", line 3, in f\n'),
    *("Alice: hello\n", "User: why?\n", "OPTIONS\n       -a, --all\n", "$ make\n", "diff --git a/x b/x\n@@ -1 +1 @@\n"),
    *("\ud800", "\u0301", "\u200d", "\x00", "\u2028", "\ufeff", "。", "你好", "“", "…", "==== x ====\n", "Note:\n"),
)


def check(data: bytes) -> None:
    given = read(data)
    name = NAMES[given.choice % len(NAMES)]
    parts = segment(given.text, name=name, language=LANGUAGES[given.budget % len(LANGUAGES)])
    ends = [0, *(part.end for part in parts)]
    assert [part.start for part in parts] == ends[:-1]
    assert ends[-1] == len(given.text)
    assert all(part.start <= part.end for part in parts)
    assert all(0 <= other < len(parts) for part in parts for other in part.needs)
