from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.outcomes import each
from support.scripted import Scripted

from harness.cache import CachedModel, Store
from harness.errors import ConfigError
from harness.models.api.openai import Chat, Completions
from harness.models.baselines import Baseline
from harness.prompting.fit import choose_prompt, fitting
from harness.prompting.prompts import load
from harness.run import ask, run
from harness.runtime.progress import Progress
from harness.settings import build
from harness.storage.manifest import Manifest
from harness.storage.run_folder import Folder
from harness.tasks.corr2cause.reasoner import Reasoner
from harness.types import ChatRequest, ChoiceRequest, Failure, PairRequest, Response


def corr2cause(**settings):
    section = {"_target_": "harness.tasks.corr2cause.Corr2Cause", "name": "corr2cause", "prompts": ["plain", "pair"]}
    return build(section | settings, "task")


def folder(path: Path) -> Folder:
    place = {"task": "corr2cause", "variant": "default", "prompt": "plain", "model": "m"}
    return Folder(path, Manifest(run=place, configuration={"k": 1}))


def results(path: Path) -> dict:
    return json.loads((path / "result.json").read_text())


def test_the_manifest_tells_other_items_apart(tmp_path):
    digests = set()
    for k, settings in enumerate([{}, {}, {"perturbation": "permutation"}, {"seed": 1}]):
        here = tmp_path / str(k)
        run(
            corr2cause(limit=20, **settings),
            load("corr2cause", "plain", ()),
            Baseline("b", 1),
            folder(here),
            Progress("t"),
        )
        digests.add(json.loads((here / "manifest.json").read_text())["items"]["sha256"])
    assert len(digests) == 3


def test_equal_requests_are_asked_once_and_answer_all_their_items(tmp_path):
    # In v1, parent(A, B) and child(B, A) are the same sentence, some items apart: the store knows the first's answer.
    task = corr2cause(version="v1", num_nodes=[2, 3])
    model = Scripted(lambda request: Response("No"))
    cached = CachedModel(model, Store(tmp_path / "answers.sqlite"))
    pairs = list(ask(task.items(), load("corr2cause", "plain", ()), cached, ChatRequest))
    assert len(pairs) == 102
    texts = {request.messages[-1].content for request in model.asked}
    assert len(texts) == len(model.asked) < 102


def test_no_gold_label_reaches_a_prompt():
    for item in corr2cause(version="v1").items():
        assert not {"label", "labels", "gold", "published", "audited", "answer"} & set(item.fields)


def test_unreadable_replies_and_failed_calls_are_neither_yes_nor_no(tmp_path):
    def says(request):
        text = request.messages[-1].content
        if "collider" in text:
            return Failure("timeout", "late")
        return Response("I would rather not say." if "confounder" in text else "No")

    task = corr2cause()
    run(task, load("corr2cause", "plain", ()), Scripted(says), folder(tmp_path), Progress("t"))
    overall = results(tmp_path)["scores"]["published"]["overall"]["all"]
    assert (overall["unreadable"], overall["failed"]) == (193, 193)
    assert results(tmp_path)["failures"] == {"timeout": 193}
    # 969 answered or unreadable items; of the 776 items answered "No" 98 are positive, the unreadable are wrong.
    assert overall["accuracy"] == (776 - 98) / 969


def test_a_run_with_failures_that_may_pass_is_not_complete_and_replaces_none_that_is(tmp_path):
    task, prompt = corr2cause(limit=30), load("corr2cause", "plain", ())
    good = run(task, prompt, Scripted(lambda r: Response("No")), folder(tmp_path), Progress("t"))
    assert good.stopped is None
    before = (tmp_path / "result.json").read_text()
    bad = run(task, prompt, Scripted(lambda r: Failure("server_error", "500")), folder(tmp_path), Progress("t"))
    assert "30 calls failed in a way that may pass (30 server_error)" in str(bad.stopped)
    assert (tmp_path / "result.json").read_text() == before


def test_failures_that_asking_again_does_not_cure_leave_a_run_complete_unless_all_have_failed(tmp_path):
    prompt, fits = load("corr2cause", "plain", ()), [1, 0]

    def says(request):
        fits[1] += 1
        return Response("No") if fits[1] <= fits[0] else Failure("context_length", "the prompt is too long.")

    outcome = run(corr2cause(limit=30), prompt, Scripted(says), folder(tmp_path), Progress("t"))
    assert outcome.error is None and results(tmp_path)["complete"] is True
    assert results(tmp_path)["failures"] == {"context_length": 29}
    fits[:] = [0, 0]
    outcome = run(corr2cause(limit=30), prompt, Scripted(says), folder(tmp_path / "none"), Progress("t"))
    assert str(outcome.error) == (
        "no item was answered (30 context_length), so that there is nothing to score. context_length: the prompt is "
        "too long."
    )
    assert results(tmp_path / "none")["complete"] is False


