"""A process that has a cache alone."""

from __future__ import annotations

import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

WRITER = """
import sys
from pathlib import Path
sys.path[:0] = sys.argv[4:]
from support.cache_help import ask, says
from support.scripted import Scripted
from harness.cache import CachedModel, Store
store = Store(Path(sys.argv[1]), shared=False if sys.argv[3] == "False" else None)
model = CachedModel(Scripted(says), store)
for block in range(int(sys.argv[2]) // 100):
    requests = [ask(f"{block}/{k}") for k in range(100)]
    model.keep([(model.key(request), request, says(request)) for request in requests])
    print((block + 1) * 100, flush=True)
sys.stdin.read()
"""


HERE = [str(Path(__file__).resolve().parents[2]), str(Path(__file__).resolve().parents[1])]


@contextmanager
def writer(path: Path, rows: int, *, shared: bool | None = False):
    """Give a process that has the cache alone, has stored so many rows, and waits."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), str(rows), str(shared), *HERE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        for line in process.stdout:
            if int(line) == rows:
                break
        yield process
        process.kill()
