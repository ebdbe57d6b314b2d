"""Scores of a file that is read in parts by processes are those of one pass, to the last digit."""

from __future__ import annotations

import os
import random

import pytest
from sklearn import metrics
from support.cache_help import ask
from support.thinned import few

from harness.errors import DataError
from harness.scoring import samples, summary
from harness.storage import record_parts, records
from harness.types import Answer, Failure, Record, Response, Usage

CLUSTERS, ITEMS = 9, 400


class Task:
    name, headline = "t", "audited"

    def summarize(self, of):
        return summary.summarize(
            of,
            headline="audited",
            orders={"size": ("small", "large")},
            unreadable="wrong",
            crossed=[("size", "kind")],
            within=lambda record: record.groups["kind"],
            unit="kinds",
        )


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
    return path


@pytest.mark.parametrize("parts", few([5, 2], 1))
def test_the_sum_of_the_parts_is_what_one_pass_comes_to(path, parts):
    one = samples.summarize(Task(), lambda: records.read(path), 1, None)
    several = samples.summarize(Task(), lambda: record_parts.RecordParts(path, parts), 1, None)
    assert several == one and one.grades and one.clusters == CLUSTERS
    assert repr(several) == repr(one)  # the order of names, and every digit


def test_each_part_is_read_in_a_process_of_its_own_and_each_line_once(path):
    pieces = record_parts.RecordParts(path, 7)
    found = [*pieces.fold(lambda part: (os.getpid(), [record.item for record in part]))]
    assert len({process for process, _ in found} - {os.getpid()}) == 7
    assert [item for _, items in found for item in items] == [f"i{item}" for item in range(ITEMS)]


@pytest.mark.slow
def test_metrics_of_probabilities_over_parts_are_scikit_learns(path):
    result = samples.summarize(Task(), lambda: record_parts.RecordParts(path, 3), 1, None)
    pairs = [
        (r.labels["audited"], r.answer.probability) for r in drawn() if r.answer and r.answer.probability is not None
    ]
    gold, p_yes = zip(*sorted(pairs, key=lambda pair: pair[::-1]), strict=True)
    assert result.overall["auroc"] == metrics.roc_auc_score(gold, p_yes)
    assert result.overall["average_precision"] == metrics.average_precision_score(gold, p_yes)
    assert result.overall["brier"] == metrics.brier_score_loss(gold, p_yes)


def test_a_line_that_is_no_record_is_named_as_in_one_pass(path, tmp_path):
    lines = path.read_bytes().splitlines(keepends=True)
    lines[300] = b"{}\n"
    spoilt = tmp_path / "records.jsonl"
    spoilt.write_bytes(b"".join(lines))
    with pytest.raises(DataError, match="line 301 is not a record"):
        samples.summarize(Task(), lambda: record_parts.RecordParts(spoilt, 4), 1, None)


def test_small_files_and_processes_with_threads_are_read_in_one_pass(path, monkeypatch):
    assert not isinstance(record_parts.read(path), record_parts.RecordParts)
    monkeypatch.setattr(record_parts, "WORTH", 1000)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1}, raising=False)
    monkeypatch.setattr(record_parts.threading, "active_count", lambda: 1)
    monkeypatch.delitem(record_parts.sys.modules, "torch", raising=False)
    assert isinstance(record_parts.read(path), record_parts.RecordParts)
    monkeypatch.setattr(record_parts.threading, "active_count", lambda: 2)
    assert not isinstance(record_parts.read(path), record_parts.RecordParts)
