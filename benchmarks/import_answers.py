"""Import of many answers: rate and memory. Is memory flat?

python benchmarks/import_answers.py FOLDER [--answers 10000000] [--caches 4]

makes caches below FOLDER as the shards of a run leave them, with so many answers in all, and imports one after the
other into one with `harness cache import`; prints rate and peak of memory of each, a line of JSON each. 1 kB
an answer, about; each shard's cache is removed when it is imported, the merged one at the end.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from itertools import islice
from pathlib import Path

from harness.cache.schema import digest_of, key_of
from harness.cache.store import Store, store_texts
from harness.codec import canonical, digest, response_json, short, text_digest, words
from harness.types import ChatRequest, Message, Response, Usage

IDENTITY = {"kind": "openai.Chat", "model": "mock", "temperature": 0.0}
AT_ONCE = 10_000
EARLY = 10.0
"""Seconds after which memory is looked at for the first time."""


def rows(numbers: range) -> Iterator[tuple[tuple[object, ...], Mapping[str, str]]]:
    """Answers to short questions, with their rows and texts."""
    identity, who = canonical(IDENTITY), digest(IDENTITY)
    for number in numbers:
        request = ChatRequest(
            (Message("user", f"Is {number} the cause of {number + 1}, given {number + 2}?"),), max_tokens=16
        )
        response = canonical(response_json(Response("No", usage=Usage(21, 1), finish_reason="stop", seconds=0.5)))
        short_request = short(request)
        key = key_of(identity, short_request)
        texts = {text_digest(text): text for text in words(request)}
        yield (key, who, short_request, response, 1.7e9 + number, "mock", digest_of(key, response)), texts


def make(path: Path, numbers: range) -> None:
    """Write a cache as a shard leaves it, only faster: by one transaction, which nothing protects."""
    source = rows(numbers)
    with closing(Store(path)) as store:
        for pragma in ("journal_mode=OFF", "synchronous=OFF", "cache_size=-2000000"):
            store.connection.execute(f"PRAGMA {pragma}")
        with store.transaction() as db:
            db.execute("INSERT INTO identities VALUES (?, ?, ?)", (digest(IDENTITY), canonical(IDENTITY), "mock"))
            while some := list(islice(source, AT_ONCE)):
                for _, texts in some:
                    store_texts(db, texts)
                db.executemany("INSERT INTO answers VALUES (?, ?, ?, ?, ?, ?, ?)", [row for row, _ in some])


def import_(path: Path, merged: Path) -> dict[str, float]:
    """Import a cache with the command; return seconds, and megabytes of memory early on and at most."""
    began = time.monotonic()
    command = [sys.executable, "-m", "harness.cache", "import", str(path), f"cache={merged}"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    early = most = 0.0
    while process.poll() is None:
        time.sleep(0.5)
        with suppress(OSError, ValueError, IndexError):
            status = Path(f"/proc/{process.pid}/status").read_text()
            most = max(most, int(status.split("VmHWM:")[1].split()[0]) / 1000)
        if time.monotonic() - began < EARLY:
            early = most
    assert process.returncode == 0
    return {"seconds": time.monotonic() - began, "early": early, "most": most}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--answers", type=int, default=10_000_000)
    parser.add_argument("--caches", type=int, default=4)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    merged, share = options.folder / "merged.sqlite", options.answers // options.caches
    try:
        for number in range(options.caches):
            began, path = time.monotonic(), options.folder / f"{number}.sqlite"
            make(path, range(number * share, (number + 1) * share))
            made = time.monotonic() - began
            size = path.stat().st_size
            measured = import_(path, merged)
            path.unlink()
            line = {"answers": share, "in": number * share, "bytes": size, "made": made, **measured}
            print(json.dumps({**line, "rate": share / measured["seconds"]}), flush=True)
    finally:
        for file in options.folder.glob("*.sqlite*"):
            file.unlink()


if __name__ == "__main__":
    main()
