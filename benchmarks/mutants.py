"""Mutants: small changes to the source, drawn at random, that a test should notice.

    python benchmarks/mutants.py OUT COUNT SEED MINUTES TESTS...

Each is tried in a fork of a process that has collected the tests, by the tests that run its lines, the fastest first,
for five seconds of the processor at most. OUT gets a line of JSON for each; those that are noticed there are not tried
again. Which tests run which lines is kept in OUT.tests, for the files that have not changed since.
"""

import json
import os
import random
import signal
import sys
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from itertools import groupby
from pathlib import Path
from time import monotonic, process_time
from typing import Any

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import HealthCheck, Phase, settings
from lib.mutants import SOURCES, Mutant, apply, mutants_of

SLOWEST, LONGEST = 2.0, 5.0
"""Seconds of the processor: of a test, and of all tests of a mutant."""
Recorded = dict[str, tuple[bool, float, list[str]]]
"""The id of a test -> whether it passes, its seconds, and the files and lines that it runs."""


def fork(call: Callable[..., Any], *given: Any) -> Any:
    """Call a function in a fork. Return what it returned; "failed" if it raised; "hung" if it was ended by a signal."""
    read, write = os.pipe()
    if not (child := os.fork()):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        found: Any = "failed"  # such as to load the changed module
        try:
            found = call(*given)
        finally:
            with os.fdopen(write, "w") as file:
                json.dump(found, file)
            os._exit(0)
    os.close(write)
    with os.fdopen(read) as file:
        found = file.read()
    os.waitpid(child, 0)
    return json.loads(found) if found else "hung"


def passes(item: pytest.Item, following: pytest.Item | None) -> bool:
    """Run a test, and tell whether it passes."""
    return not any(report.failed for report in runtestprotocol(item, log=False, nextitem=following))


def recorded(items: Sequence[pytest.Item]) -> Recorded:
    """Run these tests, and return what is known of them."""
    files, found = {*map(str, SOURCES)}, Recorded()
    hits: set[str] = set()
    calls = Counter[Any]()

    def line(frame: Any, *_: object) -> Any:
        hits.add(f"{frame.f_code.co_filename}:{frame.f_lineno}")
        return line

    def call(frame: Any, *_: object) -> Any:
        code = frame.f_code
        if code.co_filename not in files or calls[code] >= 100:  # more calls take too long
            return None
        calls[code] += 1
        return line(frame)

    for item, following in zip(items, [*items[1:], None], strict=True):
        hits.clear()
        calls.clear()
        begin = process_time()
        threading.settrace(call)
        sys.settrace(call)
        is_good = passes(item, following)
        threading.settrace(None)
        sys.settrace(None)
        found[item.nodeid] = is_good, process_time() - begin, sorted(hits)
    return found


def tried(mutant: Mutant, items: Sequence[pytest.Item], seconds: dict[str, float]) -> str:
    """Return the first test that fails; "" if none does."""
    apply(mutant)
    end = process_time() + LONGEST
    for item, following in zip(items, [*items[1:], None], strict=False):
        signal.setitimer(signal.ITIMER_PROF, 5 + 10 * seconds[item.nodeid])
        signal.alarm(90)
        if not passes(item, following):
            return item.nodeid
        if process_time() > end:
            return ""
    return ""


class Trial:
    """Tries mutants where pytest would run its tests."""

    def __init__(self, out: str, count: str, seed: str, minutes: str) -> None:
        self.out, self.count, self.seed, self.end = Path(out), int(count), int(seed), monotonic() + 60 * float(minutes)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> None:
        """Let properties run few examples, the same each time."""
        phases, checks = (Phase.explicit, Phase.generate), list(HealthCheck)
        few = settings.get_profile("few")
        settings.register_profile("mutants", few, database=None, phases=phases, suppress_health_check=checks)
        settings.load_profile("mutants")

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Try the mutants, and print how many are noticed."""
        known = self._known(session.items)
        seconds = {test: taken for test, (is_good, taken, _) in known.items() if is_good and taken < SLOWEST}
        good = sorted((item for item in session.items if item.nodeid in seconds), key=lambda i: seconds[i.nodeid])
        mutants = [mutant for file in SOURCES for mutant in mutants_of(file)]
        drawn = random.Random(self.seed).sample(mutants, min(self.count, len(mutants)))
        lines = map(json.loads, self.out.read_text().splitlines()) if self.out.exists() else ()
        by = {line["mutant"]: line["by"] for line in lines}
        killers = defaultdict[Any, Counter[str]](Counter)  # tests that noticed others of the function come first
        for mutant in (mutant for mutant in drawn if not by.get(mutant.text)):
            if monotonic() > self.end:
                break
            places, before = {f"{mutant.file}:{line}" for line in mutant.lines}, killers[mutant.file, mutant.unit]
            chosen = [item for item in good if not places.isdisjoint(known[item.nodeid][2])]
            chosen.sort(key=lambda item: -before[item.nodeid])
            by[mutant.text] = fork(tried, mutant, chosen, seconds)
            before[by[mutant.text]] += 1
            with self.out.open("a") as out:
                out.write(json.dumps({"mutant": mutant.text, "by": by[mutant.text], "tests": len(chosen)}) + "\n")
        tries = [mutant.text for mutant in drawn if mutant.text in by]
        print(f"{len(mutants)} mutants, {len(tries)} tried, {sum(bool(by[text]) for text in tries)} noticed")
        return True

    def _known(self, items: Sequence[pytest.Item]) -> Recorded:
        """Return what is known of the tests; of those whose files have not changed, as it was."""
        cache = Path(f"{self.out}.tests")
        of_files = json.loads(cache.read_text()) if cache.exists() else {}
        known: Recorded = {}
        for path, of_file in groupby(items, key=lambda item: item.path):
            stamp = [file.stat().st_mtime for file in (path, *SOURCES)]
            if of_files.get(str(path), (None,))[0] != stamp:
                of_files[str(path)] = stamp, fork(recorded, list(of_file))
                cache.write_text(json.dumps(of_files))
            known |= of_files[str(path)][1]
        return known


if __name__ == "__main__":
    plugins = ["no:cacheprovider", "no:xdist", "no:benchmark", "no:codspeed"]
    options = ["-s", "-q", *(part for plugin in plugins for part in ("-p", plugin))]
    sys.exit(pytest.main([*options, *sys.argv[5:]], plugins=[Trial(*sys.argv[1:5])]))
