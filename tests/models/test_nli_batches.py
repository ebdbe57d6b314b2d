"""How NLI pairs become batches, and what int8 makes of them: the pairs of the test split, a model of its own size."""

from __future__ import annotations

import math

import pytest
from support.conftest_models import nli_checkpoint
from support.outcomes import each

from harness.errors import ConfigError
from harness.models.local import loading
from harness.models.local.nli import NLI
from harness.prompting import prompts
from harness.settings import build
from harness.tasks.corr2cause import Corr2Cause
from harness.types import PairRequest

LABELS = {0: "contradiction", 1: "neutral", 2: "entailment"}


@pytest.fixture(scope="module")
def pairs() -> list[PairRequest]:
    """Return all 1,162 pairs of the test split."""
    prompt = prompts.load("corr2cause", "pair", ())
    items = Corr2Cause(name="corr2cause", prompts=("pair",)).items()
    return [prompt.render(item.fields, (), PairRequest) for item in items]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """Return a checkpoint that takes the longest of the pairs."""
    return nli_checkpoint(tmp_path_factory.mktemp("long"), LABELS, max_positions=1024)


def nli(path, **settings) -> NLI:
    return NLI(**{"name": "tiny", "path": str(path), "dtype": "float32", "device": "cpu", **settings})


def shares(model: NLI, pairs: list[PairRequest]) -> tuple[float, list[tuple[int, int]]]:
    """Return the share of padding in what goes into the model, and the shapes of the batches."""
    shapes: list[tuple[int, int]] = []
    tokens = 0

    def count(module, arguments, inputs):
        nonlocal tokens
        shapes.append(tuple(inputs["input_ids"].shape))
        tokens += int(inputs["attention_mask"].sum())

    hook = model._parts[1].register_forward_pre_hook(count, with_kwargs=True)
    assert {request for request, _ in each(model.respond(pairs))} == set(pairs)
    hook.remove()
    return 1 - tokens / sum(rows * longest for rows, longest in shapes), shapes


@pytest.mark.slow
@pytest.mark.parametrize("cores", [2, 64])
def test_padding_of_the_test_split_is_under_five_percent(path, pairs, cores, monkeypatch):
    monkeypatch.setattr(loading, "cores", lambda: cores)
    budget = min(8192, 512 * cores)
    padding, shapes = shares(nli(path), pairs)
    assert len(pairs) == 1162 and padding < 0.05
    assert all(count == 1 or count * longest <= budget for count, longest in shapes)
    assert sum(count for count, _ in shapes) == len(pairs) and len(shapes) < len(pairs) / 2


@pytest.mark.slow
def test_a_window_shorter_than_the_split_pads_little_too(path, pairs):
    assert shares(nli(path, window=256), pairs)[0] < 0.05


def test_int8_layers_are_quantised_and_the_head_is_not(path):
    import torch
    from torch.ao.nn.quantized.dynamic import Linear

    _, model, _ = nli(path, dtype="int8")._parts
    layers = {name: type(module) for name, module in model.named_modules() if type(module).__name__ == "Linear"}
    assert layers.pop("classifier") is torch.nn.Linear
    assert len(layers) == 7 and set(layers.values()) == {Linear}  # query, key, value, three dense ones and the pooler
    assert model.bert.encoder.layer[0].output.dense.weight().dtype == torch.qint8


@pytest.mark.slow
def test_int8_decides_nearly_as_float32_does(path, pairs):
    exact, low = (dict(each(nli(path, dtype=dtype).respond(pairs[::4]))) for dtype in ("float32", "int8"))
    off = [abs(low[p].logprobs["entailment"] - exact[p].logprobs["entailment"]) for p in exact]
    assert 0 < max(off) < 0.5
    assert sum(low[p].text == exact[p].text for p in exact) >= 0.95 * len(exact)
    assert len({response.text for response in exact.values()}) > 1
    assert all(math.isfinite(value) for response in low.values() for value in response.logprobs.values())


@pytest.mark.slow
def test_bfloat16_decides_nearly_as_float32_does(path, pairs):
    exact, low = (dict(each(nli(path, dtype=dtype).respond(pairs[::4]))) for dtype in ("float32", "bfloat16"))
    assert sum(low[p].text == exact[p].text for p in exact) >= 0.95 * len(exact)


def test_the_identity_says_int8(path):
    assert nli(path, dtype="int8").identity["dtype"] == "int8"
    assert nli(path, dtype="auto").identity["dtype"] in ("float32", "bfloat16")


def test_int8_where_it_cannot_be_is_a_sentence(path):
    with pytest.raises(ConfigError, match=r"int8 computes on a CPU only, not on cuda: add model\.device=cpu"):
        _ = nli(path, dtype="int8", device="cuda").identity
    with pytest.raises(ConfigError, match=r"model\.dtype=int8: input should be 'auto', 'float32', 'bfloat16' or"):
        build(
            {"_target_": "harness.models.local.causal_lm.CausalLM", "name": "m", "path": "p", "dtype": "int8"}, "model"
        )


def test_int8_of_a_model_without_linear_layers_is_a_sentence(path, tmp_path):
    from transformers import AutoTokenizer, GPT2Config, GPT2ForSequenceClassification

    tokenizer = AutoTokenizer.from_pretrained(path)
    config = GPT2Config(
        vocab_size=len(tokenizer), n_embd=16, n_layer=1, n_head=2, pad_token_id=0, num_labels=3, id2label=LABELS
    )
    GPT2ForSequenceClassification(config).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    with pytest.raises(ConfigError, match=r"has no linear layers that model\.dtype=int8 would quantise"):
        list(each(nli(tmp_path, dtype="int8").respond([PairRequest("A", "B")])))


def test_int8_of_a_model_that_computes_with_its_weights_is_a_sentence():
    import torch

    from harness.models.local.nli import quantize

    class Own(torch.nn.Module):
        name_or_path = "own"

        def __init__(self) -> None:
            super().__init__()
            self.layer, self.head = torch.nn.Linear(4, 4), torch.nn.Linear(4, 3)

        def forward(self, x):
            return self.head(x @ self.layer.weight.T)

    model = Own()
    with pytest.raises(ConfigError, match=r"own does not compute in int8 \(AttributeError: .*model\.dtype=auto"):
        quantize(model, model.head, {"x": torch.ones(1, 4)})
