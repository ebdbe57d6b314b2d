"""The page of a folder that somebody sent takes the work that its records account for, whatever its settings claim."""

from __future__ import annotations

import dataclasses
import itertools
import time
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.page_help import Page, run
from support.resealing import change

from harness.cli.own_configs import register
from harness.report import items as report_items
from harness.report.__main__ import main
from harness.report.items import SPARE
from harness.storage.rebuild import task_of
from harness.storage.runs import load
from harness.types import replace

ASKED = 20


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("made")
    run(made, "model=always_no", f"task.limit={ASKED}")
    return next(made.rglob("result.json")).parent


@given(st.sampled_from([0, 1, ASKED, ASKED + 1, 2_000, 10**6, 10**9]), st.booleans(), st.booleans())
def test_no_more_items_are_made_than_the_records_account_for(folder, claimed, complete, endless):
    """With a task that has items without end, or as many as are claimed, up to some thousands."""
    made = 0

    def items():
        nonlocal made
        for number in itertools.count() if endless else range(min(claimed, 5_000)):
            made += 1
            yield replace(first, id=f"i{number}")

    read = load(folder)
    first = next(iter(task_of(read.manifest).items()))
    manifest = replace(read.manifest, items={"count": claimed, "sha256": "0"})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(report_items.rebuild, "task_of", lambda manifest: SimpleNamespace(items=items))
        report_items.items_of(dataclasses.replace(read, manifest=manifest, complete=complete))
    assert made <= min(claimed, ASKED + SPARE) + 1


@pytest.mark.parametrize("count", [None, "20", -1, 1.5, [], {}])
def test_a_count_that_is_none_makes_no_items(folder, count):
    read = load(folder)
    manifest = replace(read.manifest, items={"count": count})
    assert not report_items.items_of(dataclasses.replace(read, manifest=manifest)).json(None)["ids"]


@pytest.mark.parametrize("claimed", [10**9, ASKED])
def test_a_manifest_that_claims_a_thousand_million_items_is_shown_in_seconds(tmp_path, claimed):
    register()
    run(tmp_path / "results", "model=ladder_reasoner", "task=cladder", f"task.limit={ASKED}")
    folder = next((tmp_path / "results").rglob("result.json")).parent
    change(folder, "manifest.json", lambda m: m["config"]["task"].update(limit=10**9))
    change(folder, "manifest.json", lambda m: m["items"].update(count=claimed))
    began = time.process_time()
    assert main([str(tmp_path / "results"), f"out={tmp_path / 'page.html'}"]) == 0
    assert time.process_time() - began < 20
    (shown,) = Page(tmp_path / "page.html").runs.values()
    assert shown["answers"]["count"] == ASKED
