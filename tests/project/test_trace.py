"""Through how many files one command goes: those with a function that is called, imports left out.

Lowered, never raised: whoever has to know a file to follow a request has to read it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from support.openai_server import KEY

ROOT = Path(__file__).resolve().parents[2]
TRACED = """
import atexit, json, sys, threading
from harness.__main__ import main
home, *sys.argv[1:] = sys.argv[1:]
files = set()
def note(frame, event, _):
    file = frame.f_code.co_filename
    if event != "call" or not file.startswith(home) or file in files:
        return
    while frame is not None:  # what is called while a file is imported is no step
        if frame.f_code.co_filename.startswith(home) and frame.f_code.co_name == "<module>":
            return
        frame = frame.f_back
    files.add(file)
def leave():
    sys.setprofile(None)
    with open("trace.json", "w") as stream:
        json.dump(sorted(file[len(home) + 1:] for file in files), stream)
atexit.register(leave)
threading.setprofile(note)
sys.setprofile(note)
main()
"""
REQUEST, LEADERBOARD = 78, 27
"""Files of one request of an API model, and of a leaderboard."""


def files_of(folder: Path, *arguments: str) -> list[str]:
    """Return the files of harness/ in which a command calls a function."""
    command = [sys.executable, "-c", TRACED, str(ROOT / "harness"), *arguments]
    done = subprocess.run(command, cwd=folder, env=os.environ | {"OPENAI_API_KEY": KEY}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "trace.json").read_text())


def test_a_request_and_a_leaderboard_go_through_few_files(serve, tmp_path):
    server = serve()
    files = files_of(tmp_path, "model=gpt4o", f"model.base_url={server.url}", "task.limit=1")
    assert len(server.calls) == 1 and len(files) <= REQUEST, "\n".join([str(len(files)), *files])
    files = files_of(tmp_path, "leaderboard")
    assert len(files) <= LEADERBOARD, "\n".join([str(len(files)), *files])
