"""Import of a folder of answers in Parquet parts: processor time and memory. Is memory flat?

python benchmarks/import_parts.py FOLDER [--answers 50000,100000]

makes below FOLDER, for each of these numbers, a cache that has written out so many requests, and parts of 5,000 answers
of 0.5 kB to them in no order; takes them in twice with `harness cache import`; prints a line of JSON each.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import resource
import shutil
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from harness.cache import CachedModel, Store
from harness.models.api.openai import Chat
from harness.plugins.batches.journal import Journal, settings_of
from harness.types import ChatRequest, Message

ENDPOINT = Chat(name="mock", model="mock", base_url="http://127.0.0.1/v1")
ROWS, WORDS = 5000, "x" * 500
IMPORT = """
import re, sys
from pathlib import Path
from harness.plugins.answers.command import main
code = main(["import", sys.argv[1], f"cache={sys.argv[2]}"])
print(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
sys.exit(code)
"""


def make(folder: Path, number: int) -> None:
    """Write requests out into a cache, and answers to them into parts."""
    requests = [ChatRequest((Message("user", f"Is {k} the cause of {k + 1}?"),), max_tokens=16) for k in range(number)]
    with closing(Store(folder / "answers.sqlite")) as store:
        journal, key = Journal(store), CachedModel(ENDPOINT, store).key
        journal.make_tables()
        model, settings = settings_of(ENDPOINT)
        journal.add_model(model, ENDPOINT.name, settings)
        keys = [key(request) for request in requests]
        journal.write_out(model, "mock", zip(keys, requests, strict=True))
    random.Random(0).shuffle(keys)
    (folder / "parts").mkdir()
    for start in range(0, number, ROWS):
        part = keys[start : start + ROWS]
        bodies = [{"choices": [{"message": {"content": f"{key} {WORDS}"}, "finish_reason": "stop"}]} for key in part]
        responses = [json.dumps({"status_code": 200, "body": body}) for body in bodies]
        parquet.write_table(pa.table({"custom_id": part, "response": responses}), folder / "parts" / f"{start}.parquet")


def import_(folder: Path) -> dict[str, float]:
    """Take the parts in; return processor seconds, and megabytes of memory at most."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-c", IMPORT, str(folder / "parts"), str(folder / "answers.sqlite")]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    new = re.search(r"([\d,]+) new", out)
    assert new is not None, out
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"new": int(new[1].replace(",", "")), "processor": seconds, "megabytes": int(out.split()[-1]) / 1000}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--answers", default="50000,100000")
    options = parser.parse_args()
    for number in map(int, options.answers.split(",")):
        folder = options.folder / str(number)
        folder.mkdir(parents=True)
        try:
            make(folder, number)
            for _ in range(2):
                print(json.dumps({"answers": number, **import_(folder)}), flush=True)
        finally:
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
