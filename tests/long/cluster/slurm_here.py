"""A Slurm of two nodes on this machine, in a folder of its own: no systemd, nothing in /etc, no accounting.

python tests/long/cluster/slurm_here.py [FOLDER] begins one, prints how to use it, and ends it at Ctrl-C.
"""

from __future__ import annotations

import getpass
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

NODES = ("one", "two")
CONF = """\
ClusterName=here
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdSpoolDir={folder}/spool.%n
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldPidFile={folder}/slurmctld.pid
StateSaveLocation={folder}/state
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
ReturnToService=2
SlurmdTimeout=10
SlurmctldTimeout=10
KillWait=10
NodeName=one NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=2 State=UNKNOWN
NodeName=two NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=2 State=UNKNOWN
PartitionName=debug Nodes=ALL {default}MaxTime=INFINITE State=UP
"""
PATIENCE = 60.0


class Slurm:
    """munged, slurmctld and two slurmd, which are this process's children."""

    def __init__(self, folder: Path, *, default_partition: bool = True) -> None:
        self.folder = folder
        for name in ("munge", "state", *(f"spool.{node}" for node in NODES)):
            (folder / name).mkdir(parents=True, mode=0o755)
        key = folder / "munge" / "key"
        key.touch(0o600)
        key.write_bytes(secrets.token_bytes(128))
        default = "Default=YES " if default_partition else ""
        settings = {"host": socket.gethostname().partition(".")[0], "user": getpass.getuser(), "ports": _free_ports(3)}
        (folder / "slurm.conf").write_text(CONF.format(folder=folder, default=default, **settings))
        self.variables = {"SLURM_CONF": str(folder / "slurm.conf")}
        self._log = (folder / "daemons.log").open("wb")
        self._munged = self._begin(
            "munged", "--foreground", "--force", *(f"--{name}={folder}/munge/{file}" for name, file in _MUNGE.items())
        )
        self._controller = self._begin("slurmctld", "-D")
        self._nodes = {node: self._begin("slurmd", "-D", "-N", node) for node in NODES}
        end = time.monotonic() + PATIENCE
        while self.says("sinfo", "--noheader", "--states=idle", "--format=%D").strip() != str(len(NODES)):
            assert time.monotonic() < end, f"Slurm is not ready: {self.says('sinfo')}, {folder}/*.log"
            time.sleep(0.5)

    def says(self, *command: str) -> str:
        """Return what one of Slurm's commands prints."""
        environment = os.environ | self.variables
        return subprocess.run(command, capture_output=True, text=True, check=False, env=environment).stdout

    def states(self) -> dict[str, str]:
        """Return the states of the tasks that Slurm knows, by their ids."""
        lines = self.says("squeue", "--noheader", "--array", "--states=all", "--format=%i %T").splitlines()
        return dict(line.split() for line in lines)

    def release(self) -> None:
        """Begin what Slurm holds back for two minutes after it was put into the queue again."""
        for name, state in self.states().items():
            if state == "PENDING":
                self.says("scontrol", "update", f"JobId={name}", "StartTime=now")

    def kill_node(self, node: str) -> None:
        """End a node as the failure of its power would: its daemon, and all that runs below it, by SIGKILL."""
        daemon = self._nodes.pop(node)
        tasks = {pid for pid in _processes() if f"SLURMD_NODENAME={node}" in _environment(pid)}
        parents = _parents()
        # A task's parent on the node is slurmstepd, which has left its own: it would tell of the task's end.
        steps = {parents.get(pid, 0) for pid in tasks} - tasks
        steps = {pid for pid in steps if _name(pid).startswith("slurmstepd")}
        every = {daemon.pid, *tasks, *steps}
        for number in (signal.SIGSTOP, signal.SIGKILL):  # all at once, so that none tells of another's end
            for pid in every:
                with suppress(ProcessLookupError):
                    os.kill(pid, number)
        daemon.wait()

    def restore_node(self, node: str) -> None:
        """Begin the daemon of a node that was killed."""
        self._nodes[node] = self._begin("slurmd", "-D", "-N", node)

    def close(self) -> None:
        """Cancel what runs, and end the daemons."""
        self.says("scancel", "--user", getpass.getuser())
        end = time.monotonic() + PATIENCE
        while self.says("squeue", "--noheader").strip() and time.monotonic() < end:
            time.sleep(0.5)
        for process in (*self._nodes.values(), self._controller, self._munged):
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(20)
            process.kill()
            process.wait()
        self._log.close()

    def _begin(self, *command: str) -> subprocess.Popen[bytes]:
        variables = os.environ | self.variables
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=self._log, stderr=self._log, env=variables, start_new_session=True
        )
        time.sleep(0.5)
        return process


_MUNGE = {"key-file": "key", "socket": "socket", "pid-file": "pid", "log-file": "log", "seed-file": "seed"}


def _free_ports(number: int) -> list[int]:
    sockets = [socket.socket() for _ in range(number)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def _processes() -> list[int]:
    return [int(place.name) for place in Path("/proc").iterdir() if place.name.isdigit()]


def _environment(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/environ").read_text(errors="replace")
    return ""


def _name(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text(errors="replace")
    return ""


def _parents() -> dict[int, int]:
    parents: dict[int, int] = {}
    for pid in _processes():
        with suppress(OSError, ValueError):
            parents[pid] = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return parents


def main() -> None:
    with tempfile.TemporaryDirectory() as made:
        slurm = Slurm(Path(sys.argv[1] if len(sys.argv) > 1 else made).absolute())
        print(f"export SLURM_CONF={slurm.variables['SLURM_CONF']}", flush=True)
        try:
            signal.pause()
        except KeyboardInterrupt:
            slurm.close()


if __name__ == "__main__":
    main()
