"""A field of a reply is one line of harness/types.py: check, file, table, page and exports follow from it."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from support.page_help import Page

import harness.types

FIELDS = """\
    tone: str = ""
    drafts: Tally | None = None
    polite: bool = False
    doubt: Probability | None = None
"""
AFTER = '    system_fingerprint: str = ""\n'
ADDED = {"tone": "calm", "drafts": 3, "polite": True, "doubt": 0.25}
PROGRAM = """
import sys, types
import harness
source, runs, out = sys.argv[1:]
module = sys.modules["harness.types"] = types.ModuleType("harness.types")
exec(compile(open(source).read(), source, "exec"), module.__dict__)
harness.types = module

from msgspec.structs import replace
from pathlib import Path
from support.compared_runs import always, put
from harness.codec import response_from_json, response_json
from harness.export import main as export
from harness.report.__main__ import main as report
from harness.storage.records import read
from harness.storage.find import find
from harness.storage.runs import load

reply = module.Response("Yes", tone="calm", drafts=3, polite=True, doubt=0.25)
plain, *others = always(1, count=3)
records = [replace(plain, response=reply), *others]
put(Path(runs), records)
assert [line.outcome for line in read(load(next(iter(find([runs])))).records_file)] == [r.outcome for r in records]
stored = response_json(reply)
assert response_from_json(stored, cached=False) == reply
damaged = {**stored, "tone": 1, "drafts": "x", "polite": 2, "doubt": 7}
assert response_from_json(damaged, cached=False) == module.Response("Yes")
assert "tone" not in response_json(module.Response("Yes"))
for target in ("csv", "inspect"):
    assert export([runs, f"to={target}", f"out={out}/{target}"]) == 0
assert report([runs, f"out={out}/page.html"]) == 0
"""


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    """Export a run whose first reply has fields that no Response has today."""
    folder = tmp_path_factory.mktemp("field")
    source = Path(harness.types.__file__).read_text(encoding="utf-8")
    assert source.count(AFTER) == 1
    (folder / "types.py").write_text(source.replace(AFTER, AFTER + FIELDS), encoding="utf-8")
    subprocess.run(
        [sys.executable, "-c", PROGRAM, folder / "types.py", folder / "runs", folder],
        check=True,
        cwd=Path(__file__).parents[1],
    )
    return folder


@pytest.mark.slow
def test_a_table_has_a_column_for_each(out):
    with (out / "csv").open(encoding="utf-8", newline="") as file:
        first, second, _ = csv.DictReader(file)
    assert {name: first[name] for name in ADDED} == {"tone": "calm", "drafts": "3", "polite": "true", "doubt": "0.25"}
    assert {second[name] for name in ADDED} == {""}


def test_the_page_shows_each(out):
    page = Page(out / "page.html")
    (run,) = page.runs.values()
    assert page.chunk(run["answers"]["answers"])["more"] == {name: [value, None, None] for name, value in ADDED.items()}


def test_the_exports_of_other_tools_carry_each(out):
    (log,) = (out / "inspect").iterdir()
    with zipfile.ZipFile(log) as archive:
        sample = json.loads(archive.read("samples/i0_epoch_1.json"))
    assert sample["scores"]["harness"]["metadata"].items() >= ADDED.items()
