"""Started between a run and its server, so that the server ends with the run, also where that is killed.

python supervisor.py LIFELINE REPORT RUN GRACE COMMAND…: the file numbers of a pipe that the run keeps open and of one
for the server's process number, the run's process number, the seconds that the server has to end by itself.

The parent-death signal alone would not do: it comes when the *thread* ends that started the child, and goes to the
child alone, not to what that has started. So this process waits for its run to go, by the pipe and by its parent's
number (a fork of the run may hold the pipe open), and takes everything below it along. It is the server whose parent's
death is a signal: should this process be killed, the server's is. Nothing but the standard library is imported.
"""

import contextlib
import ctypes
import os
import select
import signal
import subprocess
import sys
import time

LOOK = 0.5
"""Seconds between two looks at the parent's number."""
LEFT_BEHIND = 2.0
"""Seconds that processes have to end whose server has ended by itself."""
SET_PDEATHSIG, SET_CHILD_SUBREAPER = 1, 36


class Supervisor:
    """One server and all that it starts."""

    def __init__(self, lifeline: int, run: int, grace: float) -> None:
        """Take over: whatever loses its parent below this process becomes its child."""
        self.lifeline, self.run, self.grace = lifeline, run, grace
        self.server = 0
        self.status: int | None = None
        """The server's exit code as shells have it, once it has ended."""
        self.asked_to_end = False
        self._woken, writer = os.pipe()
        os.set_blocking(writer, False)
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        for number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
            signal.signal(number, signal.SIG_IGN)  # the terminal's: the run decides what they mean
        signal.signal(signal.SIGTERM, self._end)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self._prctl = ctypes.CDLL(None).prctl if sys.platform == "linux" else None
        if self._prctl is not None:
            self._prctl(SET_CHILD_SUBREAPER, 1)

    def _end(self, *_: object) -> None:
        self.asked_to_end = True

    def start(self, command: list[str]) -> None:
        """Start the server in a process group of its own."""
        me = os.getpid()

        def die_with_me() -> None:
            for number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
                signal.signal(number, signal.SIG_DFL)
            if self._prctl is not None:
                self._prctl(SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != me:
                os._exit(1)

        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, process_group=0, preexec_fn=die_with_me)
        self.server = process.pid
        process.returncode = 0  # it is waited for here, together with all others

    def watch(self) -> None:
        """Wait until the server has ended, or is to end."""
        while not self.asked_to_end and self.status is None:
            if os.getppid() != self.run:
                self.asked_to_end = True
            ready, _, _ = select.select([self.lifeline, self._woken], [], [], LOOK)
            if self.lifeline in ready and not os.read(self.lifeline, 1):
                self.asked_to_end = True
            if self._woken in ready:
                os.read(self._woken, 1 << 12)
            self.reap()

    def end(self) -> None:
        """End the server and everything that it has started: asked first, then made to."""
        self.signal_all(signal.SIGTERM)
        until = time.monotonic() + self.grace
        while self.reap() and time.monotonic() < until:
            if self.status is not None:  # what it has left behind has less time
                until = min(until, time.monotonic() + LEFT_BEHIND)
                break
            time.sleep(0.02)
        while self.reap() and time.monotonic() < until:
            time.sleep(0.02)
        until = time.monotonic() + LEFT_BEHIND
        while self.reap() and time.monotonic() < until:  # children of what was killed come to this process
            self.signal_all(signal.SIGKILL)
            time.sleep(0.02)

    def reap(self) -> bool:
        """Take the exit codes of what has ended; return whether any child is left."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if not pid:
                return True
            if pid == self.server:
                code = os.waitstatus_to_exitcode(status)
                self.status = 128 - code if code < 0 else code

    def signal_all(self, number: int) -> None:
        """Send a signal to the server's group, and to the children that have left it."""
        with contextlib.suppress(OSError):
            os.killpg(self.server, number)
        for child in children():
            with contextlib.suppress(OSError):
                if os.getpgid(child) != self.server:
                    os.kill(child, number)


def children() -> list[int]:
    """Return the direct children of this process, as far as the system lists processes."""
    me, found = str(os.getpid()), []
    for name in os.listdir("/proc") if os.path.isdir("/proc") else ():  # noqa: PTH112, PTH208
        with contextlib.suppress(OSError, IndexError), open(f"/proc/{name}/stat") as stat:  # noqa: PTH123
            if name.isdigit() and stat.read().rpartition(")")[2].split()[1] == me:
                found.append(int(name))
    return found


def main() -> None:
    """Start the server, wait for its end or the run's, leave nothing behind."""
    lifeline, report, run, grace, *command = sys.argv[1:]
    supervisor = Supervisor(int(lifeline), int(run), float(grace))
    try:
        supervisor.start(command)
    except OSError as error:
        print(f"{command[0]} cannot be started: {error}", flush=True)
        os._exit(127)
    with contextlib.suppress(OSError):
        os.write(int(report), f"{supervisor.server}\n".encode())
    os.close(int(report))
    supervisor.watch()
    supervisor.end()
    os._exit(supervisor.status or 0)


if __name__ == "__main__":
    main()
