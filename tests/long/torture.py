"""Runs under faults and kill -9, over and over: what was paid for is never lost, nothing is made up.

One run here is one start of `python -m harness`. A campaign has its own mix of faults, its own settings and its own
folder; it starts the same command again and again, killing some of the processes, until one says that the run is
complete. After every start it is checked that nothing whose storing had returned is asked again, that what the server
delivered in full is in the cache in the words that it had, that no retry came earlier than told and no request went
anywhere else, and in the end that every item has one record and that the scores are those of a run that nothing
disturbed. Processes are forked from one that has imported everything, so that a run takes a moment.
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
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, fields
from functools import partial
from itertools import count
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # as a program of its own, too

from support.fault_server import own
from support.faults import KINDS, answer
from support.server import Program
from torture_processes import FAULTS, Kill, prepare, start, stored

MOST_STARTS = 60
EXAMPLES = """\
examples:
  tests/long/torture.py --runs 500 --jobs 4   mixes from a seed, random kills
  tests/long/torture.py --kill events         kill -9 once at each opening, renaming and removing of a file
"""


@dataclass
class Tally:
    """The sums over all campaigns."""

    starts: int = 0
    kills: int = 0
    campaigns: int = 0
    answers: int = 0
    stored_and_asked_again: int = 0
    lost: int = 0
    other_words: int = 0
    elsewhere: int = 0
    asked_again: int = 0
    might_be_asked_again: int = 0
    early: int = 0
    late: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    ends: Counter[str] = field(default_factory=Counter)

    @property
    def sound(self) -> bool:
        """Whether every promise was kept."""
        return not (self.stored_and_asked_again or self.lost or self.other_words or self.elsewhere or self.early)

    def add(self, other: Tally) -> None:
        """Add the sums of another process."""
        for sums in fields(self):
            setattr(self, sums.name, getattr(self, sums.name) + getattr(other, sums.name))


@dataclass
class Campaign:
    """The same command, started until it is complete."""

    server: Program
    tally: Tally
    folder: Path
    arguments: list[str]
    own: float
    limit: int
    concurrency: int
    may_repeat: int = 0
    """Answers that a kill may have cut off."""

    def begin(self) -> None:
        """Remember what the server has seen so far."""
        self.before = self.server.seen()

    def once(self, kill: Kill) -> int | None:
        """Start the command, check what can be checked at once, and return the exit code; None if it was killed."""
        tally, cache = self.tally, self.folder / "answers.sqlite"
        stored_before, earlier = stored(cache), self.server.seen()
        code = start(self.arguments, self.folder, kill)
        now, stored_after = self.server.seen(), stored(cache)
        tally.starts += 1
        requests = {prompt for prompt, n in now["requests"].items() if n > earlier["requests"].get(prompt, 0)}
        tally.stored_and_asked_again += len(requests & set(stored_before))
        tally.lost += len(set(stored_before) - set(stored_after))
        tally.other_words += sum(text.strip() != self.words_of(prompt) for prompt, text in stored_after.items())
        answered = {p for p, n in now["answered"].items() if n > earlier["answered"].get(p, 0)}
        missing = len(answered - set(stored_after))
        if code is None:
            tally.kills += 1
            self.may_repeat += self.concurrency
            assert missing <= self.may_repeat, (missing, self.may_repeat)
            return code
        # On a busy machine an answer can come when the client has just given up waiting for it.
        assert missing <= 2, f"{missing} answers that came were not stored: {self.output}"
        tally.late += missing
        self.may_repeat += missing
        tally.ends["complete" if code == 0 else "stopped with a sentence"] += 1
        assert code in (0, 1) and "Traceback" not in self.output, self.output
        assert "should not have been" not in self.output, self.output
        return code

    def words_of(self, prompt: str) -> str:
        """Return the words that the server answers with."""
        kind = own(prompt, self.own)
        if kind is None:
            return answer(prompt)
        return "Let me think about" if kind == "length" else ""

    @property
    def output(self) -> str:
        """The end of the command's output."""
        return (self.folder / "said.txt").read_text()[-3000:]

    def finish(self) -> None:
        """Check the final state, and add it to the tally."""
        tally, before, after = self.tally, self.before, self.server.seen()
        self.check()
        new = {p: n - before["answered"].get(p, 0) for p, n in after["answered"].items()}
        again = sum(n - 1 for n in new.values() if n > 1)
        assert again <= self.may_repeat, (again, self.may_repeat)
        tally.asked_again += again
        tally.might_be_asked_again += self.may_repeat
        tally.answers += sum(n > 0 for n in new.values())
        tally.campaigns += 1
        tally.early += after["early"] - before["early"]
        tally.elsewhere += after["followed"] - before["followed"]
        tally.faults.update({k: n - before["kinds"].get(k, 0) for k, n in after["kinds"].items() if k != "answered"})

    def check(self) -> None:
        """Check that there are one record per item, a fitting manifest, and an undisturbed run's scores and answers."""
        self.server.set(mix={}, own=self.own)
        calm = self.folder / "calm"
        calm.mkdir()
        assert start(self.arguments, calm, Kill()) == 0, (calm / "said.txt").read_text()
        (undisturbed,) = (path.parent for path in calm.glob("results/**/result.json"))
        (place,) = (path.parent for path in self.folder.glob("results/**/result.json"))
        result, manifest = (json.loads((place / name).read_text()) for name in ("result.json", "manifest.json"))
        assert result["complete"] and manifest["complete"], (place, manifest)
        assert manifest["counts"]["items"] == self.limit and manifest["ended"], manifest
        assert left(place) == left(undisturbed)
        assert len(left(place)["outcomes"]) == self.limit


