"""vLLM, built for processors: exact ranking by the choices' own tokens, its prefix cache, forms, echo."""

from __future__ import annotations

import json
import math
import re
import urllib.request
from dataclasses import replace

import pytest
from asking import HELD, QUESTION, RANKED, TOO_LONG, WRITTEN, ask, probabilities

from harness.errors import RunStopped
from harness.models.api.openai import Chat, Completions
from harness.types import ChoiceRequest, Failure, Message, Response

pytestmark = pytest.mark.servers


def post(address: str, path: str, body: dict) -> dict:
    request = urllib.request.Request(address + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=120) as reply:
        return json.load(reply)


def cached_tokens(address: str) -> float:
    with urllib.request.urlopen(address.removesuffix("/v1") + "/metrics", timeout=30) as reply:
        return float(re.search(r"^vllm:prompt_tokens_cached_total{.*} (\S+)$", reply.read().decode(), re.MULTILINE)[1])


@pytest.mark.parametrize("kind", [Chat, Completions])
def test_it_writes_and_counts(vllm, kind):
    outcome = ask(kind, vllm, WRITTEN)
    assert isinstance(outcome, Response) and outcome.finish_reason == "length" and outcome.usage.output == 5


@pytest.mark.parametrize("kind", [Chat, Completions])
def test_it_ranks_as_the_checkpoint_does_over_its_whole_vocabulary(vllm, tiny, kind):
    outcome = ask(kind, vllm, RANKED, method="rank")
    assert isinstance(outcome, Response) and not outcome.bounded
    found = {choice: math.exp(p) for choice, p in outcome.logprobs.items()}
    assert found == pytest.approx(probabilities(tiny, kind is Chat), rel=1e-4)
    assert outcome.outside == pytest.approx(1 - sum(found.values()), abs=1e-5)


def test_a_token_has_the_value_that_echo_gives_it(vllm):
    """Of a choice that is read as one spelling only: what stands behind the prompt in echo."""
    numbers = post(vllm.removesuffix("/v1"), "/tokenize", {"prompt": " Yes", "add_special_tokens": False})["tokens"]
    body = {"model": "tiny", "prompt": QUESTION[0].content, "max_tokens": 1, "logprobs": 1, "temperature": 0}
    asked = post(vllm, "/completions", {**body, "logprob_token_ids": numbers, "return_tokens_as_token_ids": True})
    (value,) = [asked["choices"][0]["logprobs"]["top_logprobs"][0][f"token_id:{number}"] for number in numbers]
    echoed = ask(Completions, vllm, RANKED, method="rank", rank="echo")
    assert echoed.logprobs["Yes"] == pytest.approx(value, abs=1e-5)


def test_choices_of_several_tokens_are_echoed(vllm):
    outcome = ask(Completions, vllm, replace(RANKED, choices=("Question", "Unquestionably")), method="rank")
    assert isinstance(outcome, Response) and outcome.outside is None and set(outcome.logprobs)


def test_rankings_that_share_a_premise_take_it_from_the_prefix_cache(vllm):
    premise = "All the statistical relations among these variables are as follows: A correlates with B. " * 12
    asked = [ChoiceRequest((Message("user", f"{premise} Is {k} so?"),), ("Yes", "No")) for k in range(6)]
    for rank, some in (("next_token", True), ("echo", False)):
        before = cached_tokens(vllm)
        ask(Completions, vllm, *asked, method="rank", rank=rank, max_concurrency=1, extra={"cache_salt": rank})
        assert (cached_tokens(vllm) > before) is some


@pytest.mark.parametrize("means", ["json_schema", "structured_outputs"])
def test_a_form_is_held(vllm, means):
    outcome = ask(Chat, vllm, replace(HELD, form=replace(HELD.form, means=means)))
    assert isinstance(outcome, Response)
    assert (json.loads(outcome.text)["answer"] if means == "json_schema" else outcome.text) in ("Yes", "No")


def test_another_model_is_refused_in_its_words(vllm):
    with pytest.raises(RunStopped, match=r"`another` does not exist"):
        ask(Chat, vllm, WRITTEN, model="another")


def test_what_is_too_long_is_a_failure_of_that_name(vllm):
    outcome = ask(Chat, vllm, TOO_LONG)
    assert isinstance(outcome, Failure) and outcome.kind == "context_length"


def test_an_address_without_v1_is_said_to_be_none(vllm):
    with pytest.raises(RunStopped, match=r"model\.base_url"):
        ask(Chat, vllm.removesuffix("/v1"), WRITTEN)


def test_a_seed_gives_the_same_draws_again(vllm):
    request = replace(WRITTEN, max_tokens=12)
    texts = [ask(Chat, vllm, request, temperature=1.0, seed=seed).text for seed in (1, 1, 2)]
    assert texts[0] == texts[1] != texts[2]
