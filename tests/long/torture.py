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
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # as a program of its own, too

from support.fault_server import own
from support.faults import KINDS, Kind, answer, chosen
from support.server import Program
from torture_processes import FAULTS, Kill, prepare, start, stored

MOST_STARTS = 60
MODELS = {"chat": ["model=gpt4"], "completions": ["model=openai_completions", "model.model=davinci-002"]}
EXAMPLES = """\
examples:
  tests/long/torture.py --runs 500 --jobs 4         mixes from a seed, random kills
  tests/long/torture.py --kinds all --runs 700           one kind of fault in each campaign, each kind in its turn
  tests/long/torture.py --kinds connection --kill none   only connections break, and nobody is killed
  tests/long/torture.py --kinds "deep,429 Retry-After"   kinds whose names begin so (tests/support/faults.py)
  tests/long/torture.py --kill events                    kill -9 once at each opening, renaming and removing of a file
  tests/long/torture.py --processes 4                    four processes at once on one cache
  tests/long/torture.py --model completions              the older endpoint
  tests/long/torture.py --samples 3                      three answers to each item
  tests/long/torture.py --seed 7                         other draws
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
    samples: int = 1
    processes: int = 1
    kind: Kind | None = None
    may_repeat: int = 0
    """Answers that a kill may have cut off."""

    def begin(self) -> None:
        """Remember what the server has seen so far."""
        self.before = self.server.seen()

    def once(self, kills: list[Kill]) -> list[int | None]:
        """Start the command, check what can be checked at once, and return the exit codes."""
        tally, cache = self.tally, self.folder / "answers.sqlite"
        stored_before, earlier = stored(cache), self.server.seen()
        codes = start(self.arguments, self.folder, kills)
        tally.starts += len(codes)
        tally.kills += codes.count(None)
        now, stored_after = self.server.seen(), stored(cache)
        requests = {prompt for prompt, n in now["requests"].items() if n > earlier["requests"].get(prompt, 0)}
        tally.stored_and_asked_again += len(requests & set(stored_before))
        tally.lost += len(set(stored_before) - set(stored_after))
        if self.kind is None or "reply" not in self.kind.ends:
            tally.other_words += sum(text.strip() != self.words_of(prompt) for prompt, text in stored_after.items())
        answered = {p for p, n in now["answered"].items() if n > earlier["answered"].get(p, 0)}
        missing = len(answered - set(stored_after))
        if None in codes:
            self.may_repeat += self.concurrency * codes.count(None)
            assert missing <= self.may_repeat, (missing, self.may_repeat)
        else:
            # On a busy machine an answer can come when the client has just given up waiting for it.
            assert missing <= 2, f"{missing} answers that came were not stored: {self.output}"
            tally.late += missing
            self.may_repeat += missing
        for code in codes:
            if code is not None:
                tally.ends["complete" if code == 0 else "stopped with a sentence"] += 1
                assert (
                    code in (0, 1) and "Traceback" not in self.output and "should not have been" not in self.output
                ), f"{self.kind and self.kind.name}: {self.output}"
                self.check_end(code, bool(answered))
        return codes

    def check_end(self, code: int, worked: bool) -> None:
        """Check that a passing fault did not stop a run in which the server has answered."""
        if self.kind is None or "stops" in self.kind.ends or code == 0 or not worked:
            return
        (*_, sentence) = (line for line in self.output.splitlines() if line.startswith("error: "))
        assert "may pass" in sentence, f"{self.kind.name} stopped the run: {sentence}"

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
        assert self.processes > 1 or again <= self.may_repeat, (again, self.may_repeat)
        tally.asked_again += again
        tally.might_be_asked_again += self.may_repeat
        tally.answers += sum(n > 0 for n in new.values())
        tally.campaigns += 1
        # Who takes over what another process was asking has not been told to wait.
        tally.early += after["early"] - before["early"] if self.processes == 1 else 0
        tally.elsewhere += after["followed"] - before["followed"]
        tally.faults.update({k: n - before["kinds"].get(k, 0) for k, n in after["kinds"].items() if k != "answered"})

    def check(self) -> None:
        """Check that there are one record per item and sample, a fitting manifest, and an undisturbed run's scores."""
        self.server.set(mix={}, own=self.own)
        calm = self.folder / "calm"
        calm.mkdir()
        assert start(self.arguments, calm, [Kill()]) == [0], (calm / "said.txt").read_text()
        (undisturbed,) = {path.parent for path in calm.glob("results/**/result.json")}
        places = {path.parent for path in self.folder.glob("results*/**/result.json")}
        assert len(places) == self.processes, places
        for place in places:
            lines = [json.loads(line) for line in (place / "records.jsonl").read_text().splitlines()]
            items = [(line["item"], line["sample"]) for line in lines]
            assert len(items) == len(set(items)) == self.limit * self.samples
            result, manifest = (json.loads((place / name).read_text()) for name in ("result.json", "manifest.json"))
            assert result["complete"] and manifest["complete"], (place, manifest)
            assert manifest["counts"]["items"] == self.limit and manifest["ended"], manifest
            if self.kind is None:
                assert scores(place) == scores(undisturbed)
            assert not (wrong := differing(outcomes(place), outcomes(undisturbed), self.kind)), (self.kind, wrong)


