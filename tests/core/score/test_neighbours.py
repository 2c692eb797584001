"""The features of neighbours are what plain loops over the units find."""

from ctxcompress import Passage, compress


def test_the_answer_after_the_question_is_kept():
    lines = [
        "Anna: Did you water the tomatoes?",
        "Bob: Of course, twice.",
        "Anna: Where did you put the spare key of the greenhouse?",
        "Bob: Under the blue pot.",
        "Anna: Fine.",
        "Bob: Shall we have lunch now?",
        "Anna: In ten minutes, I am still reading.",
    ]
    passages = [Passage(str(number), line, title="Chat") for number, line in enumerate(lines)]
    assert "Under the blue pot." in compress("Where is the spare key of the greenhouse?", passages, max_tokens=40).text
