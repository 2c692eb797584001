"""The baseline is a fair one: it finds the words of the question and fills the budget, never more."""

from types import ModuleType

DOCUMENTS = ["Pears are green. Plums are blue! Is it so?", "No fruit here\nA quince is yellow. 他来了。她走了。"]


def words(text: str) -> int:
    return len(text.split())


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
