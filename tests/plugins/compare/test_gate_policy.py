"""harness gate: verdicts and exit codes, what is named, mistakes in a policy."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from support.compared_runs import put, record
from support.late import Late
from support.thinned import few
from support.written_runs import write_manifest

from harness.plugins.compare import gate
from harness.plugins.compare.paired import one_sided
from harness.storage.runs import load
from harness.types import Failure

stats = Late("scipy.stats")

CLUSTERS = 20
WRONG = Failure("server", "500")


def run(folder, model, wrong, *, failed=(), per_cluster=10, variant="default", complete=True, **task):
    """Write a complete run: in each cluster as many wrong answers as `wrong` has; `failed` are numbers of items."""
    records = []
    for cluster, lost in enumerate(wrong):
        for k in range(per_cluster):
            number, gold = cluster * per_cluster + k, int(k % 3 == 0)
            answer = WRONG if number in failed else 1 - gold if k < lost else gold
            records.append(record(number, answer, gold=gold, cluster=f"c{cluster}"))
    path = Path(put(folder / variant / model, records, model=model, variant=variant, complete=complete, **task))
    written = load(path)
    write_manifest(path, written.place, written.result, complete=complete, items="a" * 64, configuration={"task": task})
    return str(path)


def policy(folder, *benchmarks, **more):
    usual = {"task": "corr2cause", "metric": "accuracy", "margin": 5}
    file = folder / "policy.yaml"
    file.write_text(yaml.safe_dump({"benchmarks": [usual | each for each in benchmarks or ({},)], **more}))
    return str(file)


@pytest.fixture
def judged(tmp_path, capsys):
    """Return a function that gives (exit code, output) of baseline "old" and candidate "new" below a folder."""

    def call(*benchmarks, options=(), **more):
        file = policy(tmp_path, *benchmarks, **more)
        code = gate.main(["old", "new", file, f"results={tmp_path}", *options])
        output = capsys.readouterr()
        assert output.err == ""
        return code, output.out

    return call


@pytest.fixture
def refused(capsys):
    def call(*arguments):
        assert gate.main([str(argument) for argument in arguments]) == 1
        output = capsys.readouterr()
        assert output.out == "" and output.err.startswith("error: ") and output.err.count("\n") == 1
        return output.err

    return call


ONE_TWO = [1, 2] * 10
VERDICTS = {
    "better": ([2, 3] * 10, ONE_TWO, 0, "GO"),
    "much worse": (ONE_TWO, [4, 5] * 10, 2, "NO-GO"),
    "a little worse, nobody knows": (ONE_TWO, [1, 3] * 9 + [0, 5], 3, "NOT ENOUGH EVIDENCE"),
    "worse in one cluster": ([1] * 20, [1] * 19 + [9], 3, "NOT ENOUGH EVIDENCE"),
    "the same answers": (ONE_TWO, ONE_TWO, 0, "GO"),
}


@pytest.mark.parametrize("name", VERDICTS)
def test_a_verdict_and_its_exit_code(tmp_path, judged, name):
    old, new, code, verdict = VERDICTS[name]
    run(tmp_path, "old", old)
    run(tmp_path, "new", new)
    got, text = judged()
    assert (got, text.partition(":")[0]) == (code, verdict), text
    assert text.count(f"| {verdict} |") + text.count(f" {verdict} |\n") >= 1


def test_the_bounds_are_those_of_t_with_one_more_cluster_as_bad_as_the_worst():
    random = np.random.default_rng(0)
    cells = np.zeros((CLUSTERS, 2, 2, 2), int)
    cells[:, 1] = random.multinomial(50, [0.1, 0.15, 0.2, 0.55], CLUSTERS).reshape(-1, 2, 2)
    apart = (cells[:, 1, 0, 1] - cells[:, 1, 1, 0]) / 50
    spread = one_sided(cells, (), "accuracy")
    for extreme, alternative, bound in ((min, "greater", spread.low(0.05)), (max, "less", spread.high(0.05))):
        theirs = stats.ttest_1samp([*apart, extreme(apart)], 0, alternative=alternative).confidence_interval(0.95)
        assert bound == pytest.approx(theirs.low if alternative == "greater" else theirs.high)


CELLS = st.lists(st.lists(st.integers(0, 9), min_size=8, max_size=8), min_size=6, max_size=12)


@given(cells=CELLS, metric=st.sampled_from(["f1", "accuracy", "recall"]))
@settings(max_examples=60, deadline=None)
def test_swapped_runs_have_the_bounds_reversed_so_that_both_never_get_go_at_margin_0(cells, metric):
    table = np.array(cells).reshape(-1, 2, 2, 2)
    here, reversed_ = (one_sided(each, (), metric) for each in (table, table.transpose(0, 1, 3, 2)))
    assert (here is None) == (reversed_ is None)
    if here:
        assert here.low(0.05) == pytest.approx(-reversed_.high(0.05))
        assert here.low(0.05) <= here.value <= here.high(0.05)
        assert not (here.low(0.05) > 0 and reversed_.low(0.05) > 0)


@given(cells=CELLS, margins=st.lists(st.floats(0, 100), min_size=2, max_size=2), error=st.floats(0.001, 0.4))
@settings(max_examples=60, deadline=None)
def test_a_wider_margin_never_has_a_worse_verdict_and_never_needs_more_clusters(cells, margins, error):
    spread = one_sided(np.array(cells).reshape(-1, 2, 2, 2), (), "accuracy")
    if spread is None:
        return
    ends = spread.low(error), spread.high(error)
    order = ["NO-GO", "NOT ENOUGH EVIDENCE", "GO"]
    verdicts = [
        gate.Judged(gate.Benchmark("t", "accuracy", margin), (), 1, spread, *ends, ()).verdict  # type: ignore[arg-type]
        for margin in sorted(margins)
    ]
    assert order.index(verdicts[0]) <= order.index(verdicts[1])
    needed = [spread.clusters_for(margin / 100, error, spread.worst) or 10**9 for margin in sorted(margins)]
    assert needed[0] >= needed[1]


def test_each_benchmark_has_to_hold_and_one_that_is_worse_decides(tmp_path, judged):
    for variant, new in (("default", ONE_TWO), ("perturbation=permutation", [4, 5] * 10)):
        run(tmp_path, "old", ONE_TWO, variant=variant)
        run(tmp_path, "new", new, variant=variant)
    both = ({}, {"variant": "perturbation=permutation"})
    assert judged(*both)[0] == 2
    assert judged({}, {"variant": "perturbation=permutation", "margin": 40})[0] == 0
    half = json.loads(judged(*both, options=["format=json"])[1])["benchmarks"][1]
    whole = json.loads(judged(both[1], options=["format=json"])[1])["benchmarks"][0]
    assert half["low"] == whole["low"] and half["high"] > whole["high"]  # NO-GO has half of the error each


def test_failed_calls_count_against_go_and_against_no_go(tmp_path, judged):
    """The bounds are those of the worst answers that the failed calls could have had, and of the best."""
    failed = range(100, 140)
    run(tmp_path / "seen", "old", ONE_TWO)
    run(tmp_path / "seen", "new", ONE_TWO, failed=failed)
    run(tmp_path / "worst", "new", ONE_TWO[:10] + [10] * 4 + ONE_TWO[14:])
    run(tmp_path / "best", "new", ONE_TWO[:10] + [0] * 4 + ONE_TWO[14:])
    shown = {}
    for name in ("seen", "worst", "best"):
        arguments = [tmp_path / "seen/default/old", tmp_path / f"{name}/default/new", policy(tmp_path)]
        gate.main([*map(str, arguments), f"out={tmp_path / name}.json"])
        shown[name] = json.loads((tmp_path / f"{name}.json").read_text())["benchmarks"][0]
    assert shown["seen"]["low"] == shown["worst"]["low"] and shown["seen"]["high"] == shown["best"]["high"]
    assert shown["seen"]["difference"] == 0 and shown["seen"]["verdict"] == "NOT ENOUGH EVIDENCE"
    assert any("40 failed" in note for note in shown["seen"]["notes"])


def test_items_of_one_run_only_are_named(tmp_path, judged):
    run(tmp_path, "old", ONE_TWO)
    run(tmp_path, "new", ONE_TWO[:15])
    assert "share 150 answered items; 50 items are in old only" in judged()[1]


def test_a_run_that_is_not_complete_is_no_evidence(tmp_path, judged):
    run(tmp_path, "old", [4] * 20)
    run(tmp_path, "new", ONE_TWO, complete=False)
    code, text = judged()
    assert code == 3 and "new is not complete: harness model=new task=corr2cause prompt=plain goes on." in text
    assert "more clusters" not in text


def test_how_many_calls_would_settle_it_and_whether_there_are_as_many(tmp_path, judged):
    run(tmp_path, "old", ONE_TWO)
    run(tmp_path, "new", [1, 3] * 9 + [0, 5])
    text = judged()[1]
    assert "more clusters of 10 items" in text and "calls, settle it if there is none" in text
    assert "no task.limit= holds back items" in text
    run(tmp_path / "limited", "old", ONE_TWO, limit=200, variant="limit=200")
    run(tmp_path / "limited", "new", [1, 3] * 9 + [0, 5], limit=200, variant="limit=200")
    assert "holds back" not in judged({"variant": "limit=200"})[1]


def test_few_clusters_are_no_evidence(tmp_path, judged):
    run(tmp_path, "old", [0] * 5, per_cluster=100)
    run(tmp_path, "new", [0] * 5, per_cluster=100)
    code, text = judged()
    assert code == 3 and "Fewer than 6 clusters" in text


def test_markdown_has_the_verdict_first_aligned_columns_and_the_policy(tmp_path, judged):
    run(tmp_path, "old", ONE_TWO)
    run(tmp_path, "new", [4, 5] * 10)
    code, text = judged({}, {"metric": "f1", "margin": 1}, options=["format=markdown", f"out={tmp_path / 'x.md'}"])
    assert code == 2 and text.startswith("## NO-GO: new against the baseline old\n")
    rows = [line for line in text.splitlines() if line.startswith("|")]
    bars = [[place for place, sign in enumerate(line) if sign == "|"] for line in rows]
    assert len(rows) == 4 and all(each == bars[0] for each in bars)
    fenced = yaml.safe_load(text.split("```yaml\n")[1].split("```")[0])
    assert [each["margin"] for each in fenced["benchmarks"]] == [5, 1] and fenced["error"] == 0.05
    assert (tmp_path / "x.md").read_text() == text


def test_exit_codes_of_a_process(tmp_path, harness):
    run(tmp_path / "results", "old", ONE_TWO)
    run(tmp_path / "results", "worse", [4, 5] * 10)
    run(tmp_path / "results", "unclear", [1, 3] * 9 + [0, 5])
    policy(tmp_path)
    codes = {
        names: harness(*names.split(), "policy.yaml", module="harness.gate").returncode
        for names in ("worse old", "old worse", "old unclear", "old nobody")
    }
    assert codes == {"worse old": 0, "old worse": 2, "old unclear": 3, "old nobody": 1}


MISTAKES = {
    "- task: x": "has no list of benchmarks",
    "benchmarks: []": "has no list of benchmarks",
    "benchmarks: [corr2cause]": "benchmark 1: write task:, metric: and margin:",
    "benchmarks: [{task: x, metric: f1}]": "benchmark 1: margin has to be given.",
    "benchmarks: [{task: x, metric: f1, margins: 3}]": "there is no setting 'margins' (did you mean 'margin'?)",
    "benchmarks: [{task: x, metric: f1, margin: 3%}]": "benchmark 1: margin=3%: input should be a valid number",
    "benchmarks: [{task: x, metric: f1, margin: -3}]": "benchmark 1: margin=-3: ",
    "benchmarks: [{task: x, metric: f1, margin: .nan}]": "benchmark 1: margin=nan: ",
    "benchmarks: [{task: x, metric: f1, margin: 3, labels: [a]}]": "benchmark 1: labels=['a']: ",
    "{benchmarks: [{task: x, metric: f1, margin: 3}], alpha: 0.1}": "there is no setting 'alpha'",
    "{benchmarks: [{task: x, metric: f1, margin: 3}], error: 0.5}": "error=0.5: ",
    "benchmarks: [{task: x, metric: f1, margin: 3}, {task: x, metric: f1, margin: 2}]": "has x twice",
    "benchmarks: [": "is not YAML",
    "benchmarks: [{task: corr2cause, metric: acuracy, margin: 3}]": "'acuracy' (did you mean 'accuracy'?)",
    "benchmarks: [{task: corr2cause, metric: f1, margin: 3, labels: exact}]": "there is no label set",
}


@pytest.mark.parametrize("text", few(MISTAKES, 6))
def test_each_mistake_in_a_policy_gets_a_sentence(tmp_path, refused, text):
    for name in ("old", "new"):
        run(tmp_path, name, ONE_TWO)
    (tmp_path / "policy.yaml").write_text(text)
    assert MISTAKES[text] in refused("old", "new", tmp_path / "policy.yaml", f"results={tmp_path}")


def test_a_run_that_is_missing_or_there_twice(tmp_path, refused):
    old = run(tmp_path, "old", ONE_TWO)
    run(tmp_path, "old", ONE_TWO, variant="limit=20", limit=20)
    new = run(tmp_path, "new", ONE_TWO)
    place = f"results={tmp_path}"
    limited = policy(tmp_path, {"variant": "limit=20", "prompt": "plain"})
    missing = refused("old", "new", limited, place)
    assert "harness model=new task=corr2cause prompt=plain task.limit=20 makes" in missing
    assert "did you mean 'new'" in refused("old", "nwe", policy(tmp_path), place)
    assert "several runs of corr2cause (plain/new, plain/old): a folder says" in refused(
        "old", tmp_path, policy(tmp_path), place
    )
    assert "is the baseline's run and the candidate's" in refused("old", old, policy(tmp_path), place)
    assert "cannot be read" in refused(old, new, tmp_path / "no.yaml")
    assert "give a baseline, a candidate and a policy" in refused(old, new)
    assert "has to end in .md or .json" in refused(old, new, policy(tmp_path), "out=x.csv")


def test_the_example_of_the_help_is_a_policy(tmp_path):
    example = gate.HELP.split("A policy, complete:\n")[1].split("\nGO:")[0]
    (tmp_path / "p.yaml").write_text(example)
    read = gate.read_policy(str(tmp_path / "p.yaml"))
    assert [(each.metric, each.margin) for each in read.benchmarks] == [("f1", 3), ("accuracy", 2)]
    fields = {name for each in read.benchmarks for name in gate._without_empty(each)}
    assert fields == set(gate.Benchmark.__dataclass_fields__) and read.error == 0.05


def test_no_more_calls_are_told_where_as_many_as_there_are_would_do(tmp_path, judged):
    """The difference seen is just inside of the margin: had there been none, these clusters would have shown it."""
    run(tmp_path, "old", [1] * 20)
    run(tmp_path, "new", ONE_TWO)
    code, text = judged({"margin": 5.5})
    assert code == 3 and "if the true difference is the one seen (−5.00)" in text and "if there is none" not in text
    assert "no number of calls would settle it" in judged({"margin": 5})[1]


@pytest.mark.parametrize(("metric", "sign"), [("mae", -1), ("ap_all", 1)])
def test_of_a_measure_of_items_the_better_end_is_the_metrics_own(metric, sign):
    """Means of each run's numbers over the items that have one in both, whole clusters left out in turn."""
    random = np.random.default_rng(0)
    worths = [[({metric: a}, {metric: a + 0.1 * b}) for a, b in random.random((5, 2))] for _ in range(8)]
    spread = one_sided(np.zeros((8, 2, 2, 2), int), worths, metric)
    apart = np.array([np.mean([b[metric] - a[metric] for a, b in items]) for items in worths])
    assert spread.value == pytest.approx(sign * apart.mean())
    assert spread.deviation == pytest.approx(apart.std(ddof=1))
    assert spread.worst == pytest.approx(spread.value - min(sign * apart))
