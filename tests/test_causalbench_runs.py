"""CausalBench from end to end: openings, formats, prompts and kinds of model."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest_models import lm_checkpoint
from openai_server import KEY, chat_reply, error

from harness.errors import ConfigError
from harness.models.scripted import Scripted
from harness.prompting import prompts
from harness.prompting.fit import choose_prompt
from harness.run import ask, run
from harness.runtime.progress import Progress
from harness.settings import PROMPTS, build
from harness.storage import records
from harness.storage.run_folder import Folder
from harness.tasks.causalbench.networks import meanings
from harness.types import ChatRequest, Failure, PairRequest, Response

SENTENCE = (
    "You are a highly intelligent question-answering bot with profound knowledge of causal inference and causal "
    "discovery."
)
RECEIVED = "The part has been received and appended to the matrix."
DATA = ("task=causalbench/causality", "task.networks=[asia,cancer]", "task.format=data", "task.limit=40")


def last(call: dict) -> str:
    return call["messages"][-1]["content"]


def is_part(call: dict) -> bool:
    return "part" in last(call) and "of the matrix:\n" in last(call)


def network_of(call: dict) -> str:
    """The network that the first user turn names."""
    first = next(m["content"] for m in call["messages"] if m["role"] == "user")
    return first.partition("Bayesian network named ")[2].partition(".")[0]


def answers(path, body, number):
    """Acknowledges a part in words of its own; says Yes to a question."""
    return chat_reply(f"Noted: {last(body).count(chr(10)) - 1} rows." if is_part(body) else "Yes")


def model(server, *more: str) -> tuple[str, ...]:
    # Of a model that is not known nobody knows the context either.
    return "model=openai", "model.model=gpt4", f"model.base_url={server.url}", *more


def sentence(done) -> str:
    lines = done.stderr.strip().splitlines()
    assert done.returncode == 1 and len(lines) == 1 and lines[0].startswith("error: "), done.stderr
    return lines[0]


def causalbench(task: str, /, **settings):
    name = "cot" if task == "Chains" else task.lower()
    section = {
        "_target_": f"harness.tasks.causalbench.{task}",
        "name": f"causalbench/{name}",
        "prompts": ["closed", "pair"],
    }
    return build(section | settings, "task")


def load(task, name: str, **settings) -> prompts.Prompt:
    return prompts.load(task.name, name, task.examples(), format=task.prompt_format, **settings)


def result_in(place: Path) -> dict:
    return json.loads((place / "result.json").read_text())


# Openings


def test_an_opening_is_played_once_a_network_and_never_again(harness, serve, tmp_path):
    server = serve(answers)
    first = harness(*DATA, *model(server), OPENAI_API_KEY=KEY)
    assert first.returncode == 0, first.stderr
    parts = [call for call in server.calls if is_part(call)]
    assert Counter(map(network_of, parts)) == {"Asia": 5, "Cancer": 5}
    assert len(server.calls) == 10 + 40
    place = tmp_path / "results/causalbench/causality/format=data,limit=40,networks=asia+cancer/closed/gpt4"
    assert result_in(place)["complete"] is True and result_in(place)["failures"] == {}
    again = harness(*DATA, *model(server), OPENAI_API_KEY=KEY)
    assert again.returncode == 0 and len(server.calls) == 50
    assert "40 answers came from the cache, 0 were asked now." in again.stdout
    # More questions about the same data find the opening answered.
    more = harness(*DATA[:3], "task.limit=50", *model(server), OPENAI_API_KEY=KEY)
    assert more.returncode == 0, more.stderr
    assert not any(is_part(call) for call in server.calls[50:]) and 50 < len(server.calls) <= 100


def test_a_conversation_of_five_parts_and_a_question():
    task = causalbench("Causality", networks="asia", format="data")
    scripted = Scripted(lambda r: Response("Yes" if "question" in r.messages[-1].content else f"r{len(r.messages)}"))
    found = list(ask(task.items(), load(task, "closed"), scripted, ChatRequest))
    assert len(scripted.asked) == 5 + 280 and len(found) == 280
    item = next(item for item in task.items() if item.id == "asia/cause/asia/tub")
    request = next(request for record, request in found if record.item == item.id)
    roles = [message.role for message in request.messages]
    assert roles == ["system", *["user", "assistant"] * 5, "user"]
    said = [message.content for message in request.messages]
    assert said[0] == SENTENCE
    # Figure 21, and after each part what the model said to it.
    for number, part in enumerate(item.fields["parts"], start=1):
        assert said[2 * number - 1] == (
            "There are a total of five parts matrices, together forming an input sample of the Bayesian network named "
            "Asia. You need to combine the five input matrix into a unified input sample of the Bayesian network "
            f"matrix in the order of input. Here is the part {number} of the matrix:\n{part}"
        )
        assert said[2 * number] == f"r{2 * number}"
        assert part.startswith("asia | tub | smoke | lung | bronc | either | xray | dysp\n") and part.count("\n") == 100
    assert said[-1] == (
        "Please answer the following question: Does asia cause tub? Just answer Yes or No. No explanation."
    )
    # Turn by turn the opening has room for more than a word.
    assert [r.max_tokens for r in scripted.asked[:6]] == [512] * 5 + [100]


@pytest.mark.parametrize("failing", [False, True])
def test_an_opening_goes_on_from_one_block_of_questions_to_the_next(failing, monkeypatch):
    monkeypatch.setattr("harness.run.BLOCK", 30)
    task = causalbench("Causality", networks=["asia", "cancer"], format="data", rows=10)

    def says(request):
        third = "named Asia" in request.messages[1].content and "part 3 of" in request.messages[-1].content
        return Failure("timeout", "late") if failing and third else Response("Yes")

    scripted = Scripted(says)
    found = [record for record, _ in ask(task.items(), load(task, "closed"), scripted, ChatRequest)]
    assert [record.item for record in found] == [item.id for item in task.items()]
    turns = [r for r in scripted.asked if "Please answer" not in r.messages[-1].content]
    assert Counter("named Asia" in r.messages[1].content for r in turns) == {True: 3 if failing else 5, False: 5}
    assert sum(isinstance(record.outcome, Failure) for record in found) == (280 if failing else 0)


@pytest.mark.parametrize(
    ("broken", "kind", "complete"),
    [
        (lambda: error(500, "oops"), "server_error", False),
        (lambda: error(400, "what is this"), "bad_request", False),
        (lambda: error(400, "too long", code="context_length_exceeded"), "context_length", True),
    ],
)
def test_a_turn_that_fails_fails_the_questions_of_its_network(harness, serve, tmp_path, broken, kind, complete):
    down = [True]

    def reply(path, body, number):
        third = network_of(body) == "Asia" and "Here is the part 3 of" in last(body)
        return broken() if third and down else answers(path, body, number)

    server = serve(reply)
    arguments = (*DATA[:3], "task.rows=20", *model(server, "model.attempts=1"))
    done = harness(*arguments, OPENAI_API_KEY=KEY)
    place = tmp_path / "results/causalbench/causality/format=data,networks=asia+cancer,rows=20/closed/gpt4"
    found = list(records.read(place / "records.jsonl"))
    assert Counter((one.cluster, isinstance(one.outcome, Failure)) for one in found) == {
        ("asia", True): 280,
        ("cancer", False): 100,
    }
    for one in found:
        if one.cluster == "asia":
            assert one.outcome.kind == kind and one.outcome.detail.startswith("opening, turn 3: ")
            assert one.answer is None and one.request is None
    result = result_in(place)
    assert result["complete"] is complete and result["failures"] == {kind: 280}
    networks = result["scores"]["exact"]["network"]
    assert (networks["asia"]["failed"], networks["cancer"]["failed"]) == (280, 0)
    assert networks["asia"]["shd"] is None and networks["cancer"]["shd"] is not None
    assert done.returncode == (0 if complete else 1)
    assert done.stdout.startswith("NOT COMPLETE") is not complete
    # No turn after the third, and no question about a network that the model does not know.
    calls = [network_of(call) for call in server.calls]
    assert Counter(calls) == {"Asia": 3, "Cancer": 5 + 100}
    if not complete:
        assert f"280 {kind}" in done.stderr
    if kind == "server_error":
        down.clear()
        again = harness(*arguments, OPENAI_API_KEY=KEY)
        assert again.returncode == 0, again.stderr
        assert Counter(network_of(call) for call in server.calls[len(calls) :]) == {"Asia": 3 + 280}
        assert result_in(place)["complete"] is True


def test_fixed_replies_need_no_opening_call_and_have_a_place_of_their_own(harness, serve, tmp_path):
    server = serve(answers)
    arguments = (*DATA, "task.rows=20", *model(server))
    assert harness(*arguments, OPENAI_API_KEY=KEY).returncode == 0
    before = len(server.calls)
    done = harness(*arguments, "replies=fixed", OPENAI_API_KEY=KEY)
    assert done.returncode == 0, done.stderr
    asked = server.calls[before:]
    assert len(asked) == 40 and not any(map(is_part, asked))
    for call in asked:
        assert [m["role"] for m in call["messages"]] == ["system", *["user", "assistant"] * 5, "user"]
        assert {m["content"] for m in call["messages"] if m["role"] == "assistant"} == {RECEIVED}
    manifests = {
        file.parts[-4]: json.loads(file.read_text())["configuration"]
        for file in tmp_path.glob("results/causalbench/causality/*/closed/gpt4/manifest.json")
    }
    plain = "format=data,limit=40,networks=asia+cancer"
    assert set(manifests) == {f"{plain},rows=20", f"{plain},rows=20,replies=fixed"}
    fixed, played = manifests[f"{plain},rows=20,replies=fixed"], manifests[f"{plain},rows=20"]
    assert fixed["task"]["replies"] == "fixed" and "replies" not in played["task"]
    assert fixed["prompt"]["digest"] != played["prompt"]["digest"]


def test_without_an_opening_fixed_replies_change_nothing(harness, serve, tmp_path):
    arguments = ("task=causalbench/causality", "task.networks=cancer", "task.limit=5", "model=always_no")
    assert harness(*arguments, "replies=fixed").returncode == 0
    places = list(tmp_path.glob("results/causalbench/causality/*/closed/always_no/manifest.json"))
    assert [place.parts[-4] for place in places] == ["limit=5,networks=cancer"]


def test_data_beyond_the_context_is_told_before_anything_is_sent(harness, serve, tmp_path):
    server = serve(answers)
    # Five parts of cancer fit, with its five variables. Of asia's eight each part alone would; all five do not.
    done = harness(*DATA, *model(server, "model.context=9000"), OPENAI_API_KEY=KEY)
    assert done.returncode == 0, done.stderr
    place = tmp_path / "results/causalbench/causality/format=data,limit=40,networks=asia+cancer/closed/gpt4"
    found = list(records.read(place / "records.jsonl"))
    failed = [one for one in found if isinstance(one.outcome, Failure)]
    assert Counter(one.cluster for one in failed) == {"asia": sum(one.cluster == "asia" for one in found)}
    assert {(one.outcome.kind, one.request) for one in failed} == {("context_length", None)}
    assert all(one.outcome.detail.startswith("opening, turn 1: at least 1") for one in failed)
    assert "model.context" in failed[0].outcome.detail
    assert Counter(map(network_of, server.calls)) == {"Cancer": 5 + 40 - len(failed)}
    result = result_in(place)
    assert result["complete"] is True and result["failures"] == {"context_length": len(failed)}
    assert f"{len(failed)} context_length" in done.stdout
    before = len(server.calls)
    small = harness(*DATA, *model(server, "model.context=3000", "results=other", "cache.path=new"), OPENAI_API_KEY=KEY)
    assert small.returncode == 0, small.stderr
    assert "40 context_length" in small.stdout and len(server.calls) == before


# Prompts


def sent(task, prompt: prompts.Prompt, item_id: str) -> list[tuple[str, str]]:
    """The messages of an item's question."""
    scripted = Scripted(lambda request: Response("Yes"))
    for record, request in ask(task.items(), prompt, scripted, ChatRequest):
        if record.item == item_id:
            return [(message.role, message.content) for message in request.messages]
    raise AssertionError(item_id)


