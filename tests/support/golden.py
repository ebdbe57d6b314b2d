"""Whole outputs, as files in tests/data/golden: `GOLDEN=write` in the environment writes them anew, for git to show."""

import os
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "data" / "golden"


def assert_golden(name: str, text: str) -> None:
    """Assert that a text is what the file of that name holds."""
    file = FOLDER / name
    if os.environ.get("GOLDEN") == "write":
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="")
    assert text == file.read_bytes().decode()
