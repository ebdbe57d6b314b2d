"""What the servers of llama.cpp, transformers and vLLM have in common, and where they differ (docs/servers.md)."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from asking import HELD, QUESTION, RANKED, TOO_LONG, WRITTEN, ask

from harness.errors import RunStopped
from harness.models.api.openai import Chat, Completions
from harness.types import ChatRequest, Failure, Response

pytestmark = pytest.mark.servers


@pytest.fixture(params=["llama_cpp", "transformers_serve", "vllm"])
def engine(request) -> str:
    return request.param


@pytest.fixture
def server(request, engine) -> str:
    return request.getfixturevalue(engine)


@pytest.fixture
def model(engine, tiny) -> str:
    return str(tiny) if engine == "transformers_serve" else "tiny"


def drawn(server: str, **settings) -> list[str]:
    request = replace(WRITTEN, max_tokens=12)
    return [ask(Chat, server, request, temperature=1.0, seed=seed, **settings).text for seed in (1, 1, 2)]


@pytest.mark.parametrize("kind", [Chat, Completions])
def test_it_writes_and_counts(server, model, kind):
    outcome = ask(kind, server, WRITTEN, model=model)
    assert isinstance(outcome, Response) and outcome.text and outcome.finish_reason == "length"
    assert outcome.usage.output == 5 and outcome.usage.input > 5 and outcome.served_model.startswith(model)


def test_a_form_is_held_or_the_reply_is_seen_to_be_none(engine, server, model):
    text = ask(Chat, server, HELD, model=model).text
    assert "answer" not in text if engine == "transformers_serve" else json.loads(text)["answer"] in ("Yes", "No")


def test_what_is_too_long_is_a_failure_of_that_name_or_taken_and_nonsense(engine, server, model):
    outcome = ask(Chat, server, TOO_LONG, model=model)
    if engine == "transformers_serve":
        assert isinstance(outcome, Response) and outcome.usage.input > 2048
    else:
        assert isinstance(outcome, Failure) and outcome.kind == "context_length"


def test_another_name_is_refused_in_its_words_or_answered_all_the_same(engine, server):
    requests = [ChatRequest(QUESTION, max_tokens=k) for k in range(1, 20)]
    if engine == "llama_cpp":
        assert ask(Chat, server, WRITTEN, model="another").served_model == "tiny"
    else:
        with pytest.raises(RunStopped, match=r"pinned|`another` does not exist"):
            ask(Chat, server, *requests, model="another", attempts=1)


def test_an_address_without_v1_serves_or_is_said_to_be_none(engine, server, model):
    if engine == "llama_cpp":
        assert isinstance(ask(Chat, server.removesuffix("/v1"), WRITTEN), Response)
    else:
        with pytest.raises(RunStopped, match=r"model\.base_url"):
            ask(Chat, server.removesuffix("/v1"), WRITTEN, model=model)


def test_a_seed_gives_the_same_draws_again_transformers_where_the_checkpoint_draws_at_all(engine, server, model):
    sampling = {}
    if engine == "transformers_serve":
        assert len(set(drawn(server, model=model))) == 1  # a temperature alone changes nothing
        sampling = {"extra": {"generation_config": '{"do_sample": true}'}}
    first, again, other = drawn(server, model=model, **sampling)
    assert first == again != other


@pytest.mark.parametrize("kind", [Chat, Completions])
def test_transformers_ranks_by_no_means_and_the_run_is_told_so(transformers_serve, tiny, kind):
    with pytest.raises(RunStopped, match=r"gives no log-probabilities .*use model\.method=generate"):
        ask(kind, transformers_serve, RANKED, model=str(tiny), method="rank")
