"""CausalBench from end to end: openings, what does not fit, and what is left on disk."""

from __future__ import annotations

from collections import Counter

import pytest
from support.causalbench_help import RECEIVED, SENTENCE, answers, causalbench, is_part, load, result_in
from support.cli_help import sentence
from support.openai_server import KEY
from support.scripted import Scripted

from harness.codec import asked
from harness.config_files import PROMPTS
from harness.prompting.fit import fitting
from harness.run import ask
from harness.settings import build
from harness.types import ChatRequest, Response

DATA = ("task=causalbench/causality", "task.networks=[asia,cancer]", "task.format=data", "task.limit=40")


def network_of(call: dict) -> str:
    """Return the network that the first user turn names."""
    first = next(m["content"] for m in call["messages"] if m["role"] == "user")
    return first.partition("Bayesian network named ")[2].partition(".")[0]


def model(server, *more: str) -> tuple[str, ...]:
    # Of a model that is not known nobody knows the context either.
    return "model=openai", "model.model=gpt4", f"model.base_url={server.url}", *more


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
    task = causalbench("Causality", networks="asia", format="data", columns="file")
    scripted = Scripted(lambda r: Response("Yes" if "question" in r.messages[-1].content else f"r{len(r.messages)}"))
    records = list(ask(task.items(), load(task, "closed"), scripted, ChatRequest))
    assert len(scripted.asked) == 5 + 280 and len(records) == 280
    item = next(item for item in task.items() if item.id == "asia/cause/asia/tub")
    digest = next(record.request for record in records if record.item == item.id)
    request = next(request for request in scripted.asked if asked(request) == digest)
    roles = [message.role for message in request.messages]
    assert roles == ["system", *["user", "assistant"] * 5, "user"]
    contents = [message.content for message in request.messages]
    assert contents[0] == SENTENCE
    # Figure 21, and after each part what the model said to it.
    for number, part in enumerate(item.fields["parts"], start=1):
        assert contents[2 * number - 1] == (
            "There are a total of five parts matrices, together forming an input sample of the Bayesian network named "
            "Asia. You need to combine the five input matrix into a unified input sample of the Bayesian network "
            f"matrix in the order of input. Here is the part {number} of the matrix:\n{part}"
        )
        assert contents[2 * number] == f"r{2 * number}"
        assert part.startswith("asia | tub | smoke | lung | bronc | either | xray | dysp\n") and part.count("\n") == 100
    assert contents[-1] == (
        "Please answer the following question: Does asia cause tub? Just answer Yes or No. No explanation."
    )
    # Turn by turn the opening has room for more than a word.
    assert [r.max_tokens for r in scripted.asked[:6]] == [512] * 5 + [100]


def test_a_model_with_a_chat_template_takes_the_turns(llama_path, monkeypatch):
    section = {"_target_": "harness.models.local.causal_lm.CausalLM", "name": "llama", "path": str(llama_path)}
    chat = build(section | {"method": "rank", "device": "cpu"}, "model")
    task = causalbench("Causality", networks="cancer", format="background_data", rows=4, parts=2, limit=4)
    read = []
    as_is = chat._turns.text
    monkeypatch.setattr(chat._turns, "text", lambda messages: read.append(as_is(messages)) or read[-1])
    prompt = load(task, "closed", replies="fixed")
    records = list(ask(task.items(), prompt, chat, fitting(prompt, chat)))
    assert len(records) == 4 and all(record.answer for record in records)
    assert len(read) == 4 and chat._turns.templated
    for text in read:
        turns = ["<system>", "<user>", "<assistant>", "<user>", "<assistant>", "<user>", "<assistant>"]
        assert [word for word in text.replace("<", " <").replace(">", "> ").split() if word in turns] == turns
        assert text.count(RECEIVED) == 2 and text.endswith("<assistant>")


def test_without_an_opening_fixed_replies_change_nothing(harness, serve, tmp_path):
    arguments = ("task=causalbench/causality", "task.networks=cancer", "task.limit=5", "model=always_no")
    assert harness(*arguments, "replies=fixed").returncode == 0
    places = list(tmp_path.glob("results/causalbench/causality/*/closed/always_no/manifest.json"))
    assert [place.parts[-4] for place in places] == ["limit=5,networks=cancer"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("prompt=pair task.format=data", "prompt pair has no words for task.format=data; it has them for background."),
        pytest.param(
            "prompt=pair task.format=background model=always_no", "These do: closed, open.", marks=pytest.mark.slow
        ),
        ("prompt=unsaid.yaml task.format=data replies=fixed", "replies=fixed: unsaid.yaml has no opening_reply"),
        ("prompt=torn.yaml", "torn.yaml: there is no setting"),
        pytest.param("prompt=number.yaml", "opening_for_each names pars", marks=pytest.mark.slow),
    ],
)
def test_what_does_not_fit_gets_one_sentence(harness, tmp_path, arguments, message):
    closed = (PROMPTS / "causalbench/closed.yaml").read_text()
    lines = [line for line in closed.splitlines() if "opening_reply" not in line]
    (tmp_path / "unsaid.yaml").write_text("\n".join(lines))
    (tmp_path / "torn.yaml").write_text(closed.replace("    opening_reply", "    opening_repy"))
    (tmp_path / "number.yaml").write_text(
        "source: mine\nmakes: [chat]\nuser: '{question}'\nopening_for_each: pars\nopening: ['{value}']\n"
    )
    model_given = () if "model=" in arguments else ("model=always_no",)
    assert message in sentence(harness("task=causalbench/causality", *model_given, *arguments.split()))