def scores(place: Path) -> dict[str, object]:
    result = json.loads((place / "result.json").read_text())
    return {name: result[name] for name in ("scores", "failures", "finish_reasons")}


def outcomes(place: Path) -> dict[tuple[str, int], object]:
    """Return the answer or the kind of failure of each item and sample."""
    lines = map(json.loads, (place / "records.jsonl").read_text().splitlines())
    return {
        (line["item"], line["sample"]): line["answer"] if "answer" in line else line["failure"]["kind"]
        for line in lines
    }


def differing(ours: dict, theirs: dict, kind: Kind | None) -> dict[tuple[str, int], object]:
    """Return the outcomes that differ from those of an undisturbed run, and may not."""
    ends = kind.ends if kind else ()
    return {
        item: (outcome, theirs.get(item))
        for item, outcome in ours.items()
        if outcome != theirs.get(item) and not ("item" in ends and isinstance(outcome, str)) and "reply" not in ends
    }


def arguments_of(server: Program, options: argparse.Namespace, *rest: str) -> list[str]:
    samples = [f"samples={options.samples}", "model.temperature=1"] if options.samples > 1 else []
    return [
        *MODELS[options.model], *samples, f"model.base_url={server.root}/v1", "prompt=plain",
        "cache.path=answers.sqlite", *rest,
    ]  # fmt: skip


def draw_faults(draw: random.Random, timeout: float) -> dict[str, float]:
    """Return random shares of faults, for a campaign with many kinds."""
    quick = [kind for kind in KINDS.values() if not (kind.accept or kind.heavy or kind.timed)]
    passing = draw.sample([kind.name for kind in quick if kind.ends == ("passes",)], 12)
    fatal = draw.sample([kind.name for kind in quick if kind.ends == ("stops",)], 4)
    faults = {name: draw.choice([0, 0, 0.03, 0.1]) for name in passing}
    faults |= {name: draw.choice([0] * 5 + [0.004]) for name in fatal}
    slow = ("hangs before the reply", "hangs in the body", "drip that is too slow") if timeout <= 5 else ()
    return faults | {name: draw.choice([0, 0, 0.01]) for name in (*slow, "429 Retry-After of 10^9")}


def only(kind: Kind) -> dict[str, Any]:
    """Return the server's settings for a single kind of fault."""
    if kind.accept:
        return {"accept": kind.name}
    share = 0.01 if "stops" in kind.ends else 0.03 if kind.timed or "item" in kind.ends else 0.3
    # Four in a row: more than the three refused connections that stop a run whose server has never answered.
    return {"mix": {kind.name: share}, "in_a_row": 1 if kind.timed or "Retry-After" in kind.name else 4}


