"""`from harness import evaluate, load_run`: what the command does, from a program or a notebook."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import threading
from pathlib import Path

import pytest
from support.openai_server import chat_reply, error, wait_for
from support.thinned import few

from harness import api, evaluate, load_run
from harness.errors import ConfigError, DataError, Interrupted, RunStopped
from harness.runtime.signals import STOP
from harness.storage import runs
from harness.storage.runs import Run


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def in_a_loop(call):
    """What a notebook does: the loop of this thread is running while the cell's code is called."""

    async def cell():
        return call()

    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(cell())
    finally:
        loop.close()


def directly(call):
    return call()


def asking(server, **settings):
    return evaluate(model="gpt4", task="corr2cause", **{"model.base_url": server.url}, **settings)


def test_a_run_is_returned_with_its_scores_and_records(capsys):
    run = evaluate(limit=40, labels="audited")
    assert run.complete and run.folder == Path("results/corr2cause/labels=audited,limit=40/plain/reasoner").resolve()
    assert run.scores["accuracy"].value == 1.0 and run.scores["f1"] == run.result.overall.metric("f1")
    assert run.result.overall.items == 40
    records = list(run.records())
    assert len(records) == 40 and all(record.answer.label == record.labels["audited"] for record in records)
    assert repr(run).startswith("<run corr2cause · labels=audited,limit=40 · plain · reasoner: F1 100.00")
    assert load_run(run.folder).result == run.result
    # The one type of a finished run, which the leaderboard and the other views read too.
    assert type(run) is type(load_run(run.folder)) is Run and run == runs.load(run.folder) == load_run(run.folder)
    assert (run.role, run.settings, run.place["model"]) == (
        "solver",
        {"labels": "audited", "limit": 40},
        "reasoner",
    )
    assert capsys.readouterr().out == ""


def test_it_composes_what_the_command_composes(harness, tmp_path):
    command = harness("model=random_uniform", "task.limit=30", "task.num_nodes=[4,5]", "results=there")
    assert command.returncode == 0, command.stderr
    run = evaluate("random_uniform", limit=30, num_nodes=(4, 5), results=tmp_path / "here")
    (there,) = (tmp_path / "there").rglob("result.json")
    assert run.folder.relative_to(tmp_path / "here") == there.parent.relative_to(tmp_path / "there")
    for name in ("result.json", "records.jsonl"):
        assert (run.folder / name).read_bytes() == there.with_name(name).read_bytes()
    ours, theirs = (json.loads((folder / "manifest.json").read_text()) for folder in (run.folder, there.parent))
    assert ours.pop("config") == theirs.pop("config") | {"results": str(tmp_path / "here")}
    for manifest in (ours, theirs):
        del manifest["started"], manifest["ended"], manifest["digest"]
    assert ours == theirs


@pytest.mark.parametrize("around", few([directly, in_a_loop], 1))
def test_what_was_answered_is_not_asked_again(around, serve, key, monkeypatch):
    server = serve()
    first = around(lambda: asking(server, limit=20))
    assert len(server.calls) == 20 and not any(record.outcome.cached for record in first.records())
    assert first.scores["accuracy"].value == pytest.approx(first.result.overall["accuracy"])
    again = around(lambda: asking(server, limit=20, results="again"))
    monkeypatch.delenv("OPENAI_API_KEY")  # a frozen cache asks nothing and needs none
    frozen = around(lambda: asking(server, limit=20, results="frozen", cache="frozen"))
    assert len(server.calls) == 20 and all(record.outcome.cached for record in frozen.records())
    assert first.result == again.result == frozen.result


@pytest.mark.parametrize("around", [directly, in_a_loop])
def test_progress_and_remarks_are_shown_on_stderr(around, serve, key, capsys, monkeypatch):
    monkeypatch.setattr("harness.runtime.progress.EVERY", 0.0)
    price = {"model.price": {"input": 1, "output": 1}}
    around(lambda: asking(serve(), limit=5, budget={"usd": 5}, **price))
    output = capsys.readouterr()
    assert "corr2cause gpt4: 5/5" in output.err and "of $5" in output.err
    assert "To ask: 5 calls" in output.err or "5 calls" in output.err
    assert output.out == ""


def test_what_was_answered_before_a_stop_can_be_read(serve, key):
    server = serve(lambda path, body, number: chat_reply("No"))
    with pytest.raises(RunStopped, match=r"budget\.requests=3") as stop:
        asking(server, limit=10, budget={"requests": 3})
    (note,) = stop.value.__notes__
    run = load_run(next(Path("results").rglob("result.json")).parent)
    assert str(run.folder.relative_to(Path.cwd())) in note
    assert not run.complete and len(list(run.records())) == 3 and "NOT COMPLETE" in repr(run)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"model": "gtp4"}, "there is no model 'gtp4' (did you mean 'gpt4'?)"),
        ({"model": "org/m"}, "a checkpoint of the Hub is model=causal_lm model.path=org/m"),
        ({"limt": 3}, "there is no setting 'limt' (did you mean 'limit'?)"),
        ({"models.name": "m"}, "there is no setting 'models' (did you mean 'model'?)"),
        ({"model": "gpt4", "seed": 1}, 'seed= may be task.seed or model.seed: write **{"task.seed": …}'),
        ({"overrides": "task.limit=3"}, "overrides= takes a list of settings"),
        ({"overrides": ["task.limit"]}, "Write key=value"),
        ({"limit": object}, "task.limit=<class 'object'> is no setting"),
        ({"prompt": "plian"}, "there is no corr2cause prompt 'plian' (did you mean 'plain'?)"),
        ({"overrides": ["dry_run=true"]}, "dry_run"),
    ],
)
def test_what_does_not_fit_is_one_sentence_with_the_nearest_name(settings, sentence, capsys):
    with pytest.raises(ConfigError) as refused:
        evaluate(**settings)
    assert sentence in str(refused.value), refused.value
    assert capsys.readouterr() == ("", "") and not Path("results").exists()


