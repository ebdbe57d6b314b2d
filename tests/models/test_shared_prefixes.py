"""Prompts that share common beginnings: as exact as one pass each, and each beginning computed once."""

from __future__ import annotations

import contextlib
import random
import shutil

import pytest
from sharing_models import (
    SHARING,
    TEXTS,
    beginnings,
    checkpoint,
    lm,
    memory_for,
    one_thread,
    ranking,
    read_tokens,
    reads,
    scored_alone,
    writing,
    written_alone,
)
from support.outcomes import each
from support.thinned import few

from harness.errors import RunStopped
from harness.models.local.causal_lm import CausalLM
from harness.runtime.signals import STOP
from harness.types import ChatRequest

__all__ = ["checkpoint", "memory_for", "one_thread"]
pytestmark = pytest.mark.filterwarnings("error::FutureWarning")
WRITTEN = [(kind, batch, False) for kind in SHARING for batch in (1, 40, 8192)]
WRITTEN += [(kind, 40, True) for kind in SHARING]  # there 8 tokens are written before any is looked at


@pytest.mark.parametrize("batch_tokens", [1, 13])
@pytest.mark.parametrize("kind", few(SHARING, 2))
def test_shared_scores_are_those_of_one_pass_each(kind, batch_tokens, checkpoint, capsys):
    model = lm(checkpoint(kind), batch_tokens=batch_tokens)
    several = [ranking(TEXTS[1], "Yes", "Yes A", "Yes A causes B", "No"), ranking("A", "Yes A", "Yes B")]
    requests = [*map(ranking, TEXTS), ranking("F"), *several]
    found = dict(each(model.respond(requests)))
    assert set(found) == set(requests)
    for request, response in found.items():
        assert response.logprobs == pytest.approx(scored_alone(model, request), abs=1e-4)
    assert not capsys.readouterr().err  # no fallback


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("kind", few(SHARING, 2))
def test_any_trees_scores_are_exact(kind, seed, checkpoint):
    import torch

    from harness.models.local.engine import Sequence

    draw = random.Random(seed)
    model = lm(checkpoint(kind), batch_tokens=draw.choice([5, 17, 64]))
    known = [(draw.randrange(3),)]
    for _ in range(25):  # each goes on from somewhere in an earlier one
        base = draw.choice(known)
        more = tuple(draw.randrange(3, 200) for _ in range(draw.choice([1, 2, 3, 20])))
        known.append((base[: draw.randint(1, len(base))] + more)[:60])
    sequences = [Sequence(ranking(str(k)), "", s[:cut], s[cut:]) for k, s in enumerate(known) for cut in (1, len(s))]
    found = {s: value for batch in model._engine.score(sequences) for s, value in batch}
    for sequence in sequences:
        with torch.inference_mode():
            logprobs = (
                model._parts[1](torch.tensor([sequence.prompt + sequence.continuation])).logits[0].log_softmax(-1)
            )
        start = len(sequence.prompt) - 1
        expected = sum(float(logprobs[start + k, token]) for k, token in enumerate(sequence.continuation))
        assert found[sequence] == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("kind", few(SHARING, 2))
def test_every_beginning_is_read_once(kind, checkpoint):
    model = lm(checkpoint(kind), batch_tokens=50)
    counted = read_tokens(model)
    requests = [ranking(text) for text in TEXTS]
    assert len(dict(each(model.respond(requests)))) == len(TEXTS)
    assert sum(counted) == beginnings(model, requests) < sum(map(len, reads(model, requests))) / 5
    assert max(counted) <= 50


@pytest.mark.parametrize("share", [True, False])
def test_the_output_layer_is_computed_where_something_is_asked_only(share, checkpoint):
    model = lm(checkpoint("llama"), share_prefixes=share)
    _ = model._engine
    rows: list[int] = []
    head = model._parts[1].get_output_embeddings()
    head.register_forward_hook(lambda module, inputs, output: rows.append(inputs[0].shape[:-1].numel()))
    request = ranking(TEXTS[0], "A", "B", "A correlates")
    (sequences,) = model.sequences([request])
    assert [len(sequence.continuation) for sequence in sequences] == [1, 1, 3]
    list(each(model.respond([request])))
    assert sum(rows) == (3 if share else 6)  # padded: the places of both rows
    rows.clear()
    list(each(model.respond([ranking(TEXTS[0], "A", "B")])))
    assert sum(rows) == 1


