"""The table of what each rule gains: rows are switched off in turn, and are on again afterwards."""

from types import ModuleType

from ctxcompress.score import adjustments
from ctxcompress.segment import formats


def test_each_row_but_prose_is_switched_off_in_turn(ablate: ModuleType) -> None:
    before = formats.FORMATS, adjustments.OF_PROBABILITY, adjustments.OF_WORTH
    names = []
    for name, switched_off in ablate.rows():
        with switched_off:
            now = formats.FORMATS, adjustments.OF_PROBABILITY, adjustments.OF_WORTH
            assert sum(map(len, now)) == sum(map(len, before)) - 1
        names.append(name)
    assert before == (formats.FORMATS, adjustments.OF_PROBABILITY, adjustments.OF_WORTH)
    assert len(names) == sum(map(len, before)) - 1
    assert "format: prose" not in names


def test_a_row_of_the_table_counts_the_cases_that_keep_less_and_more(ablate: ModuleType) -> None:
    before = {"one": [1.0, 1.0, 0.0, 0.5], "two": [1.0]}, 2.0
    after = {"one": [0.0, 1.0, 1.0, 0.0], "two": [1.0]}, 1.0
    assert ablate.compared("x", before, after) == ["x", "-0.0625", "2", "1", "one -0.125", ".500"]


def test_rows_that_change_no_case_are_named_above_the_table(ablate: ModuleType) -> None:
    found = [["format: a", "-0.1000", "2", "1", "one -0.100", ".9"], ["format: b", "+0.0000", "0", "0", "", "1.1"]]
    assert ablate.report("Measured", found).splitlines() == [
        "Measured. No case changes without format: b.",
        "",
        "| without | evidence | worse | better | loses most |",
        "| --- | ---: | ---: | ---: | ---: |",
        "| format: a | -0.1000 | 2 | 1 | one -0.100 |",
    ]
