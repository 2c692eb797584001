"""Compress many rows with one process, with several that are killed in the middle, and with Ray; compare row by row.

    python benchmarks/batch_resume.py                         # 10,000 rows, two processes, killed once
    python benchmarks/batch_resume.py --rows 100000 --ray     # and with one and two actors of Ray

A row asks about one of 20 passages, which are paragraphs of the manuals and licences of installed packages. Prints for
each way the seconds, the rows a second, and whether its output equals that of one process, and exits with 1 if not.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from importlib.metadata import distributions
from pathlib import Path

COMMAND = (sys.executable, "-m", "ctxcompress.apps.cli", "batch", "--max-tokens", "300", "--json")
PASSAGES = 20


def paragraphs() -> list[str]:
    """Return the paragraphs of the descriptions of installed packages."""
    texts = (installed.metadata.get_payload() for installed in sorted(distributions(), key=lambda one: str(one.name)))
    found = [part.strip() for text in texts if isinstance(text, str) for part in text.split("\n\n")]
    return [part for part in dict.fromkeys(found) if 200 < len(part) < 1_500]


def rows(count: int, texts: Sequence[str]) -> Iterator[str]:
    """Yield rows as lines of JSON; every thousandth cannot be read."""
    chance = random.Random(0)
    for number in range(count):
        passages = chance.sample(texts, PASSAGES)
        words = [word for word in passages[number % PASSAGES].split() if word.isalpha() and len(word) > 3]
        query = " ".join(chance.sample(words, min(6, len(words))))
        yield "torn" if number % 1_000 == 500 else json.dumps({"id": number, "query": query, "passages": passages})


def run(*arguments: object) -> dict[str, float]:
    """Run the command to its end, and return its statistics."""
    ended = subprocess.run([*COMMAND, *map(str, arguments)], stdout=subprocess.PIPE, check=False)
    if ended.returncode not in (0, 3):
        raise SystemExit(ended.returncode)
    numbers: dict[str, float] = json.loads(ended.stdout)
    return numbers


def run_killed(source: Path, output: Path, workers: int) -> dict[str, float]:
    """Kill the command when about half of the rows are written, and run it again."""
    half = source.stat().st_size * 0.1
    first = subprocess.Popen([*COMMAND, str(source), str(output), "--workers", str(workers)])
    while first.poll() is None and not (output.exists() and output.stat().st_size > half):
        time.sleep(0.01)
    first.kill()
    first.wait()
    done = len(output.read_bytes().splitlines())
    numbers = run(source, output, "--workers", workers)
    print(f"killed after {done} rows, {numbers['rows_of_this_run']:.0f} were left")
    return numbers


def by_id(folder: Path) -> dict[str, str]:
    """Return the texts that Ray has written, by the id of their rows."""
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(folder, columns=["id", "text"]).to_pylist()
    found = {row["id"]: row["text"] for row in table if row["id"] is not None}
    failed = sum(row["id"] is None for row in table)
    if len(table) != len(found) + failed:
        raise SystemExit("rows of Ray are repeated")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--ray", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        source, single, killed = (Path(folder, name) for name in ("rows.jsonl", "single.jsonl", "killed.jsonl"))
        source.write_text("\n".join(rows(options.rows, paragraphs())), encoding="utf-8")
        print(f"{options.rows} rows, {source.stat().st_size / 1e6:.0f} MB, load {os.getloadavg()[0]:.1f}")
        one = run(source, single, "--workers", 1)
        print(f"1 process: {one['seconds_of_this_run']:.1f} s, {one['rows_per_second']:.0f} rows/s")
        several = run(source, Path(folder, "several.jsonl"), "--workers", options.workers)
        share = one["seconds_of_this_run"] / several["seconds_of_this_run"]
        print(f"{options.workers} processes: {several['rows_per_second']:.0f} rows/s, {share:.2f} times one")
        run_killed(source, killed, options.workers)
        is_equal = killed.read_bytes() == single.read_bytes()
        print("killed in the middle:", "equal" if is_equal else "DIFFERENT")
        if options.ray:
            texts = {str(row["id"]): row["text"] for row in map(json.loads, single.open(encoding="utf-8"))}
            for actors in (1, 2):
                output = Path(folder, f"ray{actors}.parquet")
                stats = run(source, output, "--engine", "ray", "--workers", actors)
                is_equal &= by_id(output) == texts
                speed = f"{stats['rows_per_second']:.0f} rows/s with its start, {stats['seconds_of_this_run']:.1f} s"
                print(f"Ray, {actors} actors: {speed}, {'equal' if by_id(output) == texts else 'DIFFERENT'}")
    sys.exit(not is_equal)


if __name__ == "__main__":
    main()
