"""Runs under random faults and random kill -9, over and over: what was paid for is never lost, nothing is made up.

python tests/torture.py [--runs 500] [--seed 0] [--jobs 4]

One run here is one start of `python -m harness`. A campaign has its own mix of faults, its own settings and its own
folder; it starts the same command again and again, killing some of the processes at a random moment, until one says
that the run is complete. After every start it is checked that nothing whose storing had returned is asked again, that
no retry came earlier than told, and in the end that every item has one record and that the scores are those of a run
that nothing disturbed. Processes are forked from one that has imported everything, so that a run takes a moment.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from fault_server import FATAL, PASSING

HERE = Path(__file__).resolve().parent
MOST_STARTS = 60
IMPORTED = ("harness.__main__", "hydra", "harness.run", "harness.sweep", "harness.tasks.corr2cause", "openai",
            "harness.models.openai", "harness.cache", "harness.provenance", "harness.results", "aiohttp")  # fmt: skip
"""What a run imports: once, before the forks."""


class Remote:
    """The fault server in a process of its own."""

    def __init__(self) -> None:
        self.process = subprocess.Popen([sys.executable, HERE / "fault_server.py"], stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.root = f"http://127.0.0.1:{int(self.process.stdout.readline())}"

    def set(self, **faults: object) -> None:
        request = urllib.request.Request(f"{self.root}/mix", data=json.dumps(faults).encode(), method="POST")
        urllib.request.urlopen(request).read()

    def seen(self) -> dict[str, dict[str, int]]:
        return json.load(urllib.request.urlopen(f"{self.root}/seen"))

    def close(self) -> None:
        self.process.terminate()
        self.process.wait()


@dataclass
class Tally:
    """What a torture came to."""

    starts: int = 0
    kills: int = 0
    campaigns: int = 0
    answers: int = 0
    stored_and_asked_again: int = 0
    lost: int = 0
    asked_again: int = 0
    might_be_asked_again: int = 0
    early: int = 0
    late: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    ends: Counter[str] = field(default_factory=Counter)


def start(arguments: list[str], folder: Path, kill_after: float | None) -> int | None:
    """The exit code of a run in a forked process; None where it was killed."""
    pid = os.fork()
    if pid == 0:  # the run
        os.chdir(folder)
        with open(folder / "said.txt", "a") as said:  # noqa: PTH123
            os.dup2(said.fileno(), 1)
            os.dup2(said.fileno(), 2)
        sys.argv = ["harness", *arguments]
        from harness.__main__ import main

        code: object = 99
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code if isinstance(code, int) else 98)
    if kill_after is not None:
        time.sleep(kill_after)
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    return None if os.WIFSIGNALED(status) else os.waitstatus_to_exitcode(status)


def stored(cache: Path) -> set[str]:
    """The words of every prompt whose answer is in the cache."""
    if not cache.exists():
        return set()
    with contextlib.closing(sqlite3.connect(cache, timeout=30)) as db:
        try:
            requests = db.execute("SELECT request FROM answers").fetchall()
            texts = dict(db.execute("SELECT digest, text FROM texts"))
        except sqlite3.OperationalError:  # killed before the tables were made
            return set()
    return {texts[json.loads(text)["messages"][-1]["sha256"]] for (text,) in requests}


def scores(place: Path) -> dict[str, object]:
    result = json.loads((place / "result.json").read_text())
    assert result["complete"], place
    return {name: result[name] for name in ("scores", "failures", "finish_reasons")}


def campaign(server: Remote, draw: random.Random, tally: Tally, most: int, timeout: float) -> None:
    """Starts the same command until it is complete."""
    faults = {name: draw.choice([0, 0, 0.03, 0.1]) for name in PASSING}
    faults |= {name: draw.choice([0] * 5 + [0.004]) for name in FATAL}
    faults |= {name: draw.choice([0, 0, 0.01]) for name in ("hang", "endless drip", "429 ten minutes")}
    if timeout > 5:
        faults |= {"hang": 0, "endless drip": 0}
    own, seed = draw.choice([0, 0.1]), draw.randrange(10**6)
    limit, concurrency = draw.choice([20, 60, 120]), draw.choice([1, 4, 16, 64])
    arguments = [
        "model=gpt4", f"model.base_url={server.root}/v1", f"task.limit={limit}", f"task.seed={seed}",
        f"model.max_concurrency={concurrency}", f"model.timeout={timeout}", "model.max_wait=3",
        "prompt=plain", "cache.path=answers.sqlite",
    ]  # fmt: skip
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        before = server.seen()
        allowed = 0
        for number in range(min(most, MOST_STARTS)):
            calm = number > MOST_STARTS // 2
            server.set(mix={} if calm else faults, own=own, seed=seed + number, latency=draw.choice([0.0, 0.005, 0.03]))
            known, earlier = stored(folder / "answers.sqlite"), server.seen()
            kill = draw.uniform(0.05, 1.2) if draw.random() < 0.5 and not calm else None
            code = start(arguments, folder, kill)
            tally.starts += 1
            tally.kills += code is None
            now = server.seen()
            asked = {prompt for prompt, count in now["requests"].items() if count > earlier["requests"].get(prompt, 0)}
            tally.stored_and_asked_again += len(asked & known)
            kept = stored(folder / "answers.sqlite")
            tally.lost += len(known - kept)
            answered = {p for p, count in now["answered"].items() if count > earlier["answered"].get(p, 0)}
            if code is None:
                allowed += concurrency
                assert len(answered - kept) <= concurrency, (len(answered - kept), concurrency)
            else:
                # On a busy machine an answer can come when the client has just given up waiting for it.
                late = len(answered - kept)
                assert late <= 2, f"{late} answers that came were not stored"
                tally.late += late
                allowed += late
                tally.ends["complete" if code == 0 else "stopped with a sentence"] += 1
                said = (folder / "said.txt").read_text()
                assert code in (0, 1) and "Traceback" not in said and "should not have been" not in said, said[-3000:]
            if code == 0:
                break
        else:
            raise AssertionError(f"not complete after {number + 1} starts: {(folder / 'said.txt').read_text()[-3000:]}")
        after = server.seen()
        check(server, folder, arguments, own, limit)
        new = {p: count - before["answered"].get(p, 0) for p, count in after["answered"].items()}
        again = sum(count - 1 for count in new.values() if count > 1)
        assert again <= allowed, (again, allowed)
        tally.asked_again += again
        tally.might_be_asked_again += allowed
        tally.answers += sum(count > 0 for count in new.values())
        tally.campaigns += 1
        tally.early += after["early"] - before["early"]
        tally.faults.update({k: n - before["kinds"].get(k, 0) for k, n in after["kinds"].items() if k != "answered"})


def check(server: Remote, folder: Path, arguments: list[str], own: float, limit: int) -> None:
    """One record for every item, and the scores of an undisturbed run."""
    (place,) = {path.parent for path in folder.glob("results/**/result.json")}
    items = [json.loads(line)["item"] for line in (place / "records.jsonl").read_text().splitlines()]
    assert len(items) == len(set(items)) == limit
    server.set(mix={}, own=own)
    calm = folder / "calm"
    calm.mkdir()
    assert start(arguments, calm, None) == 0
    (undisturbed,) = {path.parent for path in calm.glob("results/**/result.json")}
    assert scores(place) == scores(undisturbed)
    assert told(place) == told(undisturbed)


def told(place: Path) -> dict[str, object]:
    """What became of each item; how long a failed call had waited for its retries does not matter."""
    lines = map(json.loads, (place / "records.jsonl").read_text().splitlines())
    return {line["item"]: line["answer"] if "answer" in line else line["failure"]["kind"] for line in lines}


def summary(tally: Tally, seed: int, seconds: float) -> str:
    """The table of docs/reliability.md."""
    rows = {
        "runs started": tally.starts,
        "killed with kill -9": tally.kills,
        "stopped by themselves, with a sentence": tally.ends["stopped with a sentence"],
        "complete in the end, scores equal to an undisturbed run's": tally.ends["complete"],
        "distinct answers": tally.answers,
        "faults": tally.faults.total(),
        "stored answers lost": tally.lost,
        "stored answers asked again": tally.stored_and_asked_again,
        "answers asked again that a kill had cut off": f"{tally.asked_again} (at most {tally.might_be_asked_again})",
        "answers that came after model.timeout (one second here), asked again": tally.late,
        "retries earlier than told": tally.early,
    }
    faults = ", ".join(f"{name} {count}" for name, count in sorted(tally.faults.items()))
    table = "\n".join(
        f"| {name} | {count:,} |" if isinstance(count, int) else f"| {name} | {count} |" for name, count in rows.items()
    )
    return f"seed {seed}, {seconds / 60:.0f} minutes\n\n| | |\n| --- | ---: |\n{table}\n\nFaults: {faults}."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, help="processes with a share of the runs and a seed each")
    parser.add_argument("--timeout", type=float, default=1, help="model.timeout; above 5 s nothing hangs")
    parser.add_argument("--json", action="store_true", help="the sums as JSON")
    chosen = parser.parse_args()
    began = time.time()
    tally = together(chosen) if chosen.jobs > 1 else alone(chosen.runs, chosen.seed, chosen.timeout)
    print(json.dumps(vars(tally)) if chosen.json else summary(tally, chosen.seed, time.time() - began))
    assert not (tally.stored_and_asked_again or tally.lost or tally.early)


def together(chosen: argparse.Namespace) -> Tally:
    """The sums of several processes."""
    share = str(-(-chosen.runs // chosen.jobs))
    command = [sys.executable, __file__, "--runs", share, "--timeout", str(chosen.timeout), "--json", "--seed"]
    seeds = range(chosen.seed, chosen.seed + chosen.jobs)
    started = [subprocess.Popen([*command, str(seed)], stdout=subprocess.PIPE, text=True) for seed in seeds]
    tally = Tally()
    for process in started:
        said = process.communicate()[0]
        assert process.returncode == 0, said
        for name, value in json.loads(said).items():
            before = getattr(tally, name)
            setattr(tally, name, before + (Counter(value) if isinstance(value, dict) else value))
    return tally


def alone(runs: int, seed: int, timeout: float) -> Tally:
    """Campaigns until there have been so many runs."""
    os.environ["OPENAI_API_KEY"] = "sk-torture"
    for module in IMPORTED:
        importlib.import_module(module)
    tally, draw, began = Tally(), random.Random(seed), time.time()
    server = Remote()
    try:
        while tally.starts < runs:
            campaign(server, draw, tally, MOST_STARTS, timeout)
            print(f"{tally.starts} of {runs} runs, {tally.kills} killed, {tally.answers} answers, "
                  f"{time.time() - began:.0f} s", file=sys.stderr, flush=True)  # fmt: skip
    finally:
        server.close()
    return tally


if __name__ == "__main__":
    main()
