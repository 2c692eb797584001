"""The feedback log: it stores which kept text was used, without texts by default, and refuses wrong evidence."""

import pytest
from calls import ANSWER, QUESTION, compressed, span_of

from ctxcompress.apps.feedback import FeedbackLog, Used
from ctxcompress.errors import ConfigError, InputError


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        self.now += 1
        return self.now


@pytest.fixture
def path(tmp_path):
    return tmp_path / "feedback.sqlite"


@pytest.fixture
def log(path):
    return FeedbackLog(path, scope="shop", clock=Clock())


def test_what_was_used_comes_back_without_texts(log, path):
    result = compressed()
    assert log.record(result, used=[result.passages[0], *result.cite(ANSWER), "p2"]) == 3
    (record,) = log.records()
    assert record.used == (Used(0), Used(0, span_of(ANSWER)), Used(2))
    assert (record.missing, record.question, record.texts) == (False, None, ())
    assert record.sheet.budget == 30
    data = path.read_bytes()
    assert not any(word in data for word in (b"timeout", b"client", QUESTION.encode()))


def test_texts_are_kept_if_that_is_wanted(path):
    log = FeedbackLog(path, keep_texts=True)
    result = compressed()
    log.record(result, used=result.cite(ANSWER))
    (record,) = log.records()
    assert (record.question, record.texts) == (QUESTION, (ANSWER,))


def test_an_answer_says_itself_what_it_used(log):
    result = compressed()
    assert log.record(result, answer=f'The manual says: "{ANSWER}"') >= 1
    assert log.record(result, answer="I do not know.") == 0
    assert len(log.records()) == 1
    assert log.records()[0].used[0] == Used(0, span_of(ANSWER))


@pytest.mark.parametrize("result", ["x", None, [], 5])
def test_what_is_no_result_is_refused(log, result):
    for call in (log.record, log.remember):
        with pytest.raises(InputError, match=f"result is a {type(result).__name__}; give the Compression that"):
            call(result)


@pytest.mark.parametrize("wrong", ["nothing", Used(3), Used(-1), 7, None])
def test_evidence_that_is_not_in_the_result_is_refused(log, wrong):
    with pytest.raises(InputError, match=r"give|count from 0"):
        log.record(compressed(), used=[wrong])
    assert log.records() == []


def test_a_call_is_remembered_until_its_feedback_comes(log, path):
    call = log.remember(compressed())
    assert log.records() == []
    assert FeedbackLog(path, scope="shop").record_call(call, used=[Used(0)]) == 1
    assert [record.used for record in log.records()] == [(Used(0),)]
    log.record_call(call, used=[Used(1)])
    assert [record.used for record in log.records()] == [(Used(1),)]


def test_a_call_that_is_not_remembered_is_an_error(log, path):
    call = log.remember(compressed())
    with pytest.raises(InputError, match="remembers no call"):
        log.record_call("other", used=[Used(0)])
    with pytest.raises(InputError, match="remembers no call"):
        FeedbackLog(path, scope="another").record_call(call, used=[Used(0)])
    with pytest.raises(InputError, match="had 3; count from 0"):
        log.record_call(call, used=[Used(3)])


def test_scopes_do_not_mix_and_can_be_forgotten(log, path):
    other = FeedbackLog(path, scope="other")
    log.record(compressed(), used=["p0"])
    other.record(compressed(), used=["p1"])
    assert log.scopes() == {"other": 1, "shop": 1}
    assert [record.used for record in other.records()] == [(Used(1),)]
    assert log.forget() == 1
    assert log.scopes() == {"other": 1}


def test_the_oldest_records_and_calls_go_first(path):
    log = FeedbackLog(path, max_records=3, clock=Clock())
    result = compressed()
    calls = [log.remember(result) for _ in range(4)]
    for place in (0, 1, 2, 0, 1):
        log.record(result, used=[Used(place)])
    assert [record.used[0].passage for record in log.records()] == [2, 0, 1]
    with pytest.raises(InputError, match="remembers no call"):
        log.record_call(calls[0], used=[Used(0)])
    assert log.record_call(calls[3], used=[Used(0)]) == 1


@pytest.mark.parametrize("content", [b"SQLite format 3\0" + b"\xff" * 5000, b"a letter to somebody " * 300])
def test_a_damaged_or_foreign_file_is_an_error_and_stays_as_it_is(path, content):
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=r"cannot be used as a feedback log.*give the path of another file"):
        FeedbackLog(path)
    assert path.read_bytes() == content


def test_a_file_that_fails_does_not_stop_a_compression(log, path, caplog):
    path.write_bytes(b"no database " * 500)
    assert log.remember(compressed()) is None
    assert "not remembered for feedback" in caplog.text


@pytest.mark.parametrize(
    "given",
    [{"scope": ""}, {"scope": "a\nb"}, {"scope": 3}, {"scope": "x" * 201}, {"max_records": 0}, {"max_records": True}],
)
def test_wrong_arguments_are_refused(path, given):
    with pytest.raises(ConfigError, match="give a"):
        FeedbackLog(path, **given)