def test_replies_of_which_none_can_be_read_are_quoted(tmp_path):
    prompt, said = (
        load("corr2cause", "plain", ()),
        iter(["Vielleicht.", "x" * 500, "Wer weiß?\nIch nicht.", *["?"] * 9]),
    )
    outcome = run(
        corr2cause(limit=12), prompt, Scripted(lambda _: Response(next(said))), folder(tmp_path), Progress("t")
    )
    assert outcome.stopped is None and results(tmp_path)["complete"] is True
    told = str(outcome.error)
    assert told.startswith("in none of 12 replies could an answer be read. They begin:\n  1. “Vielleicht.”\n  2. “xxx")
    assert "“Wer weiß? Ich nicht.”" in told and "parser" in told and "judge=" in told and len(told) < 600
    cut = Scripted(lambda _: Response("", finish_reason="length"))
    cut_off = run(corr2cause(limit=3), prompt, cut, folder(tmp_path / "cut"), Progress("t"))
    assert str(cut_off.error).startswith("each of 3 replies was cut off at max_tokens=16 while the model was")
    other = Scripted(lambda _: Response("The", logprobs={}, outside=1.0))
    ranked = run(corr2cause(limit=3), prompt, other, folder(tmp_path / "ranked"), Progress("t"))
    assert "No choice was among the likeliest tokens" in str(ranked.error) and "“The”" in str(ranked.error)
    few = run(corr2cause(limit=2), prompt, Scripted(lambda _: Response("?")), folder(tmp_path / "few"), Progress("t"))
    assert few.error is None


def test_a_model_that_forgets_items_does_not_pass_for_complete(tmp_path):
    class Forgetful(Scripted):
        def respond(self, requests):
            for k, batch in enumerate(super().respond(requests)):
                if k % 2:
                    yield batch

    model = Forgetful(lambda r: Response("No"))
    run(corr2cause(limit=20), load("corr2cause", "plain", ()), model, folder(tmp_path), Progress("t"))
    assert results(tmp_path)["failures"] == {"unanswered": 10}


def test_few_shot_shows_a_valid_and_an_invalid_example_in_the_questions_words():
    for perturbation in ("none", "paraphrase", "refactorization", "permutation"):
        task = corr2cause(perturbation=perturbation, limit=1)
        prompt = load("corr2cause", "few_shot", task.examples())
        (item,) = task.items()
        request = prompt.render(item.fields, (), ChatRequest)
        roles = [message.role for message in request.messages]
        assert roles == ["user", "assistant", "user", "assistant", "user"]
        assert {request.messages[1].content, request.messages[3].content} == {"Yes", "No"}
        example = request.messages[0].content
        assert ("affects" in example) == (perturbation == "paraphrase")
        assert ("variables, Z, Y" in example) == (perturbation == "refactorization")


def test_the_plain_prompt_is_the_papers_word_for_word():
    prompt = load("corr2cause", "plain", ())
    fields = {"premise": "P.", "statement": "A directly causes B"}
    request = prompt.render(fields, (), ChatRequest)
    assert [(m.role, m.content) for m in request.messages] == [
        (
            "user",
            'Question: P.\nCan we deduct the following: A directly causes B? Just answer "Yes" or "No."\n\nAnswer:',
        )
    ]
    system = load("corr2cause", "system", ()).render(fields, (), ChatRequest).messages
    expected = "You are a highly intelligent question-answering bot with profound knowledge of causal inference."
    assert (system[0].role, system[0].content) == ("system", expected)
    assert system[1] == request.messages[0]


@pytest.mark.parametrize("name", ["plain", "system", "few_shot", "cot", "cot_two_step", "enhanced"])
def test_the_reasoner_reads_every_prompt(name):
    task = corr2cause(labels="audited", limit=120)
    prompt = load("corr2cause", name, task.examples())
    for record in ask(task.items(), prompt, Reasoner(), ChatRequest):
        assert record.answer.label == record.labels["audited"]