def left(place: Path) -> dict[str, object]:
    """Return the scores, and the answer or the kind of failure of each item."""
    result = json.loads((place / "result.json").read_text())
    lines = [json.loads(line) for line in (place / "records.jsonl").read_text().splitlines()]
    outcomes = [(line["item"], line["answer"] if "answer" in line else line["failure"]["kind"]) for line in lines]
    assert len(outcomes) == len(dict(outcomes))
    return {"outcomes": dict(outcomes)} | {name: result[name] for name in ("scores", "failures", "finish_reasons")}


def arguments_of(server: Program, *rest: str) -> list[str]:
    return ["model=gpt4", f"model.base_url={server.root}/v1", "prompt=plain", "cache.path=answers.sqlite", *rest]


def draw_faults(draw: random.Random, timeout: float) -> dict[str, float]:
    """Return random shares of faults, for a campaign with many kinds."""
    quick = [kind for kind in KINDS.values() if not (kind.accept or kind.heavy or kind.timed)]
    passing = draw.sample([kind.name for kind in quick if kind.ends == ("passes",)], 12)
    fatal = draw.sample([kind.name for kind in quick if kind.ends == ("stops",)], 4)
    faults = {name: draw.choice([0, 0, 0.03, 0.1]) for name in passing}
    faults |= {name: draw.choice([0] * 5 + [0.004]) for name in fatal}
    slow = ("hangs before the reply", "hangs in the body", "drip that is too slow") if timeout <= 5 else ()
    return faults | {name: draw.choice([0, 0, 0.01]) for name in (*slow, "429 Retry-After of 10^9")}


