"""Checkpoints dealt out by accelerate, and in 4 bits a weight: as far as a processor goes."""

from __future__ import annotations

import pytest
from support.conftest_models import lm_checkpoint
from support.outcomes import each

from harness.errors import ConfigError
from harness.models.local import loading
from harness.models.local.causal_lm import CausalLM
from harness.models.local.engine import Padded
from harness.types import ChatRequest, ChoiceRequest, Message

TEXTS = ["Question: A correlates with B. Answer:", "A", "Question: A causes C. Answer:"]
REQUESTS = [ChoiceRequest((Message("user", text),), ("Yes", "No")) for text in TEXTS]
WRITING = ChatRequest((Message("user", TEXTS[0]),), max_tokens=5)


def lm(path, *, share_prefixes=True, **settings) -> CausalLM:
    model = CausalLM(**{"name": "tiny", "path": str(path), "dtype": "float32", "chat_template": False, **settings})
    object.__setattr__(model, "share_prefixes", share_prefixes)
    return model


def logprobs(model: CausalLM) -> list[dict[str, float]]:
    answers = dict(each(model.respond(REQUESTS)))
    return [answers[request].logprobs for request in REQUESTS]


def alike(left, right, close: float = 1e-5) -> bool:
    return all(a == pytest.approx(b, abs=close) for a, b in zip(left, right, strict=True))


def test_a_device_map_changes_neither_numbers_nor_identity(gpt2_path, monkeypatch) -> None:
    pytest.importorskip("accelerate")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    whole, dealt = lm(gpt2_path, device="cpu"), lm(gpt2_path, device_map="auto")
    assert loading.placed("auto", None, "auto", "cpu", None) == {"device_map": "auto"}
    assert alike(logprobs(dealt), logprobs(whole))
    assert dealt.identity == whole.identity


def test_of_several_devices_each_prompt_is_computed_as_a_whole(llama_path, tmp_path) -> None:
    accelerate = pytest.importorskip("accelerate")
    whole, dealt = lm(llama_path, device="cpu"), lm(llama_path, device="cpu")
    _, model = dealt._parts
    places = {"model.embed_tokens": "cpu", "model.layers": "disk", "model.norm": "cpu", "model.rotary_emb": "cpu"}
    accelerate.dispatch_model(model, places | {"lm_head": "cpu"}, main_device="cpu", offload_dir=str(tmp_path))
    assert loading.devices(model) == {"cpu", "disk"}
    assert isinstance(dealt._engine, Padded) and not isinstance(whole._engine, Padded)
    assert alike(logprobs(dealt), logprobs(whole))
    assert [r.text for _, r in each(dealt.respond([WRITING]))] == [r.text for _, r in each(whole.respond([WRITING]))]


def test_what_fits_nowhere_is_refused(gpt2_path, monkeypatch) -> None:
    pytest.importorskip("accelerate")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    monkeypatch.setattr("transformers.integrations.accelerate.get_max_memory", lambda *_: {"cpu": 170_000})
    with pytest.raises(
        ConfigError, match=r"does not fit: parts of it would lie on (cpu and )?disk\. Take model\.bits=4"
    ):
        lm(gpt2_path, device_map="sequential")._parts  # noqa: B018


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"device_map": "auto", "device": "cpu"}, "model.device_map=auto and model.device=cpu do not go together"),
        ({"bits": 4}, r"model.bits needs bitsandbytes, which is not installed: python -m pip install .*\[bits\]"),
    ],
)
def test_what_is_missing_or_contradictory_is_said(gpt2_path, monkeypatch, settings, sentence) -> None:
    monkeypatch.setattr(loading, "find_spec", lambda name: None if name == "bitsandbytes" else True)
    with pytest.raises(ConfigError, match=sentence):
        lm(gpt2_path, **settings)._parts  # noqa: B018


def test_without_accelerate(gpt2_path, monkeypatch) -> None:
    monkeypatch.setattr(loading, "find_spec", lambda name: None)
    for settings, name in (({"bits": 4}, "model.bits"), ({"device_map": "auto"}, "model.device_map")):
        with pytest.raises(ConfigError, match=f"{name} needs accelerate, which is not installed"):
            lm(gpt2_path, **settings)._parts  # noqa: B018


def test_four_bits_are_another_model(gpt2_path) -> None:
    whole, four = lm(gpt2_path).identity, lm(gpt2_path, bits=4).identity
    assert four == {**whole, "quantised": "nf4"} and "quantised" not in whole


def test_four_bits_for_real(tmp_path) -> None:
    """With bitsandbytes, which computes on processors too: weights are rounded, and scores do not depend on a batch."""
    bitsandbytes = pytest.importorskip("bitsandbytes")
    from transformers import LlamaConfig, LlamaForCausalLM

    path = lm_checkpoint(tmp_path / "llama", "llama")  # whose layers are too small for its blocks
    size = LlamaConfig.from_pretrained(path).vocab_size
    sizes = {"hidden_size": 128, "intermediate_size": 256, "num_hidden_layers": 2, "num_attention_heads": 4}
    config = LlamaConfig(vocab_size=size, **sizes)
    LlamaForCausalLM(config).save_pretrained(path)
    whole, four = lm(path, device="cpu"), lm(path, device="cpu", bits=4)
    _, model = four._parts
    assert any(isinstance(layer, bitsandbytes.nn.Linear4bit) for layer in model.modules())
    assert not isinstance(model.get_output_embeddings(), bitsandbytes.nn.Linear4bit)
    values = logprobs(four)
    assert not alike(values, logprobs(whole)) and alike(values, logprobs(whole), close=1.0)
    alone = [
        logprobs_of for request in REQUESTS for _, r in each(four.respond([request])) for logprobs_of in [r.logprobs]
    ]
    assert alike(values, alone, close=1e-3)
    assert alike(values, logprobs(lm(path, device="cpu", bits=4, share_prefixes=False)), close=1e-3)
