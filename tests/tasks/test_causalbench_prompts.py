"""The words of CausalBench's prompts, as they reach a model."""

from __future__ import annotations

import pytest
from support.causalbench_help import SENTENCE, causalbench, load
from support.scripted import Scripted

from harness.codec import asked
from harness.config_files import PROMPTS
from harness.errors import ConfigError
from harness.prompting import prompts
from harness.run import ask
from harness.tasks.causalbench.networks import meanings
from harness.types import ChatRequest, PairRequest, Response


def sent(task, prompt: prompts.Prompt, item_id: str) -> list[tuple[str, str]]:
    """Return the messages of an item's question."""
    scripted = Scripted(lambda request: Response("Yes"))
    (digest,) = (
        record.request for record in ask(task.items(), prompt, scripted, ChatRequest) if record.item == item_id
    )
    (request,) = (request for request in scripted.asked if asked(request) == digest)
    return [(message.role, message.content) for message in request.messages]


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
    meaning = meanings("asia")
    knowledge = f"asia: {meaning['asia'].text} Meanwhile, tub: {meaning['tub'].text}"
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


def test_what_an_nli_model_reads():
    def pair(task, item_id: str) -> PairRequest:
        item = next(item for item in task.items() if item.id == item_id)
        request = load(task, "pair").render(item.fields, (), PairRequest)
        assert isinstance(request, PairRequest)
        return request

    plain = pair(causalbench("Causality", networks="asia"), "asia/cause/asia/tub")
    assert plain == PairRequest("asia and tub are variables of one system.", "asia causes tub.")
    meaning = meanings("asia")
    background = pair(causalbench("Causality", networks="asia", format="background"), "asia/influence/asia/tub")
    assert background.premise == f"asia: {meaning['asia'].text} Meanwhile, tub: {meaning['tub'].text}"
    assert background.hypothesis == "asia influences tub."
    third = causalbench("Skeleton", networks="asia", convention="paper")
    request = pair(third, "asia/conditionally_related/asia/bronc/dysp")
    assert request.premise == "asia, bronc and dysp are variables of one system."
    chain = pair(causalbench("Chains"), "chain/4")
    assert chain == PairRequest("A causes B, B causes C and C causes D.", "A causes D.")
    with pytest.raises(ConfigError, match=r"no words for task\.format=data"):
        load(causalbench("Causality", networks="asia", format="data"), "pair")