def test_the_wording_for_closed_models():
    task = causalbench("Causality", networks="asia")
    assert sent(task, load(task, "closed"), "asia/cause/asia/tub") == [
        ("system", SENTENCE),
        (
            "user",
            "Please answer the following question: Does asia cause tub? Just answer Yes or No. No explanation.",
        ),
    ]


def test_the_wording_for_open_models():
    # Appendix C.D, all of it the user's.
    task = causalbench("Chains")
    assert sent(task, load(task, "open"), "chain/3") == [
        (
            "user",
            "Below is an instruction that describes a causal discovery task. Write a response that appropriately "
            "completes the request. Instruction: please answer the following question: If A causes B and B causes C, "
            "does A cause C? Just answer Yes or No. No explanation. Response:",
        )
    ]


def test_background_knowledge_as_in_figure_22():
    said = meanings("asia")
    knowledge = f"asia: {said['asia'].text} Meanwhile, tub: {said['tub'].text}"
    question = (
        "lease answer the following question: Based on the following background knowledge, does asia cause tub? Just "
        f"answer Yes or No. No explanation. The knowledge is given as follows. {knowledge}"
    )
    task = causalbench("Causality", networks="asia", format="background")
    assert sent(task, load(task, "closed"), "asia/cause/asia/tub")[-1] == ("user", f"P{question}")
    ((role, words),) = sent(task, load(task, "open"), "asia/cause/asia/tub")
    assert role == "user" and words.endswith(f" Instruction: p{question} Response:")
    both = causalbench("Causality", networks="asia", format="background_data", rows=10)
    closed = sent(both, load(both, "closed"), "asia/cause/asia/tub")
    assert closed[-1] == ("user", f"P{question}") and len(closed) == 12


