"""Whether a path lies on a file system of several machines, where SQLite's write-ahead log is not safe."""

from __future__ import annotations

import re
from pathlib import Path

MOUNTS = Path("/proc/self/mountinfo")
"""Linux's list of what is mounted. It has names where statfs has numbers, and one number for all of FUSE."""
_OF_NETWORKS = frozenset(
    (
        *("nfs", "nfs4", "cifs", "smb3", "smbfs", "lustre", "gpfs", "beegfs", "beegfs_nodev", "ceph", "panfs", "pvfs2"),
        *("orangefs", "wekafs", "afs", "9p", "gfs2", "ocfs2", "acfs", "cvfs", "dvs", "juicefs", "vboxsf", "hgfs"),
    )
)
_OF_NETWORKS_IN_FUSE = re.compile(
    r"fuse\.(?:.*(?:nfs|ssh|ceph|gluster|beegfs|lustre|s3|gcs|goofys|geesefs|blobfuse|juicefs|rclone|davfs|seaweed|alluxio"
    r"|quobyte|hdfs|curve|dfuse|moose|mfs|lizard|smb|cifs|vmhgfs|weka).*)",
    re.IGNORECASE,
)


def network_file_system(path: Path) -> str:
    """Return the kind of the network's or cluster's file system that a path lies on, such as nfs4 or lustre.

    "" for a local one, and on other systems than Linux.
    """
    kind = _kind(path)
    return kind if kind in _OF_NETWORKS or _OF_NETWORKS_IN_FUSE.fullmatch(kind) else ""


def _kind(path: Path) -> str:
    """Return the kind of file system that a path lies on, or will; "" if unknown."""
    try:
        place = path.resolve()
        while not place.exists():
            place = place.parent
        mounts = MOUNTS.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return ""
    deepest, kind = -1, ""
    for mount in mounts:
        before, _, after = mount.partition(" - ")
        point = Path(re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), before.split(" ")[4]))
        if place.is_relative_to(point) and len(point.parts) >= deepest:
            kind, deepest = after.split(" ", 1)[0], len(point.parts)
    return kind
