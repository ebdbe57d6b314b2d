"""A cache on a file system of several machines is refused."""

from __future__ import annotations

import pytest

from harness.cache import Store, schema
from harness.errors import StoreError


@pytest.mark.parametrize(
    ("kind", "found"),
    [("nfs4", "nfs4"), ("lustre", "lustre"), ("fuse.sshfs", "fuse.sshfs"), ("ext4", ""), ("fuse.rofiles-fuse", "")],
)
def test_a_cache_on_a_network_is_refused_with_a_sentence(tmp_path, monkeypatch, kind, found):
    mounts = tmp_path / "mountinfo"
    mounts.write_text(f"36 35 98:0 / {tmp_path} rw shared:1 - {kind} server:/home rw\n")
    monkeypatch.setattr(schema, "MOUNTS", mounts)
    path = tmp_path / "not" / "there" / "answers.sqlite"
    assert schema.network_file_system(path) == found
    if found:
        with pytest.raises(StoreError, match=rf"lies on {found}, .* local disk"):
            Store(path)
    else:
        Store(path).close()
