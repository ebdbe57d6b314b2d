"""llama.cpp's own server: log-probabilities of the next token in a form of its own, grammars, no echo."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest
from asking import HELD, RANKED, TOO_LONG, WRITTEN, ask, probabilities

from harness.errors import RunStopped
from harness.models.api.openai import Chat, Completions
from harness.types import Failure, Response

pytestmark = pytest.mark.servers


@pytest.mark.parametrize("kind", [Chat, Completions])
def test_it_writes_and_counts(llama_cpp, kind):
    outcome = ask(kind, llama_cpp, WRITTEN)
    assert isinstance(outcome, Response) and outcome.text and outcome.finish_reason == "length"
    assert outcome.usage.output == 5 and outcome.usage.input > 5 and outcome.system_fingerprint


@pytest.mark.parametrize("kind", [Chat, Completions])
def test_it_ranks_as_the_checkpoint_does(llama_cpp, tiny, kind):
    """500 tokens are all that there are, so that none is outside of what it tells."""
    outcome = ask(kind, llama_cpp, RANKED, method="rank", top_logprobs=500)
    assert isinstance(outcome, Response) and not outcome.bounded
    found = {choice: math.exp(p) for choice, p in outcome.logprobs.items()}
    assert found == pytest.approx(probabilities(tiny, kind is Chat), rel=0.02)  # it computes with fewer digits


def test_it_ignores_echo_and_the_run_is_told_so(llama_cpp):
    with pytest.raises(RunStopped, match=r"gives no log-probabilities for a prompt \(echo\)"):
        ask(Completions, llama_cpp, replace(RANKED, choices=("Yes, so", "No")), method="rank")


def test_a_form_is_held(llama_cpp):
    outcome = ask(Chat, llama_cpp, HELD)
    assert isinstance(outcome, Response) and json.loads(outcome.text)["answer"] in ("Yes", "No")


def test_it_answers_for_any_name_and_says_its_own(llama_cpp):
    assert ask(Chat, llama_cpp, WRITTEN, model="another").served_model == "tiny"


def test_what_is_too_long_is_a_failure_of_that_name(llama_cpp):
    outcome = ask(Chat, llama_cpp, TOO_LONG)
    assert isinstance(outcome, Failure) and outcome.kind == "context_length"


def test_an_address_without_v1_serves_as_well(llama_cpp):
    assert isinstance(ask(Chat, llama_cpp.removesuffix("/v1"), WRITTEN), Response)


def test_a_seed_gives_the_same_draws_again(llama_cpp):
    request = replace(WRITTEN, max_tokens=12)
    texts = [ask(Chat, llama_cpp, request, temperature=1.0, seed=seed).text for seed in (1, 1, 2)]
    assert texts[0] == texts[1] != texts[2]
