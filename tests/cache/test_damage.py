"""Real damage to real files: each ends in a sentence, and nothing that can be read is lost."""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing

import pytest
from support.cache_help import ask, command, count, fill, says
from support.outcomes import each
from support.scripted import Scripted
from support.thinned import few

from harness.cache import CachedModel, Store, corruption, maintenance
from harness.errors import StoreError


@pytest.fixture
def path(tmp_path):
    return tmp_path / "answers.sqlite"


def replay(path, number, asked=None):
    """Open the cache and ask for `number` answers; return how many came. What is missing goes to a model."""
    model = Scripted(says)
    try:
        with closing(Store(path)) as store:
            return len(list(each(CachedModel(model, store).respond(ask(f"{k}?") for k in range(number)))))
    finally:
        if asked is not None:
            asked.extend(model.asked)


def set_aside(path, error) -> str:
    """Return the file that the message names, after checking that it is there."""
    name = re.search(r"set aside as (\S+?\.damaged-[\d_-]+a*)", str(error.value))
    assert name, str(error.value)
    assert path.parent.joinpath(name[1]).exists() and not path.exists()
    return name[1]


def test_garbage_is_set_aside_under_a_name_that_is_told_and_stays_as_it_was(path):
    fill(path, 20)
    garbage = os.urandom(path.stat().st_size)
    path.write_bytes(garbage)
    with pytest.raises(StoreError, match="nothing of it is deleted") as error:
        Store(path)
    name = set_aside(path, error)
    assert path.parent.joinpath(name).read_bytes() == garbage
    said = command("import", name, f"cache={path}")
    assert said.returncode == 1 and ".recover" in said.stderr


@pytest.mark.parametrize("share", few([0.2, 0.5, 0.9], 1))
def test_of_a_truncated_file_all_that_is_left_can_be_imported(path, share):
    fill(path, 3000)
    whole = path.stat().st_size
    os.truncate(path, int(whole * share))
    with pytest.raises(StoreError) as error:
        replay(path, 3000)
    name = set_aside(path, error)
    # Nothing is begun beside it, so nothing is paid for twice.
    asked = []
    with pytest.raises(StoreError, match="nothing is asked beside it"):
        replay(path, 3000, asked)
    assert not asked
    done = command("import", name, f"cache={path}")
    assert done.returncode == 0 and "is damaged" in done.stderr, done.stderr
    kept = count(path)
    assert replay(path, 3000, asked) == 3000
    assert len(asked) == 3000 - kept
    assert kept > 3000 * (share - 0.15)
    print(f"{share:.0%} of the file: {kept} of 3000 answers")


def test_garbage_in_the_middle_is_found_when_it_is_read(path):
    fill(path, 3000)
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 2 // 4096 * 4096)
        file.write(os.urandom(8 * 4096))
    with pytest.raises(StoreError) as error:
        replay(path, 3000)
    name = set_aside(path, error)
    assert command("import", name, f"cache={path}").returncode == 0
    assert count(path) > 2000
    assert command("verify", f"cache={path}").stdout.count("is what its digest says") == 1 or count(path)


@pytest.mark.parametrize(("at", "size"), [(0, 16), (0, 1), (16, 52), (0, 100), (100, 60), (0, 4096)])
def test_a_first_page_that_is_gone_costs_no_answer(path, at, size):
    fill(path, 400)
    with path.open("r+b") as file:
        file.seek(at)
        file.write(random.Random(size).randbytes(size))
    with pytest.raises(StoreError) as error:
        replay(path, 400)
    name = set_aside(path, error)
    before = path.parent.joinpath(name).read_bytes()
    done = command("import", name, f"cache={path}")
    assert done.returncode == 0 and "400 new" in done.stdout and "is damaged" in done.stderr, done
    assert path.parent.joinpath(name).read_bytes() == before
    assert command("verify", f"cache={path}").returncode == 0
    asked = []
    assert replay(path, 400, asked) == 400 and not asked
    assert not list(path.parent.glob(".*"))


def test_damage_that_is_met_by_a_process_with_claims_is_a_sentence(path):
    fill(path, 3000)
    with closing(Store(path)) as store:
        assert store.claims.take(["new"]).own == {"new"}
        path.write_bytes(os.urandom(path.stat().st_size))
        with pytest.raises(StoreError) as error:
            list(each(CachedModel(Scripted(says), store).respond(ask(f"{k}?") for k in range(3000))))
    set_aside(path, error)


def test_the_log_goes_with_its_file(path):
    fill(path, 50)
    holder = Store(path)
    fill(path, 60)
    copies = {end: path.with_name(f"copy{end}") for end in ("", "-wal", "-shm")}
    for end, copy in copies.items():
        shutil.copy(f"{path}{end}", copy)
    holder.close()
    for end, copy in copies.items():
        shutil.copy(copy, f"{path}{end}")
    # SQLite would delete the log of an empty file without a word.
    os.truncate(path, 0)
    with pytest.raises(StoreError, match="its log is there") as error:
        Store(path)
    name = path.parent / set_aside(path, error)
    assert path.with_name(f"{name.name}-wal").read_bytes() == copies["-wal"].read_bytes()
    assert not path.with_name(f"{path.name}-wal").exists()


def test_a_process_killed_between_two_names_loses_nothing(path):
    fill(path, 20)
    path.write_bytes(b"garbage" * 1000)
    path.with_name("answers.sqlite.damaged-2026-01-01_00-00-00-wal").write_bytes(b"its log")
    with pytest.raises(StoreError) as error:
        Store(path)
    assert set_aside(path, error).endswith("answers.sqlite.damaged-2026-01-01_00-00-00")
    assert path.with_name("answers.sqlite.damaged-2026-01-01_00-00-00-wal").read_bytes() == b"its log"


