"""What commands print, read as a user reads it."""

from __future__ import annotations

import subprocess


def row(output: str, name: str) -> list[str]:
    """The cells of a table's row."""
    line = next(line for line in output.splitlines() if line.startswith(f"| {name} "))
    return [value(cell) for cell in line.strip("| ").split("|")][1:]


def value(cell: str) -> str:
    """A cell without its interval."""
    return cell.partition("[")[0].strip()


def sentence(done: subprocess.CompletedProcess[str]) -> str:
    """The one line on stderr of a command that was refused."""
    lines = done.stderr.strip().splitlines()
    assert done.returncode == 1 and len(lines) == 1 and lines[0].startswith("error: "), done.stderr
    return lines[0]