@pytest.mark.parametrize("form", ["variable_name", "data"])
def test_the_first_sentence_is_the_systems_or_the_users(form, tmp_path):
    words = (PROMPTS / "causalbench/closed.yaml").read_text()
    assert words.count("\nsystem_role: system ") == 1
    mine = tmp_path / "mine.yaml"
    mine.write_text(words.replace("\nsystem_role: system ", "\nsystem_role: user "))
    task = causalbench("Causality", networks="asia", format=form, rows=10)
    system = sent(task, load(task, "closed"), "asia/cause/asia/tub")
    user = sent(task, load(task, str(mine)), "asia/cause/asia/tub")
    assert system[0] == ("system", SENTENCE)
    assert not any(SENTENCE in content for _, content in system[1:])
    assert [role for role, _ in user] == [role for role, _ in system[1:]]
    assert user[0] == ("user", f"{SENTENCE} {system[1][1]}") and user[1:] == system[2:]
    assert load(task, "closed").digest != load(task, str(mine)).digest


def test_the_turns_of_an_opening_have_the_sentence_too(tmp_path):
    # The model answers the same conversation that the question comes after.
    task = causalbench("Causality", networks="cancer", format="data", rows=10)
    for name, role in (("closed", "system"), ("open", "user")):
        scripted = Scripted(lambda request: Response("Yes"))
        list(ask(task.items(), load(task, name), scripted, ChatRequest))
        first, fifth, question = scripted.asked[0], scripted.asked[4], scripted.asked[5]
        assert first.messages[0].role == role
        assert fifth.messages == question.messages[: len(fifth.messages)]
        assert first.messages == question.messages[: len(first.messages)]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("prompt=pair task.format=data", "prompt pair has no words for task.format=data; it has them for background."),
        ("prompt=mine.yaml task.format=background", "prompt mine has no words for task.format=background."),
        ("prompt=pair task.format=background model=always_no", "These do: closed, open."),
        ("prompt=unsaid.yaml task.format=data replies=fixed", "replies=fixed: unsaid.yaml has no opening_reply"),
        ("prompt=torn.yaml", "torn.yaml: there is no setting"),
        ("prompt=number.yaml", "opening_for_each names pars"),
        ("task.networks=assia", "did you mean asia?"),
        ("task=causalbench/causalty", "did you mean 'causalbench/causality'"),
    ],
)
def test_what_does_not_fit_gets_one_sentence(harness, tmp_path, arguments, said):
    (tmp_path / "mine.yaml").write_text("source: mine\nmakes: [chat]\nuser: '{question}'\n")
    closed = (PROMPTS / "causalbench/closed.yaml").read_text()
    lines = [line for line in closed.splitlines() if "opening_reply" not in line]
    (tmp_path / "unsaid.yaml").write_text("\n".join(lines))
    (tmp_path / "torn.yaml").write_text(closed.replace("    opening_reply", "    opening_repy"))
    (tmp_path / "number.yaml").write_text(
        "source: mine\nmakes: [chat]\nuser: '{question}'\nopening_for_each: pars\nopening: ['{value}']\n"
    )
    task = () if arguments.startswith("task=") else ("task=causalbench/causality",)
    model_given = () if "model=" in arguments else ("model=always_no",)
    assert said in sentence(harness(*task, *model_given, *arguments.split()))


