"""What happens to a cache in a folder: python cache_on_nfs.py FOLDER, a line for each thing that was seen."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import closing
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[2])]

from support.cache_help import writer  # noqa: E402

from harness.cache import Store, alone  # noqa: E402
from harness.errors import StoreError  # noqa: E402

ROWS = 5000


def rows(path: Path, **settings) -> int:
    with closing(Store(path, **settings)) as store:
        return next(store.query("SELECT count(*) FROM answers"))[0]


def main(folder: Path) -> None:
    path = folder / "answers.sqlite"
    print("kind:", alone.network_file_system(path))
    with writer(path, ROWS, shared=None) as process:
        print("files:", *sorted(file.name for file in folder.iterdir()))
        print("read beside:", rows(path, readonly=True))
        try:
            print("second:", rows(path))
        except StoreError as error:
            print("second:", error)
        os.kill(process.pid, signal.SIGKILL)
    print("read after the kill:", rows(path, readonly=True))
    print("whole:", rows(path))
    with closing(Store(path)) as store:
        print("sound:", next(store.query("PRAGMA integrity_check"))[0])


main(Path(sys.argv[1]))