def campaign(server: Program, draw: random.Random, tally: Tally, options: argparse.Namespace) -> None:
    """Start the same command until it is complete."""
    faults, own, seed = draw_faults(draw, options.timeout), draw.choice([0, 0.1]), draw.randrange(10**6)
    limit, concurrency = draw.choice([20, 60, 120]), draw.choice([1, 4, 16, 64])
    arguments = arguments_of(
        server, f"task.limit={limit}", f"task.seed={seed}", f"model.max_concurrency={concurrency}",
        f"model.timeout={options.timeout}", "model.max_wait=30",
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as name:
        now = Campaign(server, tally, Path(name), arguments, own, limit, concurrency)
        now.begin()
        for number in range(MOST_STARTS):
            calm = number > MOST_STARTS // 2
            latency = draw.choice([0.0, 0.005, 0.03])
            server.set(mix={} if calm else faults, own=own, seed=seed + number, latency=latency)
            kills = Kill(), Kill(after=draw.uniform(0.05, 1.2))
            killing = options.kill == "random" and not calm
            if now.once(kills[killing and draw.random() < 0.5]) == 0:
                break
        else:
            raise AssertionError(f"not complete after {number + 1} starts: {now.output}")
        now.finish()


def at_each_event(server: Program, tally: Tally, over: str) -> int:
    """Kill the command once at each event, starting from the run `over`; return the number of events."""
    limit, concurrency = 30, 8
    arguments = arguments_of(server, f"task.limit={limit}", f"model.max_concurrency={concurrency}")
    for event in count(1):
        with tempfile.TemporaryDirectory() as name:
            now = Campaign(server, tally, Path(name), arguments, 0.0, limit, concurrency)
            server.set(mix={})
            now.begin()
            if over != "nothing":
                less = [] if over == "a complete run" else ["budget.requests=10"]
                assert start([*arguments, *less], now.folder, Kill()) == int(bool(less)), now.output
            if now.once(Kill(event=event)) == 0:
                return event - 1
            assert now.once(Kill()) == 0, (
                f"killed at event {event} over {over}, the command does not go on: {now.output}"
            )
            now.finish()
    raise AssertionError


def summary(tally: Tally, seed: int, seconds: float) -> str:
    """Return what came of it as a table."""
    rows = {
        "runs started": tally.starts,
        "killed with kill -9": tally.kills,
        "stopped by themselves, with a sentence": tally.ends["stopped with a sentence"],
        "complete in the end, scores equal to an undisturbed run's": tally.ends["complete"],
        "distinct answers": tally.answers,
        "faults": tally.faults.total(),
        "stored answers lost": tally.lost,
        "stored answers asked again": tally.stored_and_asked_again,
        "stored answers in other words than the server's": tally.other_words,
        "answers asked again that a kill had cut off": f"{tally.asked_again} (at most {tally.might_be_asked_again})",
        "answers that came after model.timeout (one second here), asked again": tally.late,
        "retries earlier than told": tally.early,
        "requests that went anywhere else": tally.elsewhere,
    }
    faults = ", ".join(f"{name} {count}" for name, count in sorted(tally.faults.items()))
    lines = "\n".join(
        f"| {name} | {count:,} |" if isinstance(count, int) else f"| {name} | {count} |" for name, count in rows.items()
    )
    return f"seed {seed}, {seconds / 60:.0f} minutes\n\n| | |\n| --- | ---: |\n{lines}\n\nFaults: {faults}."


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--runs", type=int, default=500, help="starts of the command, about (--runs 100)")
    add("--seed", type=int, default=0, help="of all draws (--seed 7)")
    add("--jobs", type=int, default=1, help="processes that share the runs, a seed each (--jobs 4)")
    add("--timeout", type=float, default=1, help="model.timeout; above 5 s nothing hangs (--timeout 300)")
    kills = "none; half of the runs at a random moment; or one at each opening, renaming and removing of a file"
    add("--kill", choices=("none", "random", "events"), default="random", help=f"{kills} (--kill events)")
    return parser.parse_args()


def main() -> None:
    options, tally, began = parse_options(), Tally(), time.time()
    with ProcessPoolExecutor(options.jobs) as pool:
        seeds = range(options.seed, options.seed + options.jobs)
        for sums in pool.map(partial(alone, options), seeds):
            tally.add(sums)
    print(summary(tally, options.seed, time.time() - began))
    sys.exit(0 if tally.sound else 1)


def alone(options: argparse.Namespace, seed: int) -> Tally:
    """Run campaigns until there have been enough runs, or one per event with --kill events; return the tally."""
    prepare()
    tally, draw, began = Tally(), random.Random(seed), time.time()
    runs, server = -(-options.runs // options.jobs), Program(FAULTS)
    try:
        if options.kill == "events":
            for over in ("nothing", "an incomplete run", "a complete run"):
                places = at_each_event(server, tally, over)
                print(f"killed at {places} places over {over}", file=sys.stderr, flush=True)
        while options.kill != "events" and tally.starts < runs:
            campaign(server, draw, tally, options)
            print(f"{tally.starts} of {runs} runs, {tally.kills} killed, {tally.answers} answers, "
                  f"{time.time() - began:.0f} s", file=sys.stderr, flush=True)  # fmt: skip
        return tally
    finally:
        server.close()


if __name__ == "__main__":
    if not hasattr(os, "fork"):
        sys.exit("runs are forked: this machine cannot.")
    main()
