"""Scores of a file that is read in parts by processes are those of one pass, to the last digit."""

from __future__ import annotations

import os
import random
import signal
import time

import pytest
from sklearn import metrics
from support.cache_help import ask
from support.parted_help import YesAndNo
from support.thinned import few

from harness.errors import DataError
from harness.scoring import samples
from harness.storage import record_parts, records
from harness.types import Answer, Failure, Record, Response, Usage

CLUSTERS, ITEMS = 9, 400


def drawn() -> list[Record]:
    draw = random.Random(3)
    made = []
    for item in range(ITEMS):
        p_yes = draw.choice([None, 0.1, 0.5, 0.5, 0.9, draw.random()])  # many equal ones
        failed = draw.random() < 0.05
        label = draw.choice([0, 1, None]) if p_yes is None else int(p_yes > 0.5)
        answer = None if failed else Answer(label, p_yes, rule=draw.choice(["", "said", "announced"]))
        text = draw.choice(["Yes.", "No, él dice", "\n"])
        outcome = Failure("timeout", "late") if failed else Response(text, usage=Usage(3, draw.randrange(9)))
        groups = {"size": draw.choice(["small", "large"]), "kind": draw.choice("abc")}
        labels = {"audited": draw.randrange(2), "original": draw.randrange(2)}
        made.append(
            Record(f"i{item}", f"c{draw.randrange(CLUSTERS)}", groups, labels, f"r{item % 97}", outcome, answer)
        )
    return made


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("run") / "records.jsonl"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = records.Writer(file, "audited")
        for record in drawn():
            writer.write(record, ask(f"{record.item}, él"))
    records.compress(path, path.with_name("records.jsonl.gz"))
    return path


@pytest.fixture
def in_parts(path, monkeypatch):
    """Have parts be a fifth of the records."""
    monkeypatch.setattr(record_parts, "PART", path.stat().st_size // 5)


@pytest.mark.usefixtures("in_parts")
@pytest.mark.parametrize(("ending", "drawn"), few([("", 1), (".gz", 1), ("", 3), (".gz", 3)], 2))
def test_the_sum_of_the_parts_is_what_one_pass_comes_to(path, ending, drawn):
    """With three samples most items are not complete: their votes come last."""
    path = path.with_name(f"{path.name}{ending}")
    one = samples.summarize(YesAndNo(), lambda: records.read(path), drawn, None)
    several = samples.summarize(YesAndNo(), lambda: record_parts.RecordParts(path, 2), drawn, None)
    assert several == one and one.grades and one.clusters == CLUSTERS
    assert repr(several) == repr(one)  # the order of names, and every digit


@pytest.mark.usefixtures("in_parts")
def test_each_part_is_read_in_a_process_of_its_own_and_each_line_once(path):
    pieces = record_parts.RecordParts(path, 2)
    found = [*pieces.fold(lambda part: (os.getpid(), [record.item for record in part]))]
    assert len({process for process, _ in found} - {os.getpid()}) == len(found) == 5
    assert [item for _, items in found for item in items] == [f"i{item}" for item in range(ITEMS)]


@pytest.mark.usefixtures("in_parts")
def test_no_more_parts_are_counted_at_once_than_there_are_cores(path, tmp_path):
    def count(part):
        (mark := tmp_path / str(os.getpid())).touch()
        at_work = len(list(tmp_path.iterdir()))
        sum(1 for _ in part)
        time.sleep(0.2)
        mark.unlink()
        return at_work

    assert max(record_parts.RecordParts(path, 2).fold(count)) <= 2


@pytest.mark.usefixtures("in_parts")
def test_a_part_whose_process_is_killed_is_counted_by_this_one(path):
    here = os.getpid()

    def count(part):
        items = [record.item for record in part]
        if "i200" in items and os.getpid() != here:
            os.kill(os.getpid(), signal.SIGKILL)
        return items

    found = [*record_parts.RecordParts(path, 2).fold(count)]
    assert [item for items in found for item in items] == [f"i{item}" for item in range(ITEMS)]


@pytest.mark.usefixtures("in_parts")
@pytest.mark.slow
def test_metrics_of_probabilities_over_parts_are_scikit_learns(path):
    result = samples.summarize(YesAndNo(), lambda: record_parts.RecordParts(path, 2), 1, None)
    pairs = [
        (r.labels["audited"], r.answer.probability) for r in drawn() if r.answer and r.answer.probability is not None
    ]
    gold, p_yes = zip(*sorted(pairs, key=lambda pair: pair[::-1]), strict=True)
    assert result.overall["auroc"] == metrics.roc_auc_score(gold, p_yes)
    assert result.overall["average_precision"] == metrics.average_precision_score(gold, p_yes)
    assert result.overall["brier"] == metrics.brier_score_loss(gold, p_yes)


@pytest.mark.usefixtures("in_parts")
def test_a_line_that_is_no_record_is_named_as_in_one_pass(path, tmp_path):
    lines = path.read_bytes().splitlines(keepends=True)
    lines[300] = b"{}\n"
    spoilt = tmp_path / "records.jsonl"
    spoilt.write_bytes(b"".join(lines))
    with pytest.raises(DataError, match="line 301 is not a record"):
        samples.summarize(YesAndNo(), lambda: record_parts.RecordParts(spoilt, 2), 1, None)


def test_a_gz_that_is_cut_off_is_named_as_in_one_pass(path, tmp_path, monkeypatch):
    monkeypatch.setattr(record_parts, "PART", 10_000)
    cut = tmp_path / "records.jsonl.gz"
    cut.write_bytes(path.with_name("records.jsonl.gz").read_bytes()[:-200])
    with pytest.raises(DataError, match=r"records\.jsonl\.gz cannot be read"):
        samples.summarize(YesAndNo(), lambda: record_parts.RecordParts(cut, 2), 1, None)


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_small_files_and_processes_with_threads_are_read_in_one_pass(path, monkeypatch, ending):
    path = path.with_name(f"{path.name}{ending}")
    assert not isinstance(record_parts.read(path), record_parts.RecordParts)
    monkeypatch.setattr(record_parts, "PART", 1000)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1}, raising=False)
    monkeypatch.setattr(record_parts.threading, "active_count", lambda: 1)
    monkeypatch.delitem(record_parts.sys.modules, "torch", raising=False)
    assert isinstance(record_parts.read(path), record_parts.RecordParts)
    monkeypatch.setattr(record_parts.threading, "active_count", lambda: 2)
    assert not isinstance(record_parts.read(path), record_parts.RecordParts)
