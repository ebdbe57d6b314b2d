"""Runs on a Slurm, and what they leave."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

from slurm_here import Slurm
from support.openai_server import WAIT


def wait_until(happens: Callable[[], object], patience: float = 2 * WAIT, slurm: Slurm | None = None) -> None:
    end = time.monotonic() + patience
    while not happens():
        assert time.monotonic() < end, f"it has not happened: {slurm and (slurm.states(), slurm.says('sinfo', '-Nl'))}"
        time.sleep(0.5)


def settings(server, *more: str) -> tuple[str, ...]:
    return ("model=gpt35", f"model.base_url={server.url}", "model.max_concurrency=2", *more)


def ended(process) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=4 * WAIT)
    return process.returncode, out, err


def array(slurm) -> str:
    """Return the number of the newest array."""
    wait_until(slurm.states)
    return str(max(int(name.partition("_")[0]) for name in slurm.states()))


def records(folder: Path) -> list[dict[str, object]]:
    """Return the records of the run in a folder, without what differs from one time to the next."""
    (file,) = folder.rglob("records.jsonl")
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    for line in lines:
        for name in ("seconds", "cached"):
            line["response"].pop(name, None)
        for message in line["request"]["messages"]:
            message.pop("text", None)  # stands where it came first
    return sorted(lines, key=lambda line: line["item"])
