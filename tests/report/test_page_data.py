"""What is in a page: everything that the records say, and nothing of it as markup."""

from __future__ import annotations

import gzip
import json
import shutil

import pytest
from support.openai_server import Server, chat_reply, error
from support.page_help import Page, run, unpacked
from support.written_runs import put, scores

from harness.report.__main__ import MANIFEST_PARTS, main
from harness.storage.manifest import Manifest

HOSTILE = (
    "</script><script>window.owned = 1</script> <!--\nYes",
    "<img src=x onerror=alert(1)> \u2028 \u2029 \u202eesrever\u202c \x00 {{data}}\nNo",
    "]]> &lt; `${x}` \\u003c/script> é 🙂\nYes",
)
ITEMS = 24


def answer(path, body, number):
    question = body["messages"][-1]["content"]
    if len(question) % 7 == 0:
        return error(400, "The </script> prompt was filtered.", "content_filter")
    return chat_reply("perhaps" if len(question) % 7 == 1 else HOSTILE[len(question) % 3])


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Two API models, a baseline with compressed records, the reasoner on audited labels, one run cut short, one
    without its records, and a network."""
    folder, limit = tmp_path_factory.mktemp("results"), f"task.limit={ITEMS}"
    server = Server(answer)
    stopped = Server(lambda path, body, number: chat_reply("No") if number < 5 else error(401, "no"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", "unused")
        for name, url in (("<b>a", server.url), ("org/b", server.url), ("stopped", stopped.url)):
            run(
                folder,
                "model=openai",
                "model.model=m",
                f'model.name="{name}"',
                f"model.base_url={url}",
                "model.price.input=2.5",
                "model.price.output=10",
                limit,
            )
    server.close()
    stopped.close()
    run(folder, "model=always_no", limit)
    run(folder, "model=reasoner", limit, "task.labels=audited")
    run(folder, "model=random_uniform", limit)
    run(folder, "model=random_uniform", "task=causalbench/causality", "task.networks=[cancer]", "task.limit=30")
    plain = next(folder.glob("corr2cause/*/plain/always_no/records.jsonl"))
    plain.with_name("records.jsonl.gz").write_bytes(gzip.compress(plain.read_bytes()))
    plain.unlink()
    next(folder.glob("corr2cause/*/plain/random_uniform/records.jsonl")).unlink()
    return folder


@pytest.fixture(scope="module")
def page(results, tmp_path_factory):
    out = tmp_path_factory.mktemp("page") / "report.html"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("harness.report.__main__.TITLE", "</title><script>x()</script>")
        assert main([str(results), f"out={out}"]) == 0
    return Page(out)


def find(page, model, task="corr2cause"):
    return next(run for run in page.runs.values() if run["model"] == model and run["task"] == task)


def lines(results, place):
    file = next(results.glob(f"{place}/records.jsonl*"))
    with gzip.open(file, "rt") if file.suffix == ".gz" else file.open() as records:
        return [json.loads(line) for line in records]


@pytest.mark.parametrize(
    ("model", "place"),
    [
        ("<b>a", "corr2cause/*/*/-b-a"),
        ("stopped", "corr2cause/*/*/stopped"),
        ("always_no", "corr2cause/*/*/always_no"),
        ("reasoner", "corr2cause/*/*/reasoner"),
        ("random_uniform", "causalbench/causality/*/*/random_uniform"),
    ],
)
def test_every_record_is_in_the_page(page, results, model, place):
    run = find(page, model, "causalbench/causality" if place.startswith("causal") else "corr2cause")
    items, answers = (page.chunk(run["answers"][name]) for name in ("items", "answers"))
    prompts = page.chunk(run["answers"]["prompts"])
    rows = {(items["ids"][item], 0): row for row, item in enumerate(answers["item"])}
    records = lines(results, place)
    texts = {}  # a text stands in full where it comes first
    assert len(rows) == len(records) == run["answers"]["count"]
    for line in records:
        row = rows[line["item"], line["sample"]]
        item = answers["item"][row]
        at = {name: column[row] for name, column in answers.items() if isinstance(column, list)}
        assert at.get("failure") == line.get("failure")
        if "response" in line:
            assert at["reply"] == line["response"]["text"]
            assert at["read"] == line["answer"]["label"] and at["span"] == line["answer"]["span"]
            right = line["answer"]["label"] == line["gold"]
            assert at["right"] is right
        assert {name: column[item] for name, column in items["labels"].items()} == line["labels"]
        assert items["labels"][items["headline"]][item] == line["gold"]
        assert items["clusters"][item] == line["cluster"]
        for name, column in items["groups"].items():
            assert column["names"][column["codes"][item]] == line["groups"][name]
        texts |= {message["sha256"]: message["text"] for message in line["request"]["messages"] if "text" in message}
        messages = [[message["role"], texts[message["sha256"]]] for message in line["request"]["messages"]]
        assert [[role, prompts["texts"][text]] for role, text in prompts["messages"][item]] == messages
        assert items["words"][item].removesuffix(".") in messages[-1][1]


def test_a_run_brings_each_part_of_its_manifest_that_the_page_shows(page):
    assert set(MANIFEST_PARTS) <= set(Manifest.__struct_fields__)
    assert set(find(page, "<b>a")["manifest"]) == set(MANIFEST_PARTS)


def test_runs_share_what_they_have_in_common(page):
    a, b, no, audited = (find(page, name)["answers"] for name in ("<b>a", "org/b", "always_no", "reasoner"))
    assert a["items"] == b["items"] == no["items"] != audited["items"]
    assert a["prompts"] == b["prompts"]
    assert page.chunk(a["items"])["classes"] == page.chunk(audited["items"])["classes"]
    assert page.chunk(audited["items"])["headline"] == "audited"


def test_runs_without_records_and_incomplete_ones_are_told_as_such(page):
    without, stopped = find(page, "random_uniform"), find(page, "stopped")
    assert without["answers"] is None and "command of its run makes them again" in without["no_answers"]
    assert stopped["complete"] is False and stopped["answers"]["count"] > 0
    *tables, by_task = page.data["tables"]
    ranked = [row["run"] for table in tables for row in table["rows"]]
    assert sorted([*ranked, stopped["id"]]) == sorted(page.runs)
    assert by_task["task"] == "All benchmarks" and {row["run"] for row in by_task["rows"]} < set(ranked)
    assert {run["role"] for run in page.runs.values()} == {"model", "baseline", "solver"}


def test_no_reply_is_markup_or_even_readable_in_the_file(page):
    assert not any(part in page.text for part in (*HOSTILE, "window.owned", "onerror=alert", "esrever", "{{"))
    assert "perhaps" not in page.text and "<b>a" not in page.text and "\x00" not in page.text
    head = ["html", "head", "meta", "meta", "meta", "meta", "title", "style"]
    body = ["body", "a", "header", "p", "a", "nav", "ul", "main", "p", "footer", "div"]
    scripts = ["script"] * (1 + len(page.packed) + 1)
    assert page.tags == head + body + scripts
    assert [script.get("type") for script in page.scripts] == ["text/plain"] * (1 + len(page.packed)) + [None]
    assert page.data["title"] == "</title><script>x()</script>"


def test_graphs_tell_what_was_not_asked(page):
    graphs = find(page, "random_uniform", "causalbench/causality")["graphs"]
    assert graphs["networks"] == ["cancer"]
    cancer = page.chunk(graphs["chunk"])["networks"]["cancer"]
    assert len(cancer["nodes"]) == 5 and len(cancer["edges"]) == 4
    lost = [edge[2] for template in cancer["templates"].values() for edge in template["lost"]]
    assert lost and set(lost) == {"not asked"}


def test_a_task_that_cannot_be_made_again_is_told_by_the_records(results, tmp_path):
    shutil.copytree(next(results.glob("corr2cause/*/*/org__b")), tmp_path / "r" / "b")
    manifest = tmp_path / "r" / "b" / "manifest.json"
    content = json.loads(manifest.read_text())
    content["config"]["task"] |= {"source": "hub"}
    manifest.write_text(json.dumps(content))
    assert main([str(tmp_path / "r"), f"out={tmp_path}/x.html"]) == 0
    page = Page(tmp_path / "x.html")
    items = page.chunk(find(page, "org/b")["answers"]["items"])
    assert len(items["ids"]) == ITEMS and items["classes"] is None
    assert all("closed system" in words for words in items["words"])


def test_broken_records_cost_the_page_only_that_run_s_answers(results, tmp_path, capsys):
    shutil.copytree(results, tmp_path / "r")
    file = next((tmp_path / "r").glob("corr2cause/*/*/org__b/records.jsonl"))
    file.write_text('{"item": 1}\n')
    assert main([str(tmp_path / "r"), f"out={tmp_path}/x.html"]) == 0
    page = Page(tmp_path / "x.html")
    first, *rest = capsys.readouterr().out.splitlines()
    without = sum(run["answers"] is None for run in page.runs.values())
    assert f"{len(page.runs)} runs, {without} without answers, " in first
    assert [line for line in rest if "line 1 is not a record" in line and str(file) in line] == rest and len(rest) == 1
    assert "line 1 is not a record" in find(page, "org/b")["no_answers"]
    assert find(page, "<b>a")["answers"]["count"] == ITEMS


def test_without_answers(results, tmp_path):
    assert main([str(results), f"out={tmp_path}/x.html", "answers=none"]) == 0
    page = Page(tmp_path / "x.html")
    assert {name.split("/")[0] for name in page.packed} == {"graphs"}
    assert all(run["no_answers"] == "This page was made without answers (answers=none)." for run in page.runs.values())


def test_answers_beside_the_page(results, page, tmp_path, capsys):
    out = tmp_path / "a b#.html"
    assert main([str(results), f"out={out}", "answers=beside"]) == 0
    assert "keep it beside the page" in capsys.readouterr().out
    beside = Page(out)
    assert not beside.packed and set(beside.data["beside"]) == set(page.packed)
    for name, file in beside.data["beside"].items():
        assert file.startswith("a%20b%23_files/")
        script = (tmp_path / "a b#_files" / file.rpartition("/")[2]).read_text()
        start, end = f'harnessChunk("{name}","', '");\n'
        assert script.startswith(start) and script.endswith(end)
        assert unpacked(script[len(start) : -len(end)]) == page.chunk(name)


def test_the_same_runs_give_the_same_page(results, tmp_path):
    """Whatever the day: a page that ships changes when a run does."""
    for name in ("one", "two"):
        assert main([str(results), f"out={tmp_path / name}.html"]) == 0
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()
    data = Page(tmp_path / "one.html").data
    days = {run["manifest"]["ended"][:10] for run in data["runs"]}
    assert f"from {len(data['runs'])} runs, the last of {max(days)}." in data["footer"]


def test_distances_have_decimals_where_any_of_the_page_has(tmp_path):
    groups = {"network": {"asia": scores(0.5, shd=3.0, sid=2.0), "alarm": scores(0.5, shd=4.5, sid=7.0)}}
    put(tmp_path / "r", "m", task="causalbench/causality", headline="exact", parts=groups)
    assert main([str(tmp_path / "r"), f"out={tmp_path / 'x.html'}"]) == 0
    metrics = Page(tmp_path / "x.html").data["metrics"]
    assert [metrics[name]["decimals"] for name in ("shd", "sid", "f1", "brier")] == [2, 0, 2, 4]