def campaign(
    server: Program, draw: random.Random, tally: Tally, options: argparse.Namespace, kind: Kind | None
) -> None:
    """Start the same command until it is complete."""
    faults = {"mix": draw_faults(draw, options.timeout)} if kind is None else only(kind)
    own, seed = draw.choice([0, 0.1]) if kind is None else 0, draw.randrange(10**6)
    limit, concurrency = draw.choice([20, 60, 120]), draw.choice([1, 4, 16, 64])
    arguments = arguments_of(
        server, options, f"task.limit={limit}", f"task.seed={seed}", f"model.max_concurrency={concurrency}",
        f"model.timeout={options.timeout}", "model.max_wait=30",
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as name:
        now = Campaign(
            server, tally, Path(name), arguments, own, limit, concurrency, options.samples, options.processes, kind
        )
        now.begin()
        for number in range(MOST_STARTS):
            calm = number > MOST_STARTS // 2
            latency = draw.choice([0.0, 0.005, 0.03])
            server.set(**({} if calm else faults), own=own, seed=seed + number, latency=latency)
            kills = [Kill(), Kill(after=draw.uniform(0.05, 1.2))]
            killing = options.kill == "random" and not calm
            kill_each = [kills[killing and draw.random() < 0.5] for _ in range(options.processes)]
            if set(now.once(kill_each)) == {0}:
                break
        else:
            raise AssertionError(f"not complete after {number + 1} starts: {now.output}")
        now.finish()


def at_each_event(server: Program, tally: Tally, options: argparse.Namespace, over: str) -> int:
    """Kill the command once at each event, starting from the run `over`; return the number of events."""
    limit, concurrency = 30, 8
    arguments = arguments_of(server, options, f"task.limit={limit}", f"model.max_concurrency={concurrency}")
    for event in count(1):
        with tempfile.TemporaryDirectory() as name:
            now = Campaign(server, tally, Path(name), arguments, 0.0, limit, concurrency, options.samples)
            server.set(mix={})
            now.begin()
            if over != "nothing":
                less = [] if over == "a complete run" else ["budget.requests=10"]
                code = start([*arguments, *less], now.folder, [Kill()])
                assert code == [int(bool(less))], now.output
            if now.once([Kill(event=event)]) == [0]:
                return event - 1
            assert now.once([Kill()]) == [0], (
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
    kinds = "one kind of fault a campaign: all, body, connection, status, protocol, or kinds by name, with commas"
    add("--kinds", default="", help=f"{kinds} between (--kinds connection)")
    kills = "none; half of the runs at a random moment; or one at each opening, renaming and removing of a file"
    add("--kill", choices=("none", "random", "events"), default="random", help=f"{kills} (--kill events)")
    add("--processes", type=int, default=1, help="start so many at once on one cache (--processes 4)")
    add("--model", choices=tuple(MODELS), default="chat", help="the endpoint (--model completions)")
    add("--samples", type=int, default=1, help="answers to each item (--samples 3)")
    add("--json", action="store_true", help="the sums as JSON")
    return parser.parse_args()


def main() -> None:
    options, began = parse_options(), time.time()
    tally = together(options) if options.jobs > 1 else alone(options)
    print(json.dumps(vars(tally)) if options.json else summary(tally, options.seed, time.time() - began))
    sys.exit(0 if tally.sound else 1)


def together(options: argparse.Namespace) -> Tally:
    """Return the summed tallies of several processes."""
    names = ("timeout", "kinds", "kill", "processes", "model", "samples")
    settings = {name: getattr(options, name) for name in names} | {"runs": -(-options.runs // options.jobs)}
    flags = [part for name, value in settings.items() for part in (f"--{name}", str(value))]
    command = [sys.executable, __file__, "--json", *flags, "--seed"]
    seeds = range(options.seed, options.seed + options.jobs)
    started = [subprocess.Popen([*command, str(seed)], stdout=subprocess.PIPE, text=True) for seed in seeds]
    tally = Tally()
    for process in started:
        sums = process.communicate()[0]
        assert sums, f"a job ended with {process.returncode} and no sums"
        for name, value in json.loads(sums).items():
            before = getattr(tally, name)
            setattr(tally, name, before + (Counter(value) if isinstance(value, dict) else value))
    return tally


def alone(options: argparse.Namespace) -> Tally:
    """Run campaigns until there have been enough runs, or one per event with --kill events; return the tally."""
    prepare()
    tally, draw, began = Tally(), random.Random(options.seed), time.time()
    kinds: list[Kind] = [kind for kind in chosen(options.kinds) if not kind.heavy] if options.kinds else []
    draw.shuffle(kinds)
    server = Program(FAULTS)

    def report() -> None:
        print(f"{tally.starts} of {options.runs} runs, {tally.kills} killed, {tally.answers} answers, "
              f"{time.time() - began:.0f} s", file=sys.stderr, flush=True)  # fmt: skip

    try:
        if options.kill == "events":
            for over in ("nothing", "an incomplete run", "a complete run"):
                places = at_each_event(server, tally, options, over)
                print(f"killed at {places} places over {over}", file=sys.stderr, flush=True)
            return tally
        for number in count():
            if tally.starts >= options.runs:
                return tally
            campaign(server, draw, tally, options, kinds[number % len(kinds)] if kinds else None)
            report()
    finally:
        server.close()
    raise AssertionError


if __name__ == "__main__":
    if not hasattr(os, "fork"):
        sys.exit("runs are forked: this machine cannot.")
    main()
