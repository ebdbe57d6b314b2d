"""A run of 50,000 requests in batches: calls, seconds and the most memory that the command takes.

    python benchmarks/batch.py                # 50,000 requests in one batch
    python benchmarks/batch.py 120000 50000   # so many requests, in batches of so many

The server is that of tests/plugins/batches in a process of its own, faultless, done with a batch at the first look.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HOME = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(HOME / "tests"), str(HOME / "tests" / "plugins" / "batches")]

from batch_runs import BatchServer  # noqa: E402

MOST = 300
"""Megabytes that a run of 50,000 may take."""


def main() -> int:
    """Measure one run; return 1 where it takes more memory than it may."""
    number, size = (int(text) for text in (*sys.argv[1:], "50000", "50000")[:2])
    server = BatchServer()
    server.set(looks=1)
    try:
        with tempfile.TemporaryDirectory() as name:
            command = [
                sys.executable, "-m", "harness", "model=gpt4", f"model.base_url={server.url}", "prompt=plain",
                "task=corr2cause", "task.split=all", f"task.limit={number}", f"model.batch.size={size}",
                "model.batch.poll=0.2",
            ]  # fmt: skip
            began = time.monotonic()
            environment = os.environ | {"OPENAI_API_KEY": "sk-benchmark", "PYTHONPATH": str(HOME)}
            done = subprocess.run(command, cwd=name, env=environment, capture_output=True, text=True)
            seconds = time.monotonic() - began
        print(done.stderr[-600:])
        most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        seen = server.seen()
        print(f"{seen['billed']:,} requests in {len(seen['batches'])} batches, {seconds:.0f} s, {most:.0f} MB at most")
        return int(done.returncode != 0 or seen["billed"] != number or bool(seen["again"]) or most > MOST)
    finally:
        server.close()


if __name__ == "__main__":
    sys.exit(main())