def test_a_file_of_the_users_own_is_left_alone(tmp_path):
    notes = tmp_path / "notes.txt"
    notes.write_text("mine" * 100)
    with pytest.raises(StoreError, match=r"is no cache .* left as it is"):
        Store(notes)
    foreign = tmp_path / "other.sqlite"
    with closing(sqlite3.connect(foreign)) as db:
        db.execute("PRAGMA application_id=77")
        db.execute("CREATE TABLE notes (text)")
    os.truncate(foreign, 5000)
    with pytest.raises(StoreError):
        Store(foreign)
    assert notes.exists() and foreign.exists() and len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize(("schema", "said"), [(99, "update harness"), (1, "the version of harness that made it")])
def test_another_schema_is_a_sentence_and_stays(path, schema, said):
    fill(path, 5)
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA user_version={schema}")
    before = path.read_bytes()
    with pytest.raises(StoreError, match=said):
        Store(path)
    done = command("stats", f"cache={path}")
    assert done.returncode == 1 and done.stderr.startswith("error: ") and said in done.stderr
    assert path.read_bytes() == before


def test_what_only_reads_moves_nothing(path):
    fill(path, 20)
    path.write_bytes(os.urandom(5000))
    with pytest.raises(StoreError, match="left as it is"):
        Store(path, readonly=True)
    for name in ("stats", "verify", "prune model=m"):
        done = command(*name.split(), f"cache={path}")
        assert done.returncode == 1 and len(done.stderr.splitlines()) == 1, done.stderr
    assert path.exists() and not corruption.damaged_files(path)


def test_many_processes_set_it_aside_once(path):
    fill(path, 200)
    os.truncate(path, path.stat().st_size // 2)
    code = (
        "import sys; from pathlib import Path; from harness.cache import Store\n"
        "print('ready', flush=True); sys.stdin.readline()\n"
        "try: Store(Path(sys.argv[1]))\nexcept Exception as error: sys.exit(f'{type(error).__name__} {error}')\n"
    )
    run = [sys.executable, "-c", code, str(path)]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    jobs = [subprocess.Popen(run, **pipes, text=True) for _ in range(4)]
    assert [job.stdout.readline() for job in jobs] == ["ready\n"] * 4
    for job in jobs:
        job.stdin.write("now\n")
        job.stdin.flush()
    said = [job.communicate(timeout=120)[1] for job in jobs]
    assert all(one.startswith("StoreError") and "set aside" in one for one in said), said
    assert len(corruption.damaged_files(path)) == 1 and not path.exists()


def test_a_process_that_still_writes_to_it_loses_no_answer(path):
    fill(path, 1000)
    writer = Store(path)
    corruption.set_aside(path, corruption.inode(path), "as another process found")
    list(each(CachedModel(Scripted(says), writer).respond([ask("late")])))
    aside = corruption.damaged_files(path)[0]
    assert command("import", aside, f"cache={path}").returncode == 0
    assert count(path) == 1001
    writer.close()
    assert count(path) == 1001
    assert replay(path, 1000) == 1000


def test_a_process_killed_while_it_makes_the_file_leaves_a_cache_without_answers(tmp_path):
    moments, left = random.Random(6), 0
    for k in range(24):
        path = tmp_path / f"{k}.sqlite"
        starts, started = os.pipe()
        if not (child := os.fork()):
            try:
                os.write(started, b".")
                Store(path)
            finally:
                os._exit(0)
        os.read(starts, 1)
        if k % 6:
            time.sleep(moments.uniform(0, 0.004))
        else:  # as soon as there is something, on however slow a day
            end = time.monotonic() + 120
            while not path.exists() and time.monotonic() < end:
                pass
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        if path.exists():
            left += 1
            assert count(path) == 0
            with closing(Store(path, readonly=True)) as store:
                assert list(maintenance.verify(store, maintenance.Findings())) == []
            assert replay(path, 3) == count(path) == 3
    assert left


@pytest.mark.parametrize("begun", ["", "PRAGMA journal_mode=WAL"])
def test_a_file_without_tables_is_a_cache_without_answers(path, begun):
    path.touch()
    with closing(sqlite3.connect(path)) as db:
        db.execute(begun)
    before = path.read_bytes()
    for name, said in (("stats", "0 answers"), ("verify", "0 answers"), ("export -", ""), ("prune model=m", "none")):
        done = command(*name.split(), f"cache={path}")
        assert done.returncode == (name.startswith("prune")) and said in done.stdout + done.stderr, done
    assert path.read_bytes() == before
    other = path.with_name("other.sqlite")
    done = command("import", path, f"cache={other}")
    assert "is empty" in done.stdout + done.stderr and done.returncode == bool(begun), done
    assert replay(path, 3) == count(path) == 3


def test_a_log_torn_by_kill_9_is_no_damage(path):
    code = (
        "import sys; sys.path.insert(0, 'tests'); from pathlib import Path; from support.cache_help import *\n"
        "store = Store(Path(sys.argv[1]))\n"
        "answers = CachedModel(Scripted(says), store).respond(ask(f'{k}?') for k in range(100000))\n"
        "for _ in answers: print('.', flush=True)"
    )
    job = subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE)
    handed = sum(1 for _ in zip(range(400), job.stdout, strict=False))
    job.send_signal(signal.SIGKILL)
    job.wait()
    log = path.with_name(f"{path.name}-wal")
    assert log.stat().st_size
    with log.open("ab") as file:
        file.write(os.urandom(1000))  # half a frame, as a full disk leaves it
    assert count(path) >= handed == 400
    assert not corruption.damaged_files(path)
