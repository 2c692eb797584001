"""The far end of the pipe: compresses the cases that it reads, in the environment of one compressor.

    PYTHON -I serve.py ADAPTER WAY

It reads a case from each line, and answers with a line: `text` and `milliseconds` of CPU time, or `error`. `unchanged`
tells whether the case is what it was before. It needs nothing but the standard library and what the adapter imports.
"""

import json
import logging
import os
import runpy
import sys
from collections.abc import Callable
from time import process_time
from typing import Any


def main() -> None:
    adapter, way = sys.argv[1:]
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever the compressors print is not an answer
    logging.disable(logging.INFO)
    compress = runpy.run_path(adapter)["WAYS"][way]()
    for line in sys.stdin:
        print(json.dumps(_answer(compress, line)), file=answers, flush=True)


def _answer(compress: Callable[[Any], str], line: str) -> dict[str, object]:
    case, before = _case(line), _case(line)
    start = process_time()
    try:
        text = compress(case)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is an answer
        return {"error": f"{type(error).__name__}: {error}"}
    return {"text": text, "milliseconds": 1e3 * (process_time() - start), "unchanged": case == before}


def _case(line: str) -> dict[str, Any]:
    case: dict[str, Any] = json.loads(line)
    titled = [f"{title}\n{text}" if title else text for title, text in zip(case["titles"], case["texts"], strict=True)]
    return case | {"titled": titled}


if __name__ == "__main__":
    main()
