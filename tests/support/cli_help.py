"""What commands print, read as a user reads it."""

from __future__ import annotations

import re
import subprocess


def row(output: str, name: str) -> list[str]:
    """Return the cells of a table's row."""
    line = next(line for line in output.splitlines() if line.startswith(f"| {name} "))
    return [value(cell) for cell in line.strip("| ").split("|")][1:]


def value(cell: str) -> str:
    """Return a cell without its interval."""
    return cell.partition("[")[0].strip()


def sentence(process: subprocess.CompletedProcess[str]) -> str:
    """Return the one line on stderr of a command that was refused; on a busy machine, after calls are said to wait."""
    lines = [line for line in process.stderr.strip().splitlines() if not re.search(r": \d+ calls? waits?: ", line)]
    assert process.returncode == 1 and len(lines) == 1 and lines[0].startswith("error: "), process.stderr
    return lines[0]
