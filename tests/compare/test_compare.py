"""harness compare: pairing, what is told, what is written."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from omegaconf import OmegaConf
from support.compared_runs import always, put, record, right
from support.golden import assert_golden

from harness.compare import __main__ as compare
from harness.models.baselines import Baseline
from harness.prompting.prompts import load as prompt_named
from harness.run import ask
from harness.settings import build
from harness.storage.records import Writer
from harness.storage.run_folder import RECORDS, RESULT
from harness.tables.write import csv_text
from harness.types import Answer, ChatRequest, Failure, replace

ROOT = Path(__file__).parents[2]

CONFIG = OmegaConf.load("configs/task/corr2cause.yaml")


@pytest.fixture
def output_of(capsys):
    def call(*arguments):
        assert compare.main(list(arguments)) == 0, capsys.readouterr().err
        return capsys.readouterr().out

    return call


@pytest.fixture
def refused(capsys):
    def call(*arguments):
        assert compare.main(list(arguments)) == 1
        output = capsys.readouterr()
        assert output.out == "" and output.err.startswith("error: ") and output.err.count("\n") == 1
        return output.err

    return call


def by_group(output):
    return [line.split(" | ")[0].strip("| ") for line in output.split("| group")[1].splitlines()[2:] if line[:1] == "|"]


def test_groups_stand_in_the_order_that_was_given_and_f1_without_positives_is_a_dash(tmp_path, output_of):
    def answers(read):
        both = [{"relation": "z" if n % 10 < 5 else "a", "size": str(n % 2)} for n in range(100)]
        return [record(n, read(n), gold=n % 10 % 5 % 2 * (n % 10 < 5), **both[n]) for n in range(100)]

    a = put(tmp_path / "a", answers(lambda n: n % 2), model="a")
    b = put(tmp_path / "b", answers(lambda n: int(n % 3 == 0)), model="b")
    output = output_of(a, b, "by=size,relation", "items=0")
    assert by_group(output) == ["all", "size: 0", "size: 1", "relation: a", "relation: z"]
    (without,) = [line for line in output.splitlines() if line.startswith("| relation: a") and "F1" in line]
    assert [cell.strip() for cell in without.split("|")[5:11]] == ["–"] * 6
    assert by_group(output_of(a, b, "by=relation,size", "items=0"))[1:3] == ["relation: a", "relation: z"]


@pytest.mark.parametrize("clusters", [2, 3, 5, 20])
@pytest.mark.parametrize("differing", [1, 2, 4])
def test_of_few_clusters_that_differ_the_verdict_is_that_they_are_too_few(tmp_path, output_of, clusters, differing):
    def answers(wrong):
        return [
            record(n, (n + (wrong and n // 10 < differing)) % 2, gold=n % 2, cluster=f"c{n // 10}")
            for n in range(10 * clusters)
        ]

    a, b = (put(tmp_path / name, answers(wrong), model=name) for name, wrong in (("a", False), ("b", True)))
    output = output_of(a, b, "items=0")
    assert "too few clusters to tell" in output and "more than chance" not in output


def test_comparisons_in_words_and_tables(tmp_path, output_of):
    a = put(tmp_path / "a", always(1, span="yes"), model="yes")
    b = put(tmp_path / "b", right(span="so"), model="wise")
    assert_golden("compare.md", output_of(a, b, "items=3", "margin=3", f"out={tmp_path / 'c.md'}"))
    text = (tmp_path / "c.md").read_text(encoding="utf-8")
    assert text == f"# Comparison\n\n{output_of(a, b, 'items=3', 'margin=3')}"
    groups = [{"relation": name} for name in ("parent", "child")]
    c = put(tmp_path / "c", [record(n, n % 2, **groups[n % 2]) for n in range(100)], model="odd")
    d = put(tmp_path / "d", [record(n, 1, **groups[n % 2]) for n in range(100)], model="d")
    assert_golden("compare_all.md", output_of(c, d, b, "by=relation", "items=0", "pairs=all", "metrics=f1,accuracy"))


def test_perturbations_pair_by_hypothesis(tmp_path, output_of):
    folders = []
    for perturbation in ("none", "permutation", "refactorization"):
        section = OmegaConf.to_container(CONFIG) | {"perturbation": perturbation}
        task = build(section, "task")
        answers = ask(task.items(), prompt_named("corr2cause", "plain", ()), Baseline("b", 0.5), ChatRequest)
        folders.append(put(tmp_path / perturbation, [*answers], variant=perturbation))
    text = output_of(*folders, "items=0", "out=" + str(tmp_path / "all.json"))
    table = json.loads((tmp_path / "all.json").read_text())["tables"][0]
    assert [(row["items"], row["clusters"]) for row in table["rows"]] == [(1162, 21)] * 2
    assert "permutation" in text and "refactorization" in text


def test_a_failed_item_counts_for_neither(tmp_path, output_of):
    records = right()
    records[3:5] = (record(place, Failure("timeout", "")) for place in (3, 4))
    a, b = put(tmp_path / "a", records, model="a", complete=False), put(tmp_path / "b", always(0, 110), model="b")
    text = output_of(a, b, "metrics=accuracy")
    assert "98 items" in text and "10 in b only, 2 failed in one of them or both" in text
    assert "a is not complete." in text and "| accuracy | 100.00 | 66.33 |" in text


@pytest.mark.parametrize(("setting", "accuracy"), [("wrong", "50.00"), ("no", "83.00")])
def test_unreadable_replies_count_as_the_run_says(tmp_path, output_of, setting, accuracy):
    records = [record(n, None if n % 2 else int(n % 3 == 0), span="?") for n in range(100)]
    a = put(tmp_path / "a", records, model="a", unreadable=setting)
    b = put(tmp_path / "b", right(), model="b")
    text = output_of(a, b, "metrics=accuracy", "items=1")
    assert f"| accuracy | {accuracy} | 100.00 |" in text
    assert "50 replies of a could not be read and count as" in text
    assert "| i1   | No   | unreadable | No | ?" in text


def test_holm_is_over_all_p_values_of_the_call(tmp_path, output_of):
    a = put(tmp_path / "a", always(1), model="a")
    b = put(tmp_path / "b", right(), model="b")
    out = tmp_path / "c.csv"
    output_of(a, b, "metrics=f1,accuracy", f"out={out}")
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert [row["metric"] for row in rows] == ["f1", "accuracy"]
    assert [float(row["p_holm"]) for row in rows] == pytest.approx([2 * float(row["p"]) for row in rows])


def test_one_cluster(tmp_path, output_of):
    a = put(tmp_path / "a", always(1, cluster="c"), model="a")
    b = put(tmp_path / "b", right(cluster="c"), model="b")
    text = output_of(a, b)
    assert "in 1 cluster," in text and "One cluster: no interval and no test" in text
    (line,) = (line for line in text.splitlines() if line.startswith("| F1"))
    assert [cell.strip() for cell in line.split("|")[2:-1]] == ["50.75", "100.00", "+49.25", "–", "–"]
    assert "etectable:" not in text


def test_within_one_network_the_pair_of_variables_is_the_cluster(tmp_path, output_of):
    def with_units(answer):
        names = [f"{a} -> {b}" for a in "uvwxyz" for b in "uvwxyz" if a != b]
        records = [record(n, answer(n), cluster="asia") for n in range(len(names))]
        return [replace(answer_record, unit=name) for answer_record, name in zip(records, names, strict=True)]

    a = put(tmp_path / "a", with_units(lambda n: 1), model="a")
    b = put(tmp_path / "b", with_units(lambda n: int(n % 3 == 0)), model="b")
    text = output_of(a, b)
    assert "30 items of corr2cause in 15 pairs of variables" in text
    assert "draw and swap whole pairs of variables" in text


def test_the_documents_show_what_is_printed(harness):
    """The command of docs/results.md, over the runs that ship."""
    page = (ROOT / "docs/results.md").read_text(encoding="utf-8")
    command = page.split("harness compare ")[1].split("```")[0].replace("\\\n", " ").split()
    folders = [str(ROOT / word) if word.startswith("results/") else word for word in command]
    assert harness(*folders, module="harness.compare").stdout in page


def test_label_sets(tmp_path, output_of, refused):
    def labelled(published, audited):
        return [record(n, 1, labels={"published": published, "audited": audited}) for n in range(20)]

    a = put(tmp_path / "a", labelled(1, 0), model="a")
    b = put(tmp_path / "b", labelled(1, 0), model="b", headline="audited")
    c = put(tmp_path / "c", labelled(0, 0), model="c")
    assert "choose one with labels= (published, audited)" in refused(a, b)
    assert "audited labels." in output_of(a, b, "labels=audited")
    assert "20 of 20 shared items have another published label" in refused(a, c)
    assert "audited labels." in output_of(a, c, "labels=audited")
    assert "did you mean 'audited'" in refused(a, c, "labels=audit")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "two runs or more"),
        (["a"], "two runs or more"),
        (["a", "a"], "twice"),
        (["a", "nowhere"], "there is no folder nowhere"),
        (["a", "b", "metrics=f2"], "There are accuracy, f1, precision, recall"),
        (["a", "b", "by=relatoin"], "did you mean 'relation'"),
        (["a", "b", "item=3"], "did you mean 'items'"),
        (["a", "b", "out=x.xlsx"], ".md, .csv, .json, .tex"),
        (["a", "b", "out=torn/manifest.json/x.json"], "manifest.json is no folder): choose another out=."),
        (["a", "torn"], "line 1 is not a record"),
        (["a", "empty"], "holds no records"),
        (["a", "bare"], "git leaves most of them out"),
        (["a", "running"], "its command makes them again"),
        (["a", "."], "holds 9 runs: give the folder of one, such as a."),
        (["a", "later"], "share 5 items of 20 and 20: too few to pair"),
        (["a", "late"], "no item that both answered: 20 failed"),
        (["a", "not.jsonl.gz"], "there is no folder not.jsonl.gz"),
        (["a", "other"], "is a run of corr2cause, other of"),
    ],
)
def test_mistakes_are_one_sentence(tmp_path, monkeypatch, refused, arguments, message):
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b", "torn", "empty", "bare", "running", "other"):
        put(tmp_path / name, right(20), model=name)
    put(tmp_path / "later", right(35)[15:], model="later")
    put(tmp_path / "late", always(Failure("timeout", ""), 20), model="late")
    (tmp_path / "torn" / RECORDS).write_text('{"item": "i1"\n')
    (tmp_path / "empty" / RECORDS).write_text("")
    (tmp_path / "bare" / RECORDS).unlink()
    (tmp_path / "running" / RECORDS).rename(tmp_path / "running" / "records.partial.jsonl")
    (tmp_path / "not.jsonl.gz").write_text("plain")
    result = tmp_path / "other" / RESULT
    other = result.read_text().replace('"corr2cause"', '"causalbench/cot"')
    result.write_text(other.replace('"published"', '"exact"'))  # which a choice of labels would not mend
    assert message in refused(*arguments)


def test_runs_with_several_answers_an_item_are_compared_by_their_votes(tmp_path, output_of):
    draws = [replace(record, sample=k, answer=Answer(1 if k < 2 else 0)) for record in always(1) for k in range(3)]
    folder = put(tmp_path / "drawn", always(1), model="drawn", samples=3)
    with (tmp_path / "drawn" / RECORDS).open("w", encoding="utf-8") as file:
        writer = Writer(file, "published")
        for record in draws:
            writer.write(record)
    assert "gave the same answer to every item" in output_of(folder, put(tmp_path / "b", always(1), model="b"))


def test_no_spreadsheet_runs_a_name():
    text = csv_text(["run_a", "@group"], [{"run_a": "=1+1", "@group": "-2"}, {"run_a": "plain", "@group": -2}])
    assert text == "run_a,'@group\n'=1+1,'-2\nplain,-2\n"


def test_a_run_that_was_read_by_other_rules_is_named_with_the_command(tmp_path, output_of):
    today, older = put(tmp_path / "a", right()), put(tmp_path / "b", always(1), model="n", today=False)
    command = f"harness reread {older} reads it again."
    assert f"1 of the 2 runs was read by other rules than today's: {command}" in output_of(today, older)
    assert "other rules" not in output_of(today, put(tmp_path / "c", always(1), model="o"))