@pytest.mark.parametrize("kind, batch_tokens, on_gpu", few(WRITTEN, 3))
def test_shared_writing_is_that_of_one_token_at_a_time(kind, batch_tokens, on_gpu, checkpoint):
    model = lm(checkpoint(kind), method="generate", batch_tokens=batch_tokens)
    model._engine.on_gpu = on_gpu
    requests = [writing(text, max_tokens=3 + 8 * (k % 3)) for k, text in enumerate([*TEXTS, "A", "F"])]
    found = dict(each(model.respond(requests)))
    assert set(found) == set(requests)
    for request, response in found.items():
        expected = written_alone(model, request)
        assert response.text == model._turns.decode(expected)
        assert response.usage.output == len(expected)
        assert response.finish_reason == ("length" if len(expected) == request.max_tokens else "stop")


def test_writing_ends_at_the_end_token(checkpoint, tmp_path):
    import json

    plain = lm(checkpoint("gpt2"), method="generate")
    request = writing(TEXTS[0], max_tokens=12)
    tokens = written_alone(plain, request)
    place = next(k for k, token in enumerate(tokens) if k > 2 and token not in tokens[:k])
    path = shutil.copytree(checkpoint("gpt2"), tmp_path / "ending")
    settings = json.loads((path / "generation_config.json").read_text())
    (path / "generation_config.json").write_text(json.dumps(settings | {"eos_token_id": [0, tokens[place]]}))
    model = lm(path, method="generate")
    counted = read_tokens(model)
    (response,) = dict(each(model.respond([request]))).values()
    assert (response.text, response.finish_reason) == (model._turns.decode(tokens[:place]), "stop")
    assert response.usage.output == place
    assert sum(counted) == len(model._parts[0](TEXTS[0])["input_ids"]) + place  # no token after the end is read


@pytest.mark.parametrize(("kind", "sharing"), [("llama", True), ("gpt2", False), ("rwkv", False)])
def test_writing_ends_at_a_stop_string(kind, sharing, checkpoint):
    model = lm(checkpoint(kind), method="generate", share_prefixes=sharing)
    text = model._turns.decode(written_alone(model, writing(TEXTS[0], max_tokens=12)))
    stop = text[5:7]
    request = writing(TEXTS[0], max_tokens=12, stop=("no such words", stop))
    counted = read_tokens(model)
    (response,) = dict(each(model.respond([request]))).values()
    assert (response.text, response.finish_reason) == (text[: text.index(stop)], "stop")
    assert len(counted) < 12 and response.usage.output < 12


def test_what_is_written_shares_the_prompts_and_finished_texts_make_no_more_work(checkpoint):
    model = lm(checkpoint("gpt2"), method="generate")
    limits = [1, 2, 9, 4]
    requests = [writing(text, max_tokens=limit) for text, limit in zip(TEXTS[:4], limits, strict=True)]
    lengths = [len(written_alone(model, request)) for request in requests]
    assert lengths == limits  # none ends by itself
    counted = read_tokens(model)
    assert len(dict(each(model.respond(requests)))) == 4
    # The last token of a text is predicted, not read.
    assert sum(counted) == beginnings(model, requests) + sum(limit - 1 for limit in limits)


def test_equal_prompts_are_one_text(checkpoint):
    model = lm(checkpoint("gpt2"), method="generate")
    counted = read_tokens(model)
    requests = [writing(TEXTS[0], sample=k) for k in range(5)] + [writing(TEXTS[0], max_tokens=3)]
    found = dict(each(model.respond(requests)))
    assert sum(counted) == beginnings(model, requests) + 7
    assert {found[request].text for request in requests[:5]} == {model._turns.decode(written_alone(model, requests[0]))}
    assert found[requests[5]].text == model._turns.decode(written_alone(model, requests[5]))


@pytest.mark.parametrize("kind", ["gpt2", "llama"])
def test_out_of_memory_goes_on_with_less_from_where_it_was(kind, checkpoint, memory_for, capsys):
    model = lm(checkpoint(kind), batch_tokens=100)
    expected = {request: scored_alone(model, request) for request in map(ranking, TEXTS)}
    _ = model._engine
    passed = memory_for(lambda number, tokens, held: tokens > 30)
    found = dict(each(model.respond(expected)))
    assert {request: dict(found[request].logprobs) for request in expected} == {
        request: pytest.approx(scores, abs=1e-4) for request, scores in expected.items()
    }
    assert sum(passed) == beginnings(model, expected) and max(passed) == 25  # nothing twice
    said = capsys.readouterr().err
    assert said.count("out of memory with") == 2 and "going on with 25" in said
    assert len(dict(each(model.respond(map(ranking, TEXTS))))) == len(TEXTS)
    assert not capsys.readouterr().err  # the next window begins with what fits