@pytest.mark.parametrize("around", [directly, in_a_loop])
def test_ctrl_c_ends_in_order_and_keeps_what_was_answered(around, serve, key):
    server = serve(together=4)
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]

    def press():
        server.wait_for_calls(4)
        os.kill(os.getpid(), signal.SIGINT)
        wait_for(lambda: STOP.requested)
        server.held = float("inf")

    server.held = 0
    pressing = threading.Thread(target=press)
    pressing.start()
    with pytest.raises(Interrupted, match="every answer so far is stored"):
        around(lambda: asking(server, limit=60, max_concurrency=4))
    pressing.join()
    calls = len(server.calls)
    assert 4 <= calls < 60 and not STOP.requested
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before
    assert len(list(load_run(next(Path("results").rglob("result.json")).parent).records())) == calls
    assert around(lambda: asking(server, limit=60, max_concurrency=4)).complete and len(server.calls) == 60


@pytest.mark.slow
def test_a_second_ctrl_c_gives_a_notebook_back_at_once_and_the_next_run_goes_on(serve, key):
    server = serve(together=4, held=0)

    def press():
        server.wait_for_calls(4)
        os.kill(os.getpid(), signal.SIGINT)
        wait_for(lambda: STOP.requested)
        os.kill(os.getpid(), signal.SIGINT)

    pressing = threading.Thread(target=press)
    pressing.start()
    with pytest.raises(KeyboardInterrupt):  # while no call has got its answer
        in_a_loop(lambda: asking(server, limit=100, max_concurrency=4))
    pressing.join()
    assert STOP.requested and len(server.calls) == 4  # what is under way goes on, and asks nothing more
    server.held = float("inf")
    assert in_a_loop(lambda: asking(server, limit=100)).complete
    assert len(server.calls) == 100 and not STOP.requested


@pytest.mark.slow
def test_to_pandas_has_a_line_for_each_record(serve, key):
    pandas = pytest.importorskip("pandas")

    def reply(path, body, number):
        return error(400, "no", "content_filter") if number == 1 else chat_reply("No" if number > 2 else "Hm.")

    frame = asking(serve(reply), limit=8, max_concurrency=1).to_pandas()
    assert len(frame) == 8 and set(frame["model"]) == {"gpt4"}
    assert {"item", "cluster", "gold", "answer", "correct", "failure", "asked", "text", "group_relation"} <= {*frame}
    assert frame["answer"].dtype == pandas.Int64Dtype()
    assert frame["failure"].notna().sum() == 1 and frame["answer"].isna().sum() == 2
    assert frame["asked"].str.contains("Suppose").all()


def test_load_run_says_what_is_not_a_run(tmp_path):
    with pytest.raises(DataError, match="there is no folder nowhere"):
        load_run("nowhere")
    run = evaluate("always_no", limit=4)
    with pytest.raises(DataError, match=r"results holds no result.json: give the folder"):
        load_run("results")
    (run.folder / "records.jsonl").unlink()
    with pytest.raises(DataError, match=r"holds no records.jsonl"):
        list(load_run(run.folder).records())
    (run.folder / "result.json").write_text("{")
    with pytest.raises(DataError, match=r"result\.json"):
        load_run(str(run.folder))


def test_the_documents_example_runs(serve, key, capsys):
    page = Path(__file__).resolve().parents[2].joinpath("docs", "python.md").read_text(encoding="utf-8")
    blocks = [part.partition("```")[0] for part in page.split("```python\n")[1:]]
    server = serve()
    assert len(blocks) >= 4 and any("http://localhost:8000/v1" in block for block in blocks)
    names: dict[str, object] = {}
    for block in blocks:
        source = block.replace("http://localhost:8000/v1", server.url)
        in_a_loop(lambda source=source: exec(compile(source, "docs/python.md", "exec"), names))
    assert server.calls and "95% interval" in capsys.readouterr().out


def test_tables_are_what_the_command_prints(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runs = [api.evaluate(model=name, task="corr2cause", limit=20) for name in ("always_no", "always_yes")]
    board = api.tables("leaderboard", metrics="f1")
    assert "| always_yes |" in str(board) and board._repr_markdown_() == str(board)
    assert [row["model"] for row in board.rows()] == ["always_yes", "always_no"]
    assert board.rows()[0]["f1"] == runs[1].scores["f1"].value
    assert "− A" in str(api.tables("compare", *runs, metrics=["f1"]))
    assert "always_no" in runs[0]._repr_markdown_() and "| published labels" in runs[0]._repr_markdown_()
    assert api.verify(*runs) is True
    with pytest.raises(ConfigError, match=r"there is no setting 'metric' \(did you mean 'metrics'"):
        api.tables("leaderboard", metric="f1")
    with pytest.raises(ConfigError, match="there is no command 'leaderbord'"):
        api.tables("leaderbord")
    with pytest.raises(DataError, match="there is no folder nowhere"):
        api.tables("leaderboard", "nowhere")