def test_the_first_prompt_that_fits_is_taken_and_a_misfit_names_those_that_fit():
    task = corr2cause()
    chat, encoder = Baseline("b", 0.5), Scripted(lambda r: Response(""), accepts=(PairRequest,))
    assert choose_prompt(task, chat, None).name == "plain"
    assert choose_prompt(task, encoder, None).name == "pair"
    with pytest.raises(
        ConfigError,
        match=r"prompt pair does not fit.*These do: cls, confidence, cot, cot_two_step, enhanced, few_shot, plain",
    ):
        choose_prompt(task, chat, "pair")
    with pytest.raises(ConfigError, match=r"These do: one_text, pair\."):
        choose_prompt(task, encoder, "plain")
    with pytest.raises(ConfigError, match="did you mean 'plain'"):
        choose_prompt(task, chat, "plian")


def test_a_prompt_prefers_ranking_and_an_opening_needs_a_model_that_writes():
    ranker = Scripted(lambda r: Response(""), accepts=(ChoiceRequest, ChatRequest))
    only_ranker = Scripted(lambda r: Response(""), accepts=(ChoiceRequest,))
    assert fitting(load("corr2cause", "plain", ()), ranker) is ChoiceRequest
    assert fitting(load("corr2cause", "cot", ()), ranker) is ChatRequest
    assert fitting(load("corr2cause", "cot_two_step", ()), ranker) is ChoiceRequest
    with pytest.raises(ConfigError):
        fitting(load("corr2cause", "cot_two_step", ()), only_ranker)


@pytest.mark.parametrize("kind", [Chat, Completions])
def test_a_server_that_was_told_to_rank_is_not_asked_to_write_without_a_word(kind):
    settings = {"name": "m", "model": "gpt-4o", "base_url": "http://localhost/v1"}
    ranker, writer = kind(**settings, method="rank"), kind(**settings)
    task = corr2cause()
    rankable = r"generate\. These do: cls, cot_two_step, few_shot, plain, system"
    for name in ("cot", "enhanced"):
        with pytest.raises(ConfigError, match=rf"model\.method=rank: prompt {name} has model m write .*{rankable}\.$"):
            choose_prompt(task, ranker, name)
        assert choose_prompt(task, writer, name).name == name
    assert [choose_prompt(task, ranker, name).name for name in ("plain", "cot_two_step")] == ["plain", "cot_two_step"]
    # Where no name is given, the first that it can rank; a model on this machine ranks where it can, and else writes.
    assert choose_prompt(corr2cause(prompts=["cot", "few_shot"]), ranker, None).name == "few_shot"
    with pytest.raises(ConfigError, match=r"model\.method=rank: prompt cot has"):
        choose_prompt(corr2cause(prompts=["pair", "cot", "enhanced"]), ranker, None)
    local = Scripted(lambda r: Response(""), accepts=(ChoiceRequest, ChatRequest))
    assert choose_prompt(task, local, "cot").name == "cot"


def test_baseline_draws_depend_on_seed_and_request_alone():
    task = corr2cause()
    prompt = load("corr2cause", "plain", ())
    requests = list(dict.fromkeys(prompt.render(item.fields, (), ChatRequest) for item in task.items()))

    def answers(model, asked):
        return {request: outcome.text for request, outcome in each(model.respond(asked))}

    once = answers(Baseline("b", 0.3), requests)
    assert answers(Baseline("other", 0.3), reversed(requests)) == once
    assert answers(Baseline("b", 0.3), requests[:7]) == {r: once[r] for r in requests[:7]}
    assert answers(Baseline("b", 0.3, seed=1), requests) != once
    share = sum(text == "Yes" for text in once.values()) / len(once)
    assert abs(share - 0.3) < 0.05


def test_a_model_that_knows_one_task_only_is_not_asked_another():
    section = {"_target_": "harness.tasks.causalbench.Chains", "name": "causalbench/cot", "prompts": ["closed", "pair"]}
    with pytest.raises(ConfigError, match=r"reasoner answers task=corr2cause.* only"):
        choose_prompt(build(section, "task"), Reasoner(), None)


def test_a_model_that_does_not_write_is_told_of_fixed_replies():
    section = {
        "_target_": "harness.tasks.causalbench.Causality",
        "name": "causalbench/causality",
        "prompts": ["closed", "pair"],
        "format": "data",
    }
    ranker = Scripted(lambda request: Response("Yes"), accepts=(ChoiceRequest,))
    with pytest.raises(ConfigError, match="These do with replies=fixed: closed, open"):
        choose_prompt(build(section, "task"), ranker, None)
    assert choose_prompt(build(section, "task"), ranker, None, "fixed").name == "closed"
    encoder = Scripted(lambda request: Response("Yes"), accepts=(PairRequest,))
    with pytest.raises(ConfigError, match=r"No prompt of the task does"):
        choose_prompt(build(section, "task"), encoder, None)
