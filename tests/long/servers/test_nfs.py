"""A cache on a real NFS export: served and mounted over loopback inside of a User-Mode Linux, whose root is this one's.

It needs root and `apt install user-mode-linux nfs-kernel-server nfs-common kmod`; this machine's own kernel need not
know NFS. The guest sees this machine's files read-only.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.servers
TESTS = Path(__file__).resolve().parents[2]
TOOLS = ("linux.uml", "exportfs", "rpcbind", "mount.nfs", "modprobe")
INIT = """#!/bin/sh
export PATH=/usr/sbin:/usr/bin:/sbin:/bin PYTHONDONTWRITEBYTECODE=1 PYTHONPATH={home} HOME=/run
mount -t proc proc /proc; mount -t sysfs sysfs /sys; mount -t tmpfs tmpfs /run; mount -t tmpfs tmpfs /var/lib/nfs
mkdir -p /run/export /run/mnt /run/lock /run/rpcbind /run/tmp /run/modules/lib
mkdir -p /var/lib/nfs/rpc_pipefs /var/lib/nfs/v4recovery /var/lib/nfs/sm /var/lib/nfs/sm.bak
export TMPDIR=/run/tmp
mount -t tmpfs tmpfs /run/export
ln -s /usr/lib/uml/modules /run/modules/lib/modules
touch /var/lib/nfs/etab /var/lib/nfs/rmtab /var/lib/nfs/state
ip link set lo up
for module in nfsd nfs nfsv4 nfsv3; do modprobe -d /run/modules $module; done
mount -t rpc_pipefs rpc_pipefs /var/lib/nfs/rpc_pipefs; mount -t nfsd nfsd /proc/fs/nfsd
echo 10 > /proc/fs/nfsd/nfsv4leasetime; echo 10 > /proc/fs/nfsd/nfsv4gracetime
rpcbind -w
exportfs -o rw,no_root_squash,fsid=0,insecure,no_subtree_check 127.0.0.1:/run/export
rpc.mountd; rpc.statd --no-notify; rpc.nfsd 4; sleep 1
{mount}
{python} {work} /run/mnt
echo END
halt -f
"""
MOUNTS = {
    "nfs4": "mount -t nfs4 -o vers=4.2 127.0.0.1:/ /run/mnt",
    "nfs": "mount -t nfs -o vers=3 127.0.0.1:/run/export /run/mnt",
    "nfs without locks": "mount -t nfs -o vers=3,nolock 127.0.0.1:/run/export /run/mnt",
}


@pytest.mark.parametrize("kind", MOUNTS)
def test_a_cache_on_nfs(kind, tmp_path):
    if missing := [tool for tool in TOOLS if shutil.which(tool, path="/usr/sbin:/usr/bin:/sbin:/bin") is None]:
        pytest.skip(f"{missing[0]} is not there: apt install user-mode-linux nfs-kernel-server nfs-common kmod")
    init = tmp_path / "init"
    work = Path(__file__).with_name("cache_on_nfs.py")
    words = {"home": TESTS.parent, "mount": MOUNTS[kind], "python": sys.executable, "work": work}
    init.write_text(INIT.format(**words))
    init.chmod(0o755)
    command = ["linux.uml", "mem=1500M", "rootfstype=hostfs", "rootflags=/", "ro", f"init={init}", "con=null"]
    console = subprocess.run(
        [*command, "con0=fd:0,fd:1"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600
    ).stdout
    found = dict(line.strip().partition(": ")[::2] for line in console.splitlines() if ": " in line)
    assert found.get("kind") == kind.split()[0], console[-3000:]
    assert found["files"] == "answers.sqlite answers.sqlite-wal answers.sqlite.alone"
    assert found["read beside"] == found["read after the kill"] == found["whole"] == "5000"
    assert "has it open, and only one process can" in found["second"] and found["sound"] == "ok"
