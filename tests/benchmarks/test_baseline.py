"""The baseline is a fair one: it finds the words of the question and fills the budget, never more."""

from types import ModuleType

DOCUMENTS = ["Pears are green. Plums are blue! Is it so?", "No fruit here\nA quince is yellow. 他来了。她走了。"]


def words(text: str) -> int:
    return len(text.split())


def test_sentences_end_at_full_stops_and_lines_of_any_script(baseline: ModuleType) -> None:
    ranked = baseline.RankedSentences.of("quince", DOCUMENTS)
    assert [tuple(sentence) for sentence in ranked.sentences] == [
        (0, "Pears are green."),
        (0, "Plums are blue!"),
        (0, "Is it so?"),
        (1, "No fruit here"),
        (1, "A quince is yellow."),
        (1, "他来了。"),
        (1, "她走了。"),
    ]


def test_the_best_sentence_is_kept_first_and_source_order_restored(baseline: ModuleType) -> None:
    assert baseline.RankedSentences.of("quince", DOCUMENTS).within(5, words) == "A quince is yellow."
    ranked = baseline.RankedSentences.of("yellow quince pears", DOCUMENTS)
    assert ranked.within(5, words) == "A quince is yellow."
    assert ranked.within(9, words) == "Pears are green.\n\nA quince is yellow."


def test_the_joined_text_is_within_the_budget(baseline: ModuleType) -> None:
    ranked = baseline.RankedSentences.of("what is yellow?", DOCUMENTS)

    def dear_breaks(text: str) -> int:
        return words(text) + 5 * text.count("\n")

    for count in (words, dear_breaks, len):
        assert all(count(ranked.within(budget, count)) <= budget for budget in range(60))


def test_everything_is_kept_where_there_is_room(baseline: ModuleType) -> None:
    text = baseline.RankedSentences.of("quince", DOCUMENTS).within(1000, words)
    assert text.split() == " ".join(DOCUMENTS).replace("。她", "。 她").split()


def test_without_words_there_is_nothing_to_rank_and_nothing_fails(baseline: ModuleType) -> None:
    assert baseline.RankedSentences.of("quince", []).within(10, words) == ""
    assert baseline.RankedSentences.of("quince", ["", " \n"]).within(10, words) == ""
    assert baseline.RankedSentences.of("?", ["***", "---"]).within(10, words) == "***\n\n---"
