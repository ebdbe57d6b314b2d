"""vLLM, built for processors: exact ranking by the choices' own tokens, its prefix cache, forms."""

from __future__ import annotations

import math
import re
import urllib.request

import pytest
from asking import RANKED, ask, probabilities

from harness.models.api.openai import Chat, Completions
from harness.types import ChoiceRequest, Message, Response

pytestmark = pytest.mark.servers


def cached_tokens(address: str) -> float:
    with urllib.request.urlopen(address.removesuffix("/v1") + "/metrics", timeout=30) as reply:
        return float(re.search(r"^vllm:prompt_tokens_cached_total{.*} (\S+)$", reply.read().decode(), re.MULTILINE)[1])


@pytest.mark.parametrize("kind", [Chat, Completions])
def test_it_ranks_by_the_likeliest_tokens(vllm, tiny, kind):
    outcome = ask(kind, vllm, RANKED, method="rank")
    assert isinstance(outcome, Response)
    whole = probabilities(tiny, kind is Chat)  # over the whole vocabulary
    assert all(
        math.exp(p) <= whole[choice] * 1.001 for choice, p in outcome.logprobs.items() if choice not in outcome.bounded
    )


def test_rankings_that_share_a_premise_take_it_from_the_prefix_cache(vllm):
    premise = "All the statistical relations among these variables are as follows: A correlates with B. " * 12
    asked = [ChoiceRequest((Message("user", f"{premise} Is {k} so?"),), ("Yes", "No")) for k in range(6)]
    before = cached_tokens(vllm)
    ask(Completions, vllm, *asked, method="rank", max_concurrency=1)
    assert cached_tokens(vllm) > before