def test_without_any_memory_the_run_ends_and_keeps_its_answers(checkpoint, memory_for):
    model = lm(checkpoint("gpt2"), batch_tokens=60)
    _ = model._engine
    memory_for(lambda number, tokens, held: number > 1)
    found = []
    with pytest.raises(RunStopped, match="out of memory"):
        found.extend(each(model.respond(map(ranking, TEXTS))))
    assert 0 < len(found) < len(TEXTS)


@pytest.mark.parametrize("at", few([0, 1, 3, 6], 2))
def test_out_of_memory_while_writing_keeps_what_is_written(at, checkpoint, memory_for, capsys):
    model = lm(checkpoint("llama"), method="generate", batch_tokens=200)
    requests = [writing(text, max_tokens=2 + 3 * (k % 3)) for k, text in enumerate(TEXTS)]
    expected = {request: model._turns.decode(written_alone(model, request)) for request in requests}
    _ = model._engine
    memory_for(lambda number, tokens, held: number == at)
    answered = list(each(model.respond(requests)))
    assert len(answered) == len(requests)
    assert {request: response.text for request, response in answered} == expected
    assert capsys.readouterr().err.count("out of memory with") == 1


@pytest.mark.parametrize("request_of", [ranking, writing])
def test_nothing_is_begun_after_ctrl_c(request_of, checkpoint):
    model = lm(checkpoint("gpt2"), batch_tokens=60)
    found = []
    with contextlib.ExitStack() as after:
        after.callback(setattr, STOP, "requested", False)
        for outcome in each(model.respond(map(request_of, TEXTS))):
            found.append(outcome)
            STOP.requested = True
    assert 0 < len(found) < len(TEXTS)
    assert len(dict(each(model.respond(map(request_of, TEXTS))))) == len(TEXTS)


REASONS = {
    "mamba": "layers of linear_attention",
    "bloom": "a trial failed",
    "longrope": "positions depend on the length of the whole text; with model.max_length=40 they do not",
    "rwkv": "a trial was",
    "mpt": "biases go by place",
    "doge": "looks at depends on the length of the whole text",
    "gpt_neo": "look back by place",
}


@pytest.mark.parametrize("kind", few(REASONS, 1))
def test_a_model_that_cannot_share_says_so_once_and_computes_each_prompt(kind, checkpoint, capsys, monkeypatch):
    monkeypatch.setattr(CausalLM, "window", 5)
    model = lm(checkpoint(kind), batch_tokens=100)
    requests = [*map(ranking, TEXTS), writing(TEXTS[0]), writing("A")]
    found = dict(each(model.respond(requests)))
    for request in requests:
        if isinstance(request, ChatRequest):
            assert found[request].text == model._turns.decode(written_alone(model, request))
        else:
            assert found[request].logprobs == pytest.approx(scored_alone(model, request), abs=1e-4)
    said = capsys.readouterr().err
    assert said.count("prompts cannot share what they begin with") == 1 and REASONS[kind] in said


@pytest.mark.parametrize("kind", ["gpt2", "llama", "gemma2"])
def test_a_trial_finds_models_that_would_be_wrong(kind, checkpoint, monkeypatch):
    import torch

    from harness.models.local.prefix_sharing import obstacle
    from harness.models.local.prefix_tree import Memory

    _, model = lm(checkpoint(kind))._parts
    assert obstacle(model, 512) is None
    read, masks = Memory.read, Memory._masks
    with monkeypatch.context() as wrong:  # a model that counts positions by place
        places = lambda self, tokens, depths, *rest: read(self, tokens, self.length + torch.arange(len(tokens)), *rest)  # noqa: E731
        wrong.setattr(Memory, "read", places)
        assert "off" in (obstacle(model, 512) or "")
    with monkeypatch.context() as wrong:  # one that looks at everything before it
        before = lambda sees: torch.ones_like(sees).tril(sees.shape[1] - sees.shape[0])  # noqa: E731
        wrong.setattr(Memory, "_masks", lambda self, sees, depths: masks(self, before(sees), depths))
        assert "off" in (obstacle(model, 512) or "")


def test_what_is_remembered_is_the_way_down_only(checkpoint, monkeypatch):
    from harness.models.local.prefix_tree import Memory

    model = lm(checkpoint("gpt2"), batch_tokens=20)
    _ = model._engine
    kept: list[int] = []
    keep = Memory.keep
    monkeypatch.setattr(Memory, "keep", lambda self, slots=None: (keep(self, slots), kept.append(self.length)))
    requests = [ranking(text) for text in TEXTS]
    list(each(model.respond(requests)))
    assert 0 < max(kept) < max(map(len, reads(model, requests))) < beginnings(model, requests) / 2
