"""Every task and format of CausalBench with every kind of model."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.causalbench_help import RECEIVED, answers, causalbench, is_part, last, load, result_in
from support.thinned import few

from harness.prompting.fit import choose_prompt
from harness.run import run
from harness.runtime.progress import Progress
from harness.settings import build
from harness.storage import records
from harness.storage.manifest import Manifest
from harness.storage.run_folder import Folder

TASKS = {
    "correlation": ("Correlation", {}),
    "skeleton": ("Skeleton", {}),
    "published_skeleton": ("Skeleton", {"convention": "paper"}),
    "causality": ("Causality", {}),
    "structures": ("Causality", {"method": 2}),
    "cot": ("Chains", {}),
}


LABELS = {
    "correlation": {"exact", "paper"},
    "skeleton": {"exact"},
    "published_skeleton": {"exact", "paper"},
    "causality": {"exact", "direct", "paper"},
    "structures": {"exact", "paper"},
    "cot": {"exact"},
}


FORMATS = ("variable_name", "background", "data", "background_data")


def tasks(name: str, formats: tuple[str, ...] = FORMATS):
    """Yield the task in each of its formats, with four questions about two small networks."""
    kind, settings = TASKS[name]
    if name == "cot":
        return [("", causalbench(kind, limit=4))]
    small = {"networks": ["asia", "cancer"], "rows": 4, "parts": 2, "limit": 4}
    return [(form, causalbench(kind, format=form, **small, **settings)) for form in formats]


def outcome(task, prompt, asked, place: Path) -> tuple[dict, list]:
    """Return (result.json, records) of a run that must be complete and without a failure."""
    names = {"task": task.name, "variant": "v", "prompt": prompt.name, "model": asked.name}
    folder = Folder(place, Manifest(run=names, configuration={}))
    ended = run(task, prompt, asked, folder, Progress("t"))
    assert ended.stopped is None
    result, records_of_run = result_in(place), list(records.read(place / "records.jsonl"))
    assert result["complete"] is True and result["failures"] == {}
    assert {record.item for record in records_of_run} == {item.id for item in task.items()} and len(
        records_of_run
    ) == task.limit
    assert all(row["overall"]["all"]["items"] == task.limit for row in result["scores"].values())
    return result, records_of_run


@pytest.mark.parametrize("name", few(TASKS, 2))
@pytest.mark.parametrize("wording", ["closed", "open"])
def test_every_task_and_format_through_the_api(name, wording, serve, key, tmp_path):
    server = serve(answers)
    chat = build(
        {"_target_": "harness.models.api.openai.Chat", "name": "api", "model": "m", "base_url": server.url}, "model"
    )
    for form, task in tasks(name):
        server.calls.clear()
        result, answered = outcome(task, load(task, wording), chat, tmp_path / (form or "plain"))
        assert set(result["scores"]) == LABELS[name]
        assert {record.answer.label for record in answered} == {1}
        rows = result["scores"]["exact"]["overall"]["all"]
        assert rows["accuracy"] == rows["positives"] / 4
        parts, questions = (
            [c for c in server.calls if is_part(c)],
            [c for c in server.calls if not is_part(c)],
        )
        assert len(parts) == (2 * len({i.cluster for i in task.items()}) if "data" in form else 0)
        assert len(questions) == 4
        for call in questions:
            assert ("The knowledge is given as follows." in last(call)) == form.startswith("background")
            assert ("Response:" in last(call)) == (wording == "open")
            assert (call["messages"][0]["role"] == "system") == (wording == "closed")
            assert len(call["messages"]) == (wording == "closed") + (5 if "data" in form else 1)
            assert call["max_tokens"] == {"closed": 100, "open": 10}[wording]


def test_a_model_with_a_chat_template_takes_the_turns(llama_path, tmp_path, monkeypatch):
    section = {"_target_": "harness.models.local.causal_lm.CausalLM", "name": "llama", "path": str(llama_path)}
    chat = build(section | {"method": "rank", "device": "cpu"}, "model")
    task = causalbench("Causality", networks="cancer", format="background_data", rows=4, parts=2, limit=4)
    read = []
    as_is = chat._turns.text
    monkeypatch.setattr(chat._turns, "text", lambda messages: read.append(as_is(messages)) or read[-1])
    outcome(task, load(task, "closed", replies="fixed"), chat, tmp_path / "results")
    assert len(read) == 4 and chat._turns.templated
    for text in read:
        turns = ["<system>", "<user>", "<assistant>", "<user>", "<assistant>", "<user>", "<assistant>"]
        assert [word for word in text.replace("<", " <").replace(">", "> ").split() if word in turns] == turns
        assert text.count(RECEIVED) == 2 and text.endswith("<assistant>")


@pytest.mark.parametrize("name", few(TASKS, 2))
def test_every_task_through_an_nli_model(name, nli_path, tmp_path):
    nli = build(
        {"_target_": "harness.models.local.nli.NLI", "name": "tiny", "path": str(nli_path), "device": "cpu"}, "model"
    )
    for form, task in tasks(name, ("variable_name", "background")):
        prompt = choose_prompt(task, nli, None)
        assert prompt.name == "pair"
        result, answered = outcome(task, prompt, nli, tmp_path / (form or "plain"))
        assert set(result["scores"]) == LABELS[name]
        assert all(set(record.outcome.logprobs) == {"entailment", "neutral", "contradiction"} for record in answered)
        assert "auroc" in result["scores"]["exact"]["overall"]["all"]
