"""A cache that one process has alone: on file systems of networks, or by cache.shared=false."""

from __future__ import annotations

import os
import re
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from support.cache_help import ask, command, count, fill, says, writer
from support.outcomes import each
from support.scripted import Scripted

from harness.cache import CachedModel, Store, alone
from harness.errors import StoreError


@pytest.fixture
def on(monkeypatch, tmp_path):
    """Have a folder lie on another kind of file system, as far as the list of mounts says."""

    def pretend(kind: str, folder: Path = tmp_path, device: int | None = None) -> None:
        number = folder.stat().st_dev if device is None else device
        mounts = tmp_path / "mountinfo"
        place = str(folder.resolve()).replace(" ", "\\040")
        mounts.write_text(
            "21 1 0:1 / / rw - ext4 /dev/sda1 rw\n"
            f"22 1 {os.major(number)}:{os.minor(number)} / {place} rw,relatime shared:1 - {kind} server:/home rw\n"
        )
        monkeypatch.setattr(alone, "MOUNTS", mounts)

    return pretend


@pytest.mark.parametrize(
    ("kind", "found"),
    [
        *((kind, kind) for kind in ("nfs", "nfs4", "lustre", "gpfs", "ceph", "9p", "fuse.sshfs", "fuse.glusterfs")),
        *((kind, "") for kind in ("ext4", "xfs", "btrfs", "tmpfs", "overlay", "fuseblk", "fuse.mergerfs")),
    ],
)
def test_file_systems_of_networks_are_told_apart(on, tmp_path, kind, found):
    on(kind)
    assert alone.network_file_system(tmp_path / "not" / "there" / "answers.sqlite") == found


def test_where_devices_have_other_numbers_the_deepest_mount_counts(on, tmp_path):
    (tmp_path / "a b").mkdir()
    on("nfs4", tmp_path / "a b", device=1 << 20)
    assert alone.network_file_system(tmp_path / "a b" / "answers.sqlite") == "nfs4"
    assert alone.network_file_system(tmp_path / "answers.sqlite") == ""


def test_without_a_list_of_mounts_a_cache_is_shared(monkeypatch, tmp_path):
    monkeypatch.setattr(alone, "MOUNTS", tmp_path / "no")
    assert alone.why(tmp_path / "answers.sqlite", None) == ""


def test_a_cache_on_a_network_makes_no_shared_memory_and_keeps_others_out(on, tmp_path, monkeypatch):
    monkeypatch.setattr(alone, "PATIENCE", 0.1)
    path = tmp_path / "answers.sqlite"
    on("nfs4")
    with closing(Store(path)) as store:
        model = CachedModel(Scripted(says), store)
        list(each(model.respond(ask(f"{k}?") for k in range(5))))
        assert Path(f"{path}-wal").stat().st_size and not Path(f"{path}-shm").exists()
        assert not list(tmp_path.glob("*.lock")), "there is nobody to be kept from asking the same"
        with pytest.raises(StoreError, match=rf"process {os.getpid()} on .* has it open, .*lies on nfs4.*cache\.path"):
            Store(path)
        with pytest.raises(StoreError, match="has it open, and only one process can"):
            Store(path, shared=True)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["answers.sqlite", "mountinfo"]
    fill(path, 7)
    assert count(path) == 7
    assert not Path(f"{path}-shm").exists()


@pytest.mark.slow
def test_five_thousand_of_five_thousand_rows_survive_kill_9(tmp_path):
    path = tmp_path / "answers.sqlite"
    with writer(path, 5000) as process:
        assert Path(f"{path}-wal").stat().st_size and not Path(f"{path}-shm").exists()
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    assert alone.holder(path)
    with closing(Store(path, shared=False)) as store:
        assert next(store.query("SELECT count(*) FROM answers"))[0] == 5000
        assert next(store.query("PRAGMA integrity_check"))[0] == "ok"
    with closing(Store(path)):
        assert not alone.holder(path)


def test_beside_a_process_that_has_it_alone_others_read_and_none_writes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "answers.sqlite"
    with writer(path, 2000) as process:
        assert count(path) == 2000
        assert "2,000 answers" in command("verify", f"cache={path}").stdout
        monkeypatch.setattr(alone, "PATIENCE", 0.1)
        with pytest.raises(StoreError) as error:
            Store(path)
        said = str(error.value)
        assert f"process {process.pid} on " in said and "cache.path" in said and "\n" not in said
        assert "cache.shared=true" not in said  # there it would change nothing
    with closing(Store(path)) as store:
        assert next(store.query("SELECT count(*) FROM answers"))[0] == 2000


def test_a_log_left_on_a_network_is_read_without_shared_memory(on, tmp_path):
    path = tmp_path / "answers.sqlite"
    with writer(path, 300) as process:
        os.kill(process.pid, signal.SIGKILL)
    on("lustre")
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    assert count(path) == 300
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_a_file_system_without_locks_is_said_to_have_none(tmp_path):
    with closing(Store(tmp_path / "answers.sqlite")) as store:
        said = str(store.trouble(sqlite3.OperationalError("locking protocol")))
        assert "cache.shared=false" in said and "local disk" in said and "permission" not in said
    with closing(Store(tmp_path / "alone.sqlite", shared=False)) as store:
        said = str(store.trouble(sqlite3.OperationalError("locking protocol")))
        assert "cache.shared=false" not in said and re.search(r"flock.*local disk", said)