# Every task and format, every kind of model

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
    """The task in every format it has, with four questions about two small networks."""
    kind, settings = TASKS[name]
    if name == "cot":
        return [("", causalbench(kind, limit=4))]
    small = {"networks": ["asia", "cancer"], "rows": 4, "parts": 2, "limit": 4}
    return [(form, causalbench(kind, format=form, **small, **settings)) for form in formats]


def outcome(task, prompt, asked, place: Path) -> tuple[dict, list]:
    """(result.json, records) of a run that must be complete and without a failure."""
    folder = Folder(place, {"task": task.name, "variant": "v", "prompt": prompt.name, "model": asked.name}, {}, {})
    ended = run(task, prompt, asked, folder, Progress("t"))
    assert ended.stopped is None
    result, found = result_in(place), list(records.read(place / "records.jsonl"))
    assert result["complete"] is True and result["failures"] == {}
    assert {one.item for one in found} == {item.id for item in task.items()} and len(found) == task.limit
    assert all(row["overall"]["all"]["items"] == task.limit for row in result["scores"].values())
    return result, found


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("wording", ["closed", "open"])
def test_every_task_and_format_through_the_api(name, wording, serve, key, tmp_path):
    server = serve(answers)
    chat = build(
        {"_target_": "harness.models.api.openai.Chat", "name": "api", "model": "m", "base_url": server.url}, "model"
    )
    for form, task in tasks(name):
        server.calls.clear()
        result, found = outcome(task, load(task, wording), chat, tmp_path / (form or "plain"))
        assert set(result["scores"]) == LABELS[name]
        assert {one.answer.label for one in found} == {1}
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


