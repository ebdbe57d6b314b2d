"""Real damage to real files: each ends in a sentence, and nothing that can be read is lost."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest
from support.cache_help import ask, command, count, fill, says
from support.outcomes import each
from support.scripted import Scripted
from support.thinned import few

from harness.cache import CachedModel, Store
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


def left_as_it_is(path, error) -> None:
    """Check that the message says what to do, and that the file is where it was."""
    said = str(error.value)
    assert f"{path} is damaged" in said and ".recover" in said and "another cache.path" in said and "\n" not in said
    assert path.exists() and not list(path.parent.glob("*.damaged*"))


def test_garbage_is_named_and_stays_as_it_was(path):
    fill(path, 20)
    garbage = os.urandom(path.stat().st_size)
    path.write_bytes(garbage)
    with pytest.raises(StoreError, match="left as it is") as error:
        Store(path)
    left_as_it_is(path, error)
    assert path.read_bytes() == garbage
    said = command("import", path, f"cache={path.with_name('new.sqlite')}")
    assert said.returncode == 1 and ".recover" in said.stderr


@pytest.mark.parametrize("share", few([0.2, 0.5, 0.9], 1))
def test_nothing_is_asked_beside_a_truncated_file(path, share):
    fill(path, 300)
    whole = path.stat().st_size
    os.truncate(path, int(whole * share))
    asked = []
    for _ in range(2):
        with pytest.raises(StoreError) as error:
            replay(path, 300, asked)
        left_as_it_is(path, error)
    assert not asked and path.stat().st_size == int(whole * share)


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
    assert path.exists()


@pytest.mark.parametrize("begun", ["", "PRAGMA journal_mode=WAL"])
def test_a_file_without_tables_is_a_cache_without_answers(path, begun):
    path.touch()
    with closing(sqlite3.connect(path)) as db:
        db.execute(begun)
    before = path.read_bytes()
    for name, said in (
        ("stats", "0 answers"),
        ("verify", "0 answers"),
        ("export -", ""),
        ("prune model=m", "holds no answer"),
    ):
        done = command(*name.split(), f"cache={path}")
        assert done.returncode == (name.startswith("prune")) and said in done.stdout + done.stderr, done
    assert path.read_bytes() == before
    other = path.with_name("other.sqlite")
    done = command("import", path, f"cache={other}")
    assert "0 new" in done.stdout and done.returncode == 0, done
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
    assert path.exists()
