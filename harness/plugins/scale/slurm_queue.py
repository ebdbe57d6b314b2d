"""The state of each task of a Slurm array: by squeue, and by sacct where a cluster keeps accounts (many do not)."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass

_OVER = frozenset(
    {"BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "REVOKED"}
) | {"TIMEOUT"}
GONE = "gone from the queue"
"""The state of a task of which neither knows any more."""
_PATIENCE = 60.0
"""Seconds that a command of Slurm's may take."""


@dataclass(frozen=True)
class State:
    """A task's state, in Slurm's word."""

    word: str
    reason: str = ""
    """Why it waits."""

    @property
    def over(self) -> bool:
        """Whether it will not run again."""
        return self.word in _OVER or self.word == GONE


def states(array: str, tasks: int) -> dict[int, State] | None:
    """Return the state of each task of an array job; None where Slurm does not answer.

    squeue knows a task until a few minutes after its end (MinJobAge); later, only the accounts do.
    """
    listed = _lines("squeue", "--noheader", "--array", "--states=all", "--format=%i|%T|%r", f"--jobs={array}")
    if listed is None:
        return None
    found = _by_number(listed)
    if len(found) < tasks:
        accounts = _lines("sacct", "--noheader", "--allocations", "--parsable2", "--format=JobID,State", f"-j{array}")
        found = _by_number(accounts or []) | found
    return {number: found.get(number, State(GONE)) for number in range(tasks)}


def _by_number(lines: list[str]) -> dict[int, State]:
    """Return the states by the tasks' numbers, of lines such as `18_3|RUNNING|None`; 18 alone has one task, 0."""
    found = {}
    for line in lines:
        name, word, *reason = line.split("|")
        number = name.partition("_")[2] or "0"
        if number.isdigit():  # tasks that wait may stand together, as 18_[3-7], in the accounts
            found[int(number)] = State(word.partition(" ")[0], reason[0] if reason else "")
    return found


def _lines(*command: str) -> list[str] | None:
    """Return what a command of Slurm's prints; nothing for a job that it does not know, None where it has failed."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("SQUEUE_", "SACCT_"))}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_PATIENCE, check=False, env=variables)
    except (OSError, subprocess.TimeoutExpired):
        return None
    if done.returncode:
        return [] if "Invalid job id" in done.stderr else None
    return done.stdout.split("\n")[:-1]
