"""transformers' own server: it writes, and ignores what it does not know with a line in its log."""

from __future__ import annotations

from dataclasses import replace

import pytest
from asking import HELD, QUESTION, RANKED, TOO_LONG, WRITTEN, ask

from harness.errors import RunStopped
from harness.models.api.openai import Chat, Completions
from harness.types import ChatRequest, Response

pytestmark = pytest.mark.servers


@pytest.mark.parametrize("kind", [Chat, Completions])
def test_it_writes_and_counts(transformers_serve, tiny, kind):
    outcome = ask(kind, transformers_serve, WRITTEN, model=str(tiny))
    assert isinstance(outcome, Response) and outcome.text and outcome.finish_reason == "length"
    assert outcome.usage.output == 5 and outcome.usage.input > 5 and outcome.served_model.startswith(str(tiny))
    assert ask(kind, transformers_serve, WRITTEN, model=str(tiny)).text == outcome.text


@pytest.mark.parametrize(("kind", "settings"), [(Chat, {}), (Completions, {})])
def test_it_ranks_by_no_means_and_the_run_is_told_so(transformers_serve, tiny, kind, settings):
    with pytest.raises(RunStopped, match=r"gives no log-probabilities .*use model\.method=generate"):
        ask(kind, transformers_serve, RANKED, model=str(tiny), method="rank", **settings)


def test_it_ignores_a_form_and_the_reply_is_seen_to_be_none(transformers_serve, tiny):
    outcome = ask(Chat, transformers_serve, HELD, model=str(tiny))
    assert isinstance(outcome, Response) and "answer" not in outcome.text


def test_another_model_is_refused_in_its_words(transformers_serve):
    with pytest.raises(RunStopped, match="pinned"):
        requests = [ChatRequest(QUESTION, max_tokens=k) for k in range(1, 20)]
        ask(Chat, transformers_serve, *requests, model="another", attempts=1)


def test_it_takes_more_than_the_model_does(transformers_serve, tiny):
    outcome = ask(Chat, transformers_serve, TOO_LONG, model=str(tiny))
    assert isinstance(outcome, Response) and outcome.usage.input > 2048  # whatever it is, it is no answer


def test_an_address_without_v1_is_said_to_be_none(transformers_serve, tiny):
    with pytest.raises(RunStopped, match=r"model\.base_url"):
        ask(Chat, transformers_serve.removesuffix("/v1"), WRITTEN, model=str(tiny))


def test_it_draws_only_where_the_checkpoint_says_so_and_then_by_the_seed(transformers_serve, tiny):
    def texts(**settings):
        settings |= {"model": str(tiny), "temperature": 1.0}
        request = replace(WRITTEN, max_tokens=12)
        return [ask(Chat, transformers_serve, request, seed=seed, **settings).text for seed in (1, 1, 2)]

    assert len(set(texts())) == 1  # a temperature alone changes nothing
    first, again, other = texts(extra={"generation_config": '{"do_sample": true}'})
    assert first == again != other
