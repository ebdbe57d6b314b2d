"""A free port on this machine, and whether it is our server that listens there."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

HOST = "127.0.0.1"
_LISTENS = "0A"
"""The state of a listening socket in /proc/net/tcp."""


def free_port() -> int:
    """Return a port that nobody listens at now. Somebody may before the server does."""
    with socket.socket() as found:
        found.bind((HOST, 0))
        return int(found.getsockname()[1])


def is_strangers(port: int, session: int) -> bool:
    """Test whether a process outside of a session listens at a port, as far as Linux shows that to this user.

    A server may well be ready at the port that ours was to have, and be somebody else's.
    """
    sockets = set(_listening(port))
    holders = {pid for pid in _processes() if sockets & set(_sockets(pid))} if sockets else set()
    return bool(holders) and not any(_session(pid) == session for pid in holders)


def _listening(port: int) -> Iterator[str]:
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with suppress(OSError):
            for line in Path(table).read_text(encoding="ascii").splitlines()[1:]:
                fields = line.split()
                if fields[3] == _LISTENS and int(fields[1].rpartition(":")[2], 16) == port:
                    yield f"socket:[{fields[9]}]"


def _processes() -> Iterator[int]:
    with suppress(OSError):
        yield from (int(name) for name in os.listdir("/proc") if re.fullmatch(r"\d+", name))  # noqa: PTH208


def _sockets(pid: int) -> Iterator[str]:
    with suppress(OSError):
        for file in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):
                yield os.readlink(file)  # noqa: PTH115


def _session(pid: int) -> int:
    try:
        return os.getsid(pid)
    except OSError:
        return -1
