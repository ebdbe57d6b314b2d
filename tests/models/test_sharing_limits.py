"""The limits of shared prompts: memory, interruption, and models that cannot share."""

from __future__ import annotations

import itertools
import signal
from typing import TYPE_CHECKING

import pytest
from sharing_models import (
    SHARING,
    SWITCH,
    TEXTS,
    beginnings,
    checkpoint,
    lm,
    memory_for,
    model_of,
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

from harness.errors import ConfigError, RunStopped
from harness.runtime.progress import Progress
from harness.runtime.signals import interruptible

if TYPE_CHECKING:
    from harness.models.local.prefix_tree import Memory

__all__ = ["checkpoint", "memory_for", "one_thread"]
LOW = ("bfloat16", "float16")


@pytest.fixture
def memories(monkeypatch):
    """Return a list that collects every Memory made from now on."""
    from harness.models.local.prefix_tree import Memory

    made: list[Memory] = []
    init = Memory.__init__
    monkeypatch.setattr(Memory, "__init__", lambda self, model: (made.append(self), init(self, model))[1])
    return made


def is_empty(memory: Memory) -> bool:
    return memory.length == 0 and not any(layer.is_initialized for layer in memory.cache.layers)


@pytest.mark.parametrize("request_of", [ranking, writing])
def test_nothing_is_remembered_afterwards(request_of, checkpoint, memories):
    model = lm(checkpoint("llama"), batch_tokens=60)
    _ = model._engine
    memories.clear()  # that of the trial
    assert len(list(each(model.respond(map(request_of, TEXTS))))) == len(TEXTS)
    assert memories and all(map(is_empty, memories))
    given_up = each(model.respond(map(request_of, TEXTS)))
    next(given_up)
    assert not all(map(is_empty, memories))
    given_up.close()
    assert all(map(is_empty, memories))


@pytest.mark.parametrize("request_of", [ranking, writing])
def test_nothing_is_remembered_after_an_error(request_of, checkpoint, memories, memory_for):
    model = lm(checkpoint("llama"), batch_tokens=60)
    _ = model._engine
    memories.clear()
    memory_for(lambda number, tokens, held: number > 1)
    with pytest.raises(RunStopped, match="out of memory"):  # whose traceback still knows the frames
        list(each(model.respond(map(request_of, TEXTS))))
    assert memories and all(map(is_empty, memories))


def test_an_answer_given_up_late_takes_nothing_from_the_next(checkpoint):
    model = lm(checkpoint("llama"), batch_tokens=60)
    given_up = each(model.respond(map(ranking, TEXTS)))
    next(given_up)
    found = {}
    for request, response in each(model.respond(map(ranking, TEXTS))):
        given_up.close()
        found[request] = response
    assert len(found) == len(TEXTS)
    for request, response in found.items():
        assert response.logprobs == pytest.approx(scored_alone(model, request), abs=1e-4)


def test_out_of_memory_while_prompts_are_read_goes_on_with_less(checkpoint, memory_for, capsys):
    model = lm(checkpoint("llama"), method="generate", batch_tokens=200)
    requests = [writing(text, max_tokens=2 + 3 * (k % 3)) for k, text in enumerate(TEXTS)]
    expected = {request: written_alone(model, request) for request in requests}
    _ = model._engine
    passed = memory_for(lambda number, tokens, held: tokens > 30)
    found = dict(each(model.respond(requests)))
    assert {request: found[request].text for request in requests} == {
        request: model._turns.decode(tokens) for request, tokens in expected.items()
    }
    # Nothing is read twice; the last token of a text is not read.
    assert sum(passed) == beginnings(model, requests) + sum(len(tokens) - 1 for tokens in expected.values())
    said = capsys.readouterr().err
    assert said.count("out of memory with") == 3 and "going on with 23" in said


@pytest.mark.parametrize("request_of", [ranking, writing])
def test_out_of_memory_while_tokens_are_moved_leaves_no_wrong_number(request_of, checkpoint, monkeypatch):
    import torch

    from harness.models.local.prefix_tree import Layer

    model = lm(checkpoint("llama"), batch_tokens=60)
    requests = [request_of(text) for text in TEXTS]
    expected = dict(each(model.respond(requests)))
    keep, numbers = Layer.keep, iter(range(10**6))

    def failing(self, first, slots):
        if (slots is not None or request_of is writing) and next(numbers) == 3:  # the second of two layers
            raise torch.OutOfMemoryError("CUDA out of memory")
        keep(self, first, slots)

    monkeypatch.setattr(Layer, "keep", failing)
    found = []
    try:
        found.extend(each(model.respond(requests)))
    except RunStopped as stopped:
        assert "out of memory" in str(stopped)
    assert next(numbers) > 3
    if request_of is ranking:
        assert 0 < len(found) < len(TEXTS)
    for request, response in found:
        assert response.text == expected[request].text
        assert response.logprobs == (expected[request].logprobs and pytest.approx(expected[request].logprobs, abs=1e-4))


def test_the_second_ctrl_c_ends_writing_at_once(checkpoint):
    model = lm(checkpoint("llama"), method="generate")
    _ = model._engine
    passes: list[int] = []

    def impatient(*_):
        passes.append(1)
        if len(passes) in (3, 5):
            signal.raise_signal(signal.SIGINT)

    hook = model._parts[1].get_input_embeddings().register_forward_hook(impatient)
    requests = [writing(text, max_tokens=50) for text in TEXTS]
    with pytest.raises(KeyboardInterrupt), interruptible(Progress("writing").say):
        list(each(model.respond(requests)))
    assert len(passes) == 5
    hook.remove()
    found = dict(each(model.respond(requests[:2])))
    assert {request: found[request].text for request in requests[:2]} == {
        request: model._turns.decode(written_alone(model, request)) for request in requests[:2]
    }


@pytest.mark.parametrize("kind", ["rwkv", "longrope", "mamba", "llama"])
def test_texts_do_not_depend_on_who_shares_the_batch(kind, checkpoint):
    model = lm(checkpoint(kind), share_prefixes=False)
    requests = [writing(text) for text in [*TEXTS[::3], *(text.replace("A", "C") for text in TEXTS[::3]), "A"]]
    found = dict(each(model.respond(requests)))
    for request in requests:
        alone = dict(each(model.respond([request])))[request]
        assert (found[request].text, found[request].usage) == (alone.text, alone.usage)
        if kind != "longrope":  # whose positions change in the middle of a text
            assert alone.text == model._turns.decode(written_alone(model, request))


def test_scores_do_not_depend_on_who_shares_the_batch(checkpoint):
    model = lm(checkpoint("longrope"))
    requests = [*map(ranking, TEXTS), ranking("A")]
    assert min(map(len, reads(model, requests))) < SWITCH < max(map(len, reads(model, requests)))
    for request, response in each(model.respond(requests)):
        assert response.logprobs == pytest.approx(scored_alone(model, request), abs=1e-4)


def test_short_texts_share_where_long_ones_could_not(checkpoint, capsys):
    model = lm(checkpoint("longrope"), max_length=SWITCH)
    counted = read_tokens(model)
    requests = [ranking(text[-90:]) for text in TEXTS]
    found = dict(each(model.respond(requests)))
    assert not capsys.readouterr().err
    assert sum(counted) == beginnings(model, requests)
    for request, response in found.items():
        assert response.logprobs == pytest.approx(scored_alone(model, request), abs=1e-4)


def test_what_pads_a_stopped_text_is_not_counted(checkpoint):
    model = lm(checkpoint("gpt2"), share_prefixes=False)
    model._parts[1].generation_config.pad_token_id = 5  # no end token
    text = model._turns.decode(written_alone(model, writing(TEXTS[0], max_tokens=12)))
    stopped, other = (writing(TEXTS[0], max_tokens=12, stop=(stop,)) for stop in (text[3:5], "no such words"))
    alone = dict(each(model.respond([stopped])))[stopped]
    together = dict(each(model.respond([stopped, other])))
    assert together[other].usage.output == 12
    assert (together[stopped].text, together[stopped].usage) == (alone.text, alone.usage)


@pytest.mark.parametrize("dtype, kind", few(itertools.product(LOW, SHARING), 2))
def test_rounding_is_no_obstacle(kind, dtype, checkpoint):
    from harness.models.local.prefix_sharing import obstacle

    _, model = lm(checkpoint(kind), dtype=dtype)._parts
    assert obstacle(model, 512) is None


@pytest.mark.parametrize("dtype", ["float32", *few(LOW, 1)])
@pytest.mark.parametrize("kind", few(["roformer", "rwkv", "mpt"], 2))
def test_low_precision_hides_no_model_that_would_be_wrong(kind, dtype, monkeypatch):
    import torch

    from harness.models.local.prefix_sharing import obstacle

    monkeypatch.setattr("harness.models.local.prefix_sharing._UNFIT", {})
    assert "off" in (obstacle(model_of(kind, 300).to(getattr(torch, dtype)).eval(), 512) or "")


def test_layers_that_look_back_by_chunks_are_none_that_share():
    from transformers import LlamaConfig

    from harness.models.local.prefix_tree import windows_of

    with pytest.raises(ConfigError, match="chunked_attention"):
        windows_of(LlamaConfig(num_hidden_layers=2, attention_chunk_size=8))
