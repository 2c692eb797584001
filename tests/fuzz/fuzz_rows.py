"""Lines of JSON for a batch: a record as a line of JSON, or the line with an error of ours."""

import json

from fuzzing import json_changed

from ctxcompress import CompressionConfig
from ctxcompress.apps.batch.row_records import USUAL_FIELDS, CompressRecords, Row

mutate = json_changed("query", "passages", "text", "content", "id", "score", "metadata", "title", "Header 1", "source")
_WORK = CompressRecords(CompressionConfig(max_tokens=20), USUAL_FIELDS, as_lines=True)
_OURS = ("InputError: ", "ConfigError: ", "BudgetTooSmall: ")


def check(data: bytes) -> None:
    line = data[3:].replace(b"\n", b" ")
    outcome = _WORK.do(Row(7, line))
    assert outcome.number == 7
    if outcome.error is None:
        assert isinstance(outcome.record, bytes)
        assert outcome.record.count(b"\n") == 1
        record = json.loads(outcome.record)
        assert record["row"] == 7
        assert record["tokens"] <= 20
    else:
        assert outcome.error.startswith(_OURS), outcome.error
        assert outcome.record == line
