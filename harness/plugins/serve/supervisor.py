"""Runs between a run and its server, so that the server ends with the run even if that is killed.

python supervisor.py RUN GRACE COMMAND…: the run's process id, and the seconds for the server to end by itself.

A parent-death signal from the run is not enough: it comes when the *thread* that started the child ends, and goes to
the child alone. So this process watches its parent's id, and ends the server's process group. Should this process be
killed, the server gets its death signal. Nothing but the standard library is imported.
"""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time

LOOK = 0.2
"""Seconds between two looks at the server and at the run."""
SET_PDEATHSIG = 1


def started(command: list[str]) -> subprocess.Popen[bytes]:
    """Start the server in a process group of its own."""
    me = os.getpid()
    prctl = ctypes.CDLL(None).prctl if sys.platform == "linux" else None

    def die_with_me() -> None:
        if prctl is not None:
            prctl(SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != me:
            os._exit(1)

    return subprocess.Popen(command, stdin=subprocess.DEVNULL, process_group=0, preexec_fn=die_with_me)


def main() -> None:
    run, grace, *command = sys.argv[1:]
    asked_to_end: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: asked_to_end.append(number))
    try:
        server = started(command)
    except OSError as error:
        print(f"{command[0]} cannot be started: {error}", flush=True)
        os._exit(127)
    while server.poll() is None and not asked_to_end and os.getppid() == int(run):
        time.sleep(LOOK)
    with contextlib.suppress(OSError):
        os.killpg(server.pid, signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        server.wait(float(grace))
    with contextlib.suppress(OSError):  # whatever has not ended, and what the server left behind
        os.killpg(server.pid, signal.SIGKILL)
    code = server.wait()
    os._exit(128 - code if code < 0 else code)


if __name__ == "__main__":
    main()
