"""Cutting pages of HTML: within the budget, verbatim and complete."""

from cutting import cut
from fuzzing import read, spliced

mutate = spliced(
    *(
        "<!DOCTYPE html>",
        "<html>",
        "<body>",
        "<p>",
        "</p>",
        "<div class='a'>",
        "</div>",
        "<table>",
        "<tr>",
        "<td>",
        "</td>",
    ),
    *(
        "</tr>",
        "</table>",
        "<ul><li>",
        "</li>",
        "<pre>",
        "</pre>",
        "<script>",
        "</script>",
        "<style>",
        "<h1>",
        "</h1>",
        "<br>",
    ),
    *(
        "<!--",
        "-->",
        "&lt;",
        "&nbsp;",
        "&#x41;",
        "<a href='x",
        "<b>",
        "The timeout is 30 s. ",
        "\n",
        "<svg>",
        "<title>",
        "<",
    ),
)


def check(data: bytes) -> None:
    given = read(data)
    cut(given, "a.html" if given.choice % 2 else None)
