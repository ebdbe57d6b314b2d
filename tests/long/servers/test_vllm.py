"""vLLM, built for processors: exact ranking by the choices' own tokens, its prefix cache, forms, echo."""

from __future__ import annotations

import json
import math
import re
import urllib.request
from dataclasses import replace

import pytest
from asking import HELD, RANKED, TOO_LONG, WRITTEN, ask, probabilities

from harness.errors import RunStopped
from harness.models.api.openai import Chat, Completions
from harness.types import ChoiceRequest, Failure, Message, Response

pytestmark = pytest.mark.servers


def cached_tokens(address: str) -> float:
    with urllib.request.urlopen(address.removesuffix("/v1") + "/metrics", timeout=30) as reply:
        return float(re.search(r"^vllm:prompt_tokens_cached_total{.*} (\S+)$", reply.read().decode(), re.MULTILINE)[1])


@pytest.mark.parametrize("kind", [Chat, Completions])
def test_it_writes_and_counts(vllm, kind):
    outcome = ask(kind, vllm, WRITTEN)
    assert isinstance(outcome, Response) and outcome.finish_reason == "length" and outcome.usage.output == 5


@pytest.mark.parametrize("kind", [Chat, Completions])
def test_it_ranks_by_the_likeliest_tokens(vllm, tiny, kind):
    outcome = ask(kind, vllm, RANKED, method="rank")
    assert isinstance(outcome, Response)
    whole = probabilities(tiny, kind is Chat)  # over the whole vocabulary
    assert all(
        math.exp(p) <= whole[choice] * 1.001 for choice, p in outcome.logprobs.items() if choice not in outcome.bounded
    )


def test_choices_of_several_tokens_are_echoed(vllm):
    outcome = ask(Completions, vllm, replace(RANKED, choices=("Question", "Out of question")), method="rank")
    assert isinstance(outcome, Response) and outcome.outside is None and set(outcome.logprobs)


def test_rankings_that_share_a_premise_take_it_from_the_prefix_cache(vllm):
    premise = "All the statistical relations among these variables are as follows: A correlates with B. " * 12
    for choices, some in ((("Yes", "No"), True), (("Yes, so", "No"), False)):
        asked = [ChoiceRequest((Message("user", f"{premise} Is {k} so?"),), choices) for k in range(6)]
        before = cached_tokens(vllm)
        ask(Completions, vllm, *asked, method="rank", max_concurrency=1, extra={"cache_salt": choices[0]})
        assert (cached_tokens(vllm) > before) is some


def test_a_form_is_held(vllm):
    outcome = ask(Chat, vllm, HELD)
    assert isinstance(outcome, Response) and json.loads(outcome.text)["answer"] in ("Yes", "No")


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
