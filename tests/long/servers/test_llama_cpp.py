"""llama.cpp's own server: log-probabilities of the next token in a form of its own, grammars."""

from __future__ import annotations

import math

import pytest
from asking import RANKED, ask, probabilities

from harness.models.api.openai import Chat, Completions
from harness.types import Response

pytestmark = pytest.mark.servers


@pytest.mark.parametrize("kind", [Chat, Completions])
def test_it_ranks_as_the_checkpoint_does(llama_cpp, tiny, kind):
    """500 tokens are all that there are, so that none is outside of what it tells."""
    outcome = ask(kind, llama_cpp, RANKED, method="rank", top_logprobs=500)
    assert isinstance(outcome, Response) and not outcome.bounded
    found = {choice: math.exp(p) for choice, p in outcome.logprobs.items()}
    assert found == pytest.approx(probabilities(tiny, kind is Chat), rel=0.02)  # it computes with fewer digits
