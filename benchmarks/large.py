"""The large works, one after the other: processor seconds and peak memory of whole commands, as rows of a table.

python benchmarks/large.py [--only server,cached,verify,leaderboard] [--share 1.0]

server: 1,000,000 short questions to a server that takes 1 ms, beside a bare aiohttp client. cached: the same run from
its cache. verify: the same run made again by `harness verify`. leaderboard: 5,000 runs on one table. --share makes all
of them smaller; each row says how large it was. Processor seconds hold on a machine that does other things, seconds do
not.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results" / "large.json"
ITEMS, RUNS = 1_000_000, 5_000
CLUSTER = 100
"""Questions in a row that are one cluster, as those of a premise are."""
RUN = ("model=gpt4", "task=questions", "task.path=questions.jsonl", "prompt=plain")


def took(folder: Path, *command: str) -> dict[str, float]:
    """Return the processor seconds, the seconds and the peak of memory of a command, its children included."""
    variables = {**os.environ, "OPENAI_API_KEY": "none", "PYTHONPATH": str(HERE.parent)}
    began = time.monotonic()
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen([sys.executable, *command], cwd=folder, env=variables, stdout=log, stderr=log)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    assert status == 0, (folder / "log").read_text(errors="replace")[-2000:]
    processor = round(usage.ru_utime + usage.ru_stime, 2)
    return {"processor": processor, "seconds": round(time.monotonic() - began, 2), "MB": usage.ru_maxrss // 1024}


@contextmanager
def server() -> Iterator[str]:
    """Give the address of a server that takes 1 ms."""
    command = [sys.executable, str(HERE / "mock_server.py"), "--latency", "0.001"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}/v1"
    finally:
        process.terminate()
        process.wait()


def write_questions(folder: Path, items: int) -> None:
    with (folder / "questions.jsonl").open("w", encoding="utf-8") as file, (folder / "prompts.jsonl").open("w") as bare:
        for number in range(items):
            words = f"Is {number} the cause of {number + 1}, given {number + 2}?"
            row = {"id": str(number), "question": words, "label": number % 2, "cluster": str(number // CLUSTER)}
            file.write(json.dumps(row) + "\n")
            bare.write(json.dumps({"prompt": words}) + "\n")


def of_items(folder: Path, items: int, only: set[str]) -> Iterator[tuple[str, int, dict[str, float]]]:
    """Yield what is measured of one run over so many questions."""
    write_questions(folder, items)
    with server() as address:
        asked = (*RUN, f"model.base_url={address}")
        if only & {"server", "cached", "verify"}:
            asking = took(folder, "-m", "harness", *asked)
            if "server" in only:
                yield "server", items, asking
        if "server" in only:
            yield (
                "server, aiohttp",
                items,
                took(folder, str(HERE / "peers" / "aiohttp_loop.py"), address, "prompts.jsonl"),
            )
        if "cached" in only:
            yield "cached", items, took(folder, "-m", "harness", *asked)
    if "verify" in only:
        yield "verify", items, took(folder, "-m", "harness.verify", "results")


def of_runs(folder: Path, runs: int) -> Iterator[tuple[str, int, dict[str, float]]]:
    """Yield what a table of so many runs takes; they are copies of one run over ten items."""
    took(folder, "-m", "harness", "model=always_no", "task=corr2cause", "task.limit=10", "results=one")
    (manifest,) = (folder / "one").glob("**/manifest.json")
    for number in range(runs):
        place = folder / "many" / "corr2cause" / "default" / "plain" / f"model-{number}"
        shutil.copytree(manifest.parent, place)
        text = (place / "manifest.json").read_text(encoding="utf-8")
        (place / "manifest.json").write_text(text.replace('"always_no"', f'"model-{number}"'), encoding="utf-8")
    yield "leaderboard", runs, took(folder, "-m", "harness.leaderboard", "many")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="server,cached,verify,leaderboard")
    parser.add_argument("--share", type=float, default=1.0)
    options = parser.parse_args()
    only, found = set(options.only.split(",")), json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        works = of_items(folder, int(ITEMS * options.share), only) if only - {"leaderboard"} else iter(())
        for work, size, numbers in works:
            _note(found, work, size, numbers)
        if "leaderboard" in only:
            for work, size, numbers in of_runs(folder, int(RUNS * options.share)):
                _note(found, work, size, numbers)


def _note(found: dict[str, object], work: str, size: int, numbers: dict[str, float]) -> None:
    found[work] = {"size": size, **numbers, "date": time.strftime("%Y-%m-%d"), "python": sys.version.split()[0]}
    print(work, json.dumps(found[work]), flush=True)
    RESULTS.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
