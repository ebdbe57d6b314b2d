"""Runs in batches, killed with kill -9 after each step, over and over: each request is billed once, and none is lost.

tests/plugins/batches/batch_torture.py --kills 50  each of prepared, uploaded, created, polling, collecting fifty times
tests/plugins/batches/batch_torture.py --steps created --kills 200 --seed 7 --form anthropic

Every kill is followed by the same command, killed again now and then, until it says that the run is complete. The
server (batch_server.py) lives on beside it, with its faults. Then each request has been billed exactly once, however
often its lines failed, and the records are those of a run that asked call by call.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # as a program of its own, too

from batch_runs import FORMS, STEPS, BatchServer, config, forked

FAULTS = ("duplicate lines", "missing lines", "502 on files", "status 0", "lines that failed", "expired batches",
          "lost reply to create", "500 after a batch", "404 on fresh files", "429 before a batch", "503 on a look",
          "502 after an upload", "cut files", "lost before a batch")  # fmt: skip
WITHIN = {"prepared": ("prepared",), "uploaded": ("uploaded", "noted"), "created": ("created", "noted"),
          "polling": ("polling",), "collecting": ("collecting", "stored", "dropped")}  # fmt: skip
"""What a step is made of, in the code: a kill comes just before or just after one of them."""
MOST_STARTS = 40


def records(results: Path) -> dict[str, Any]:
    """Return what a run has recorded of each item, but for times and where words stand that several share."""
    (file,) = results.rglob("records.jsonl")
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    for line in lines:
        line.pop("cost_usd", None)
        line["response"].pop("seconds", None)
        line["response"].pop("cached", None)
        for message in line["request"]["messages"]:
            message.pop("text", None)
    assert len({line["item"] for line in lines}) == len(lines)
    return {line["item"]: line for line in lines}


def campaign(
    server: BatchServer,
    draw: random.Random,
    step: str,
    tally: Counter[str],
    *,
    brief: bool = False,
    form: str = "openai",
) -> None:
    """Start one command until it is complete, killed at a step; check what it has left and what was billed.

    `form` is what the server speaks. A `brief` one has few requests and faults, and is killed once.
    """
    faults = {name: draw.choice([0] * 6 + [0.2] if brief else [0, 0, 0.05, 0.2]) for name in FAULTS}
    queue = draw.choice([1e9, 1e9, 12])
    server.set(fresh=True, faults=faults, seed=draw.random(), looks=draw.choice([1, 2, 3]), tokens=queue)
    limit = 10 if brief else draw.choice([10, 20, 30])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        dialect = {} if form == "openai" else {"dialect": form}
        composed = config(server.address(form), folder, limit=limit, size=draw.choice([4, 7, 50]), **dialect)
        killed = 0
        within = [name for name in WITHIN[step] if name != "uploaded" or form == "openai"]
        for start in range(MOST_STARTS):
            if start > MOST_STARTS // 2:
                server.set(faults={})
            at = draw.choice(within) if start == 0 or (draw.random() < 0.3 and not brief) else ""
            said = forked(composed, folder, at, draw.choice([1, 1, 2]), draw.choice(["before", "after"]))
            killed += said is None
            tally["starts"] += 1
            assert said is None or "Error:" not in said, said + (folder / "log.txt").read_text()[-2000:]
            if said == "":
                break
        else:
            raise AssertionError(f"not complete after {MOST_STARTS} starts: {said}")
        seen = server.seen()
        assert seen["again"] == {}, f"billed again: {seen['again']}"
        assert seen["billed"] == limit, (seen["billed"], limit)
        assert records(folder / "results") == undisturbed(server, limit)
        tally[f"killed at {step}"] += killed
        tally["answers"] += limit
        for fault, count in seen["faults"].items():
            tally[f"fault: {fault}"] += count


_CALM: dict[int, dict[str, Any]] = {}


def undisturbed(server: BatchServer, limit: int) -> dict[str, Any]:
    """Return the records of the same run, asked call by call."""
    if limit not in _CALM:
        with tempfile.TemporaryDirectory() as name:
            composed = config(server.url, Path(name), limit=limit)
            composed["model"]["batch"] = None
            assert forked(composed, Path(name)) == ""
            _CALM[limit] = records(Path(name) / "results")
    return _CALM[limit]


def torture(
    kills: int, seed: int, steps: tuple[str, ...] = STEPS, *, brief: bool = False, form: str = "openai"
) -> Counter[str]:
    """Kill each step so many times; return what was counted."""
    os.environ.setdefault("OPENAI_API_KEY", "sk-torture")
    tally: Counter[str] = Counter()
    server, draw = BatchServer(), random.Random(seed)
    try:
        for step in steps:
            while tally[f"killed at {step}"] < kills:
                campaign(server, draw, step, tally, brief=brief, form=form)
                tally["campaigns"] += 1
    finally:
        server.close()
    return tally


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", default=",".join(STEPS))
    parser.add_argument("--form", choices=FORMS, default="openai")
    options = parser.parse_args()
    sys.path.insert(0, str(Path(__file__).resolve().parents[3]))  # this checkout, whatever is installed
    began = time.monotonic()
    tally = torture(options.kills, options.seed, tuple(options.steps.split(",")), form=options.form)
    for name, count in sorted(tally.items()):
        print(f"{name:40} {count:8,}")
    print(f"every request billed exactly once, none lost, records as of a live run; {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
