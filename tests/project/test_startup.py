"""What the commands import: seconds that every user waits for, every time."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from support.openai_server import chat_reply

PYDANTIC = {"annotated_types", "pydantic", "pydantic_core", "typing_extensions", "typing_inspection"}
HELP = PYDANTIC | {"harness", "msgspec", "yaml"}
COMPOSED = HELP | {"antlr4", "attr", "filelock", "hydra", "hydra_plugins", "omegaconf", "packaging"}
SCORING = COMPOSED | {"numpy"}
"""A run that has records needs numpy for intervals; neither scipy nor scikit-learn."""
PROGRAM = """
import gc, json, sys
before = set(sys.modules)
from harness.__main__ import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
# A start makes a hundred thousand objects that stay: by default they are looked through hundreds of times.
assert gc.get_stats()[0]["collections"] < 40 and (gc.get_freeze_count() > 0) == ("--help" not in sys.argv)
print(json.dumps(sorted(set(sys.modules) - before)), file=sys.stderr)
"""


def modules(folder, *arguments: str) -> set[str]:
    """Return the modules that a command has imported when it ends."""
    process = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments],
        cwd=folder,
        env=os.environ | {"OPENAI_API_KEY": "none"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    return set(json.loads(process.stderr.splitlines()[-1]))


def packages(names: set[str]) -> set[str]:
    """Return the packages of some modules that are neither private nor of the standard library."""
    tops = {name.partition(".")[0] for name in names} - set(sys.stdlib_module_names) - {"cython_runtime"}
    return {name for name in tops if not name.startswith("_")}


@pytest.mark.parametrize(
    "arguments", [["--help"], pytest.param([], marks=pytest.mark.slow)], ids=["--help", "the reasoner"]
)
def test_nothing_heavy_is_imported_without_need(tmp_path, monkeypatch, arguments):
    installed = tmp_path / "site" / "watcher-1.dist-info"
    installed.mkdir(parents=True)
    (installed / "METADATA").write_text("Name: watcher\nVersion: 1\n")
    (installed / "entry_points.txt").write_text("[pydantic]\nwatcher = watcher:PLUGIN\n")  # as logfire has it
    (installed.parent / "watcher.py").write_text("PLUGIN = None\n")
    monkeypatch.setenv("PYTHONPATH", str(installed.parent))
    assert packages(modules(tmp_path, *arguments)) <= (HELP if arguments else SCORING)


def test_a_run_that_the_cache_answers_imports_no_sdk_and_numpy_alone_of_the_numerical(serve, tmp_path):
    url = serve(lambda *_: chat_reply("No")).url
    asked = ["model=gpt4", f"model.base_url={url}", "task.limit=60"]  # clusters enough for intervals
    first = packages(modules(tmp_path, *asked))
    assert {"openai", "aiohttp", "httpx2"} <= first  # so the same test would see them the second time
    assert not {"anthropic", "google", "httpx", "tenacity", "scipy", "sklearn"} & first
    again = modules(tmp_path, *asked)
    assert packages(again) <= SCORING and not {"asyncio", "numpy.ma"} & again
