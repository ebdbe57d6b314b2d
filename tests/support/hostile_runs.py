"""What a folder that anybody may have made is compared with: finished runs, and a secret outside of them."""

from __future__ import annotations

from pathlib import Path

SECRET = "the secret outside of what was sent 4711"


def place(finished_runs: Path, model: str) -> Path:
    (result,) = finished_runs.rglob(f"{model}/result.json")
    return result.parent