@pytest.fixture(scope="module")
def language_models(tmp_path_factory, llama_path) -> Iterator[dict]:
    """Tiny ones; a second gpt2 has room for all that it says to two parts. Two threads would only wait."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    long = lm_checkpoint(tmp_path_factory.mktemp("long"), "gpt2", max_positions=8192)

    def built(name: str, path: Path, method: str):
        section = {"_target_": "harness.models.local.causal_lm.CausalLM", "name": name, "path": str(path)}
        return build(section | {"method": method, "device": "cpu"}, "model")

    yield {
        "ranks": built("ranks", long, "rank"),
        "writes": built("writes", long, "generate"),
        "llama": built("llama", llama_path, "rank"),
    }
    torch.set_num_threads(threads)


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("wording", ["closed", "open"])
@pytest.mark.parametrize("who", ["ranks", "writes"])
def test_every_task_and_format_through_a_local_language_model(name, wording, who, language_models, tmp_path):
    for form, task in tasks(name):
        # 512 tokens to every part, as the wording for closed models lets it say, take a second each.
        prompt = load(task, wording, replies="model" if wording == "open" else "fixed")
        result, found = outcome(task, prompt, language_models[who], tmp_path / (form or "plain"))
        assert set(result["scores"]) == LABELS[name]
        ranked = who == "ranks"
        for one in found:
            assert (one.outcome.logprobs is not None and set(one.outcome.logprobs) == {"Yes", "No"}) == ranked
            assert one.answer.label is not None or not ranked
        assert ("auroc" in result["scores"]["exact"]["overall"]["all"]) == ranked


def test_a_model_with_a_chat_template_takes_the_turns(language_models, tmp_path, monkeypatch):
    task = causalbench("Causality", networks="cancer", format="background_data", rows=4, parts=2, limit=4)
    read = []
    chat = language_models["llama"]
    as_is = chat._turns.text
    monkeypatch.setattr(chat._turns, "text", lambda messages: read.append(as_is(messages)) or read[-1])
    outcome(task, load(task, "closed", replies="fixed"), chat, tmp_path / "results")
    assert len(read) == 4 and all(templated for _, templated in read)
    for text, _ in read:
        turns = ["<system>", "<user>", "<assistant>", "<user>", "<assistant>", "<user>", "<assistant>"]
        assert [word for word in text.replace("<", " <").replace(">", "> ").split() if word in turns] == turns
        assert text.count(RECEIVED) == 2 and text.endswith("<assistant>")


def test_a_model_that_ranks_writes_what_it_says_to_the_data(language_models, tmp_path):
    task = causalbench("Causality", networks="cancer", format="data", rows=10, parts=2, limit=4)
    played, fixed = (
        outcome(task, load(task, "open", replies=how), language_models["ranks"], tmp_path / how)[1]
        for how in ("model", "fixed")
    )
    tokens = [{one.outcome.usage.input for one in found} for found in (played, fixed)]
    assert tokens[0] != tokens[1]
    assert [one.request for one in played] != [one.request for one in fixed]


@pytest.mark.parametrize("name", TASKS)
def test_every_task_through_an_nli_model(name, nli_path, tmp_path):
    nli = build(
        {"_target_": "harness.models.local.nli.NLI", "name": "tiny", "path": str(nli_path), "device": "cpu"}, "model"
    )
    for form, task in tasks(name, ("variable_name", "background")):
        prompt = choose_prompt(task, nli, None)
        assert prompt.name == "pair"
        result, found = outcome(task, prompt, nli, tmp_path / (form or "plain"))
        assert set(result["scores"]) == LABELS[name]
        assert all(set(one.outcome.logprobs) == {"entailment", "neutral", "contradiction"} for one in found)
        assert "auroc" in result["scores"]["exact"]["overall"]["all"]


def test_what_an_nli_model_reads():
    def pair(task, item_id: str) -> PairRequest:
        item = next(item for item in task.items() if item.id == item_id)
        request = load(task, "pair").render(item.fields, (), PairRequest)
        assert isinstance(request, PairRequest)
        return request

    plain = pair(causalbench("Causality", networks="asia"), "asia/cause/asia/tub")
    assert plain == PairRequest("asia and tub are variables of one system.", "asia causes tub.")
    said = meanings("asia")
    known = pair(causalbench("Causality", networks="asia", format="background"), "asia/influence/asia/tub")
    assert known.premise == f"asia: {said['asia'].text} Meanwhile, tub: {said['tub'].text}"
    assert known.hypothesis == "asia influences tub."
    third = causalbench("Skeleton", networks="asia", convention="paper")
    request = pair(third, "asia/conditionally_related/asia/bronc/dysp")
    assert request.premise == "asia, bronc and dysp are variables of one system."
    chain = pair(causalbench("Chains"), "chain/4")
    assert chain == PairRequest("A causes B, B causes C and C causes D.", "A causes D.")
    with pytest.raises(ConfigError, match=r"no words for task\.format=data"):
        load(causalbench("Causality", networks="asia", format="data"), "pair")


def test_graphs_and_the_leaderboard_from_the_command_line(harness, tmp_path):
    done = harness("task=causalbench/causality", "task.networks=cancer", "task.method=2", "model=always_yes")
    assert done.returncode == 0, done.stderr
    assert "| exact labels" in done.stdout and "| paper labels" in done.stdout and "SHD" in done.stdout
    place = tmp_path / "results/causalbench/causality/method=2,networks=cancer/closed/always_yes"
    found = {file.relative_to(place).as_posix() for file in place.glob("graphs/**/*.*")}
    structures = ("direct", "indirect", "reversed_direct", "reversed_indirect", "common_effect", "common_cause")
    assert found == {f"graphs/cancer/{name}.csv" for name in structures} | {
        "graphs/cancer/direct.graphml",
        "graphs/cancer/reversed_direct.graphml",
    }
    listed = harness(module="harness.leaderboard").stdout
    assert "## causalbench/causality" in listed and "| always_yes" in listed
