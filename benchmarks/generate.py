"""How fast items are made: Corr2Cause's universe (n = 6 to a file, n = 7 counted and streamed), CLadder's fresh ones.

python benchmarks/generate.py [runs] [part]

`part` is a word of the parts' names, such as CLadder: the others are left out, and nothing is written. Otherwise raw
numbers go to benchmarks/results/generate.json. Every part is a process of its own on one core. Nothing
is extrapolated.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KEYS = ("seconds", "cpu_seconds", "peak_mb")
RESULTS = Path(__file__).parent / "results" / "generate.json"
COUNT = """
from harness.causal.equivalence import representatives
from harness.causal.renaming import labellings
classes = representatives(7)
print(len(classes), sum(labellings(7, number) for number in classes))
"""
STREAM = """
from harness.runtime.progress import Progress
from harness.tasks.corr2cause.enumerate import blocks
claims = blocks([7], split="all", seed=0)
count = valid = 0
for claim in Progress("n = 7").watch(claims, claims):
    count += 1
    valid += claim.derived
print(count, valid)
"""
TEXTS = """
import msgspec
from harness.items import as_json
from harness.runtime.progress import Progress
from harness.tasks.corr2cause.claim import Writer
from harness.tasks.corr2cause.enumerate import blocks
claims = blocks([7], split="all", seed=0)
writer = Writer("none", 0)
count = size = 0
for claim in Progress("n = 7, JSON lines").watch(claims, claims):
    count += 1
    size += len(msgspec.json.encode(as_json(writer.item(claim), "audited")))
print(count, size)
"""

LADDER = """
from harness.tasks.cladder.task import CLadder
count = size = 0
for item in CLadder("cladder", ("plain",), limit=100_000).items():
    count += 1
    size += len(item.fields["text"])
print(count, size)
"""


def measured(command: list[str], folder: Path) -> dict[str, object]:
    """Seconds, peak memory and what the command printed."""
    started = time.perf_counter()
    process = subprocess.Popen(
        command,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=None if sys.stderr.isatty() else subprocess.DEVNULL,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        preexec_fn=one_core,
    )
    assert process.stdout is not None
    said = process.stdout.read().split()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)[:80]} ended with exit code {process.returncode}")
    return {
        "seconds": round(time.perf_counter() - started, 2),
        "cpu_seconds": round(usage.ru_utime + usage.ru_stime, 2),
        "peak_mb": round(usage.ru_maxrss / 1024, 1),  # kilobytes on Linux
        "printed": list(map(int, said)),
    }


def one_core() -> None:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    python = [sys.executable, "-c"]
    write = [sys.executable, "-m", "harness.items", "task=corr2cause", "task.split=all", "task.num_nodes=6"]
    commands = {
        "n = 6: 198,090 items with texts and labels, to a file": [*write, "out=items.jsonl"],
        "n = 7: classes and labelled classes counted": [*python, COUNT],
        "n = 7: all hypotheses with labels": [*python, STREAM],
        "n = 7: all items as JSON lines, not written": [*python, TEXTS],
    }
    commands["CLadder: 100,000 fresh items with texts and labels"] = [*python, LADDER]
    part = sys.argv[2] if len(sys.argv) > 2 else ""
    commands = {what: command for what, command in commands.items() if part in what}
    found: dict[str, list[dict[str, object]]] = {}
    for what, command in commands.items():
        found[what] = []
        for _ in range(runs if "n = 6" in what or "CLadder" in what else 1):
            with tempfile.TemporaryDirectory() as name:
                found[what].append(measured(command, Path(name)))
                print(what, found[what][-1], f"load {os.getloadavg()[0]:.1f}", file=sys.stderr)
    machine = f"{platform.python_implementation()} {platform.python_version()}, {os.cpu_count()} cores"
    print(f"{machine}, one of them used; load average {os.getloadavg()[1]:.1f}\n")
    print("| whole process | runs | seconds (median) | CPU seconds | peak MB | printed |")
    print("| --- | ---: | ---: | ---: | ---: | --- |")
    for what, several in found.items():
        seconds, cpu, peak = (statistics.median(run[key] for run in several) for key in KEYS)
        said = ", ".join(f"{number:,}" for number in several[0]["printed"])
        print(f"| {what} | {len(several)} | {seconds:.1f} | {cpu:.1f} | {peak:.0f} | {said} |")
    if part:
        return
    RESULTS.parent.mkdir(exist_ok=True)
    raw = {"machine": machine, "load_average": os.getloadavg(), "runs": found}
    RESULTS.write_text(json.dumps(raw, indent=2, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
