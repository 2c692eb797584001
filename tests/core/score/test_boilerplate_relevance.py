"""Which boilerplate of a text a query asks for, and how that changes the scores of segments."""

import pytest

from ctxcompress import compress

FRONT_MATTER = "---\ntitle: Timeouts\nauthor: Jane Doe\ndate: 2024-03-03\n---"
COMMENT = "<!-- YAML\nadded: v1.2\ntags: limits\n-->"
REFERENCE = """# HTTP

### `request.abort()`

<!-- YAML
added: v0.3.8
changes:
  - version: v13.0
    description: How to abort an http request in node is fixed.
-->

Marks the request as aborting. The socket is destroyed.
"""


@pytest.mark.parametrize("budget", range(8, 60, 4))
def test_comments_come_after_all_text(budget):
    found = compress("how do I abort an http request in node?", [REFERENCE], max_tokens=budget).text
    assert "Marks the request" in found
    assert not any(part in found for part in ("added:", "-->", "fixed"))


def test_a_question_for_the_version_asks_for_the_comment_that_has_it():
    assert "v0.3.8" in compress("in which version was request.abort added?", [REFERENCE], max_tokens=60).text


def test_who_wrote_a_page_is_found_in_what_stands_before_it():
    text = "---\ntitle: Rivers\nauthor: Jane Doe\n---\n\n" + "The river runs by the town. Mills stand there.\n\n" * 9
    assert "Jane Doe" in compress("who wrote this page?", [text], max_tokens=40).text
    assert "Jane Doe" not in compress("where do mills stand?", [text], max_tokens=40).text


@pytest.mark.parametrize("adaptive", [True, False])
@pytest.mark.parametrize("text", [FRONT_MATTER, f"{COMMENT}\n\n" * 5])
def test_boilerplate_alone_is_not_lost(text, adaptive):
    assert compress("What is the timeout?", [text], max_tokens=12, adaptive=adaptive).text


PAGE = "<html><body>{}<footer>Harbour Ltd. Customer service: 555-0199.</footer><nav>Home Sale</nav></body></html>"


@pytest.mark.parametrize(("budget", "is_kept"), [(60, False), (115, True)])
def test_a_footer_that_has_words_of_the_question_comes_after_all_other_text(budget, is_kept):
    boats = "Alma Bora Cleo Dora Elba Fani Gina".split()
    page = PAGE.format("".join(f"<p>Our boat {name} has a red sail and is for hire.</p>" for name in boats))
    text = compress("phone number of customer service", [page], max_tokens=budget).text
    assert ("555-0199" in text) is is_kept
    assert text.count("red sail") == 7 or not is_kept
    assert "Sale" not in text


def _documentation(title: str, description: str, body: str) -> str:
    about = f"---\ntitle: {title}\ndescription: {description}\nsidebar_position: 4\nkeywords: [retries, client]\n---"
    return f"{about}\n\n# {title}\n\n{body}\n"


@pytest.mark.parametrize("budget", range(40, 130, 10))
def test_front_matter_that_repeats_the_question_takes_the_place_of_no_text(budget):
    pages = [
        _documentation(
            "Configure retries",
            "Learn how to configure retries of the client.",
            "The client tries a call again when the server is busy. Set `attempts` in `client.toml`.",
        ),
        _documentation("Timeouts", "Configure timeouts and retries of the client.", "A call ends after 30 seconds."),
        _documentation("Install", "Install and configure the client.", "Check it with the version command."),
    ]
    kept = compress("how do I configure retries of the client?", pages, max_tokens=budget).text
    assert "Set `attempts`" in kept
    assert "description:" not in kept or "version command" in kept
