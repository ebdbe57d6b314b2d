"""One SQLite file beside a folder of parts: import, size on disk, look-ups and memory.

python benchmarks/answer_stores.py FOLDER [--answers 10000000] [--kinds sqlite,parts]

For each kind a process of its own stores so many answers to short questions below FOLDER, in random order of their
keys, as `harness cache import` does; another one looks up stored and missing ones at random. A line of JSON each, with
processor time an answer (that of making the answers, which is the same, is taken off) and peaks of memory.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from import_answers import IDENTITY, rows

from harness.cache import merging, open_store
from harness.codec import canonical
from harness.types import Response

LOOKED_UP = 20_000


def answers(count: int) -> Iterator[merging.StoredAnswer]:
    """Yield answers as an import has checked them."""
    identity, response = canonical(IDENTITY), Response("No", finish_reason="stop")
    for row, texts in rows(range(count)):
        yield merging.StoredAnswer(row, response, identity, "mock", tuple(texts), texts)  # type: ignore[arg-type]


def peak() -> float:
    """Return the most memory that this process has had, in megabytes."""
    found = re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found[1]) / 1000


def make(count: int) -> float:
    began = time.process_time()
    for _ in answers(min(count, 100_000)):
        pass
    return (time.process_time() - began) / min(count, 100_000)


def import_(path: Path, count: int) -> dict[str, float]:
    making, began, clock = make(count), time.process_time(), time.monotonic()
    with closing(open_store(path)) as store:
        for _ in merging.merge(store, answers(count), merging.no_texts, merging.ImportCounts(), replace=False):
            pass
    spent = (time.process_time() - began) / count - making
    return {"import_us": 1e6 * spent, "import_wall_s": time.monotonic() - clock, "import_mb": peak()}


def look_up(path: Path, count: int) -> dict[str, float]:
    draw = random.Random(0)
    numbers = [draw.randrange(count) for _ in range(LOOKED_UP)]
    keys = {
        "hit": [row[0] for number in numbers for row, _ in rows(range(number, number + 1))],
        "miss": [row[0] for number in numbers for row, _ in rows(range(count + number, count + number + 1))],
    }
    before, measured = peak(), {}
    with closing(open_store(path, readonly=True)) as store:
        for name, chosen in keys.items():
            began = time.process_time()
            assert sum(store.get(str(key)) is not None for key in chosen) == (LOOKED_UP if name == "hit" else 0)
            measured[f"{name}_us"] = 1e6 * (time.process_time() - began) / LOOKED_UP
    return measured | {"look_up_mb_more": peak() - before}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--answers", type=int, default=10_000_000)
    parser.add_argument("--kinds", default="sqlite,parts")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    for kind in options.kinds.split(","):
        path = options.folder / f"answers.{kind}"
        line: dict[str, object] = {"kind": kind, "answers": options.answers}
        for step in (import_, look_up):
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                line |= pool.apply(step, (path, options.answers))
        files = list(path.iterdir()) if path.is_dir() else [path]
        line |= {"bytes": sum(file.stat().st_size for file in files) / options.answers, "files": len(files)}
        print(json.dumps(line), flush=True)
        shutil.rmtree(path) if path.is_dir() else path.unlink()


if __name__ == "__main__":
    main()
