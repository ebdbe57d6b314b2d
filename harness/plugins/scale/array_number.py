"""`shard=auto`: which part of a run this process is, by the number that a scheduler gives its array's tasks or pods.

Slurm's array jobs count as the user writes it (`--array=0-15`, `1-16`, `3,7`), so that two cases differ. With
`shards=auto` the array is the whole run: its tasks are numbered from 0 on, and an array with gaps, or one that begins
elsewhere than at 0 or 1, is refused, since it may be some tasks of an earlier one. With `shards=N` the task's own
number is the shard, so that `--array=3,7` asks shards 3 and 7 again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from harness.errors import ConfigError

_SHARD = re.compile(r"(\+{0,2}shards?)=auto", re.IGNORECASE)
_NEMO, _NEMO_COUNT = "NEL_SHARD_IDX", "NEL_TOTAL_SHARDS"
_SLURM = "SLURM_ARRAY_TASK_ID"
_KUBERNETES = "JOB_COMPLETION_INDEX"


def numbered(arguments: Sequence[str], environment: Mapping[str, str]) -> list[str]:
    """Return the arguments with numbers in the place of `shard=auto` and `shards=auto`. Raises ConfigError."""
    automatic = {match[1].lstrip("+") for argument in arguments if (match := _SHARD.fullmatch(argument))}
    if not automatic:
        return list(arguments)
    if "shard" not in automatic:
        raise ConfigError("shards=auto is the size of the array whose number shard=auto takes: write both.")
    rest = [argument for argument in arguments if not _SHARD.fullmatch(argument)]
    total = next((value for key, _, value in (each.partition("=") for each in rest) if key.lstrip("+") == "shards"), "")
    shard, shards = _numbers(environment, total)
    return [*rest, f"shard={shard}", *([] if total else [f"shards={shards}"])]


def _numbers(environment: Mapping[str, str], total: str) -> tuple[int, int]:
    """Return a process's shard and how many there are, which is `total` where the command says so."""
    if _NEMO in environment:
        count = _number(environment, _NEMO_COUNT)
        if total and total != str(count):
            raise ConfigError(f"shards={total}, but {_NEMO_COUNT}={count}: leave shards= out with shard=auto.")
        return _number(environment, _NEMO), count
    if _SLURM in environment:
        return (_number(environment, _SLURM), 0) if total else _whole_array(environment)
    if _KUBERNETES in environment:
        if not total:
            raise ConfigError("shard=auto: Kubernetes tells a pod no count: add shards=N, the Job's completions.")
        return _number(environment, _KUBERNETES), 0
    raise ConfigError(
        f"shard=auto: none of {_SLURM}, {_KUBERNETES} and {_NEMO} is set, so this is no task of an array: give shard=k "
        "and shards=N."
    )


def _whole_array(environment: Mapping[str, str]) -> tuple[int, int]:
    """Return the place of a task in Slurm's array, from 0 on, and the array's size."""
    names = ("ID", "MIN", "MAX", "COUNT")
    task, first, last, count = (_number(environment, f"SLURM_ARRAY_TASK_{name}") for name in names)
    if first > 1 or last - first != count - 1:
        raise ConfigError(
            f"shard=auto: the array has {count} tasks from {first} to {last}, which is no whole run: begin it at 0 and "
            "leave no gap, or say shards=N, of which each task then asks the one of its own number."
        )
    return task - first, count


def _number(environment: Mapping[str, str], name: str) -> int:
    text = environment.get(name, "")
    if not (text.isascii() and text.isdigit()):
        raise ConfigError(f"shard=auto: {name}={text!r} is no number: give shard=k and shards=N.")
    return int(text)
