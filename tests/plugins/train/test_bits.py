"""recipe.bits=4: adapters beside a base in 4 bits (QLoRA), as far as a processor goes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from support.conftest_models import lm_checkpoint

from harness.cli import hydra_app, own_configs
from harness.errors import ConfigError
from harness.models.local.causal_lm import CausalLM
from harness.plugins.train import make as making
from harness.plugins.train.learners import AnswerLearner
from harness.plugins.train.make import learner_of
from harness.plugins.train.recipe import Recipe
from harness.settings import build, plain
from harness.types import ChoiceRequest, Message

FOUR = ["recipe=causal_lm", "recipe.bits=4", "recipe.lora.r=2"]
SMALL = ["task.num_nodes=[4]", "task.limit=16", "dev_limit=20", "recipe.epochs=1", "recipe.evaluations=1.0"]


def composed(*arguments: str) -> dict:
    own_configs.register()
    return plain(hydra_app.without_hydra(hydra_app.composed("finetune", arguments)))


def recipe_of(base: Path | str, *arguments: str) -> Recipe:
    recipe: Recipe = build(composed(f"recipe.path={base}", *arguments)["recipe"], "recipe")
    return recipe


@pytest.mark.parametrize("arguments", [["recipe=causal_lm"], ["recipe=nli", "recipe.lora.r=2"]])
def test_four_bits_need_adapters_beside_a_decoder(arguments) -> None:
    with pytest.raises(ConfigError, match=r"it goes with adapters beside it, recipe\.lora\.r=16, and with"):
        recipe_of("base", *arguments, "recipe.bits=4")


def test_what_is_missing_is_a_sentence(tmp_path, monkeypatch) -> None:
    config = composed(*FOUR, "recipe.path=base", f"out={tmp_path}")
    monkeypatch.setattr(making, "find_spec", lambda name: None if name == "bitsandbytes" else True)
    with pytest.raises(ConfigError, match=r"\(bitsandbytes is missing\): .*pip install .*\[bits\]"):
        making.make(config)
    monkeypatch.setattr(making, "find_spec", lambda name: True)
    monkeypatch.setattr(making, "device_of", lambda device: "cpu")
    with pytest.raises(ConfigError, match=r"recipe\.bits=4 is for a GPU of CUDA, and this machine has none"):
        making.make(config)


@pytest.mark.parametrize(
    ("device", "dtype", "computing", "place"),
    [
        ("cpu", "auto", "float32", "cpu"),
        ("cuda", "bfloat16", "bfloat16", 3),
        ("cuda", "float32", "float32", 3),
    ],
)
def test_transformers_is_told_what_qlora_says(monkeypatch, device, dtype, computing, place) -> None:
    import torch

    monkeypatch.setattr("harness.models.local.placing.find_spec", lambda name: True)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 3)
    learner = learner_of(recipe_of("base", *FOUR, f"recipe.dtype={dtype}"), device)
    told = learner._placed(device, torch.float32)
    config = told["quantization_config"]
    assert config.load_in_4bit and config.bnb_4bit_quant_type == "nf4" and config.bnb_4bit_use_double_quant
    assert config.bnb_4bit_compute_dtype == getattr(torch, computing)
    assert told["device_map"] == {"": place}  # by number: accelerate takes "cuda" for another device than cuda:3
    assert learner_of(recipe_of("base", "recipe=causal_lm"), device)._placed(device, torch.float32) == {}


def test_a_checkpoint_without_bits_keeps_the_name_that_it_had() -> None:
    assert "bits" not in recipe_of("base", "recipe=causal_lm").as_json()
    assert recipe_of("base", *FOUR).as_json()["bits"] == 4


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A decoder whose layers are as large as a block of bitsandbytes."""
    from transformers import LlamaConfig, LlamaForCausalLM

    path = lm_checkpoint(tmp_path_factory.mktemp("bases") / "llama", "llama")
    size = LlamaConfig.from_pretrained(path).vocab_size
    sizes = {"hidden_size": 128, "intermediate_size": 256, "num_hidden_layers": 2, "num_attention_heads": 4}
    LlamaForCausalLM(LlamaConfig(vocab_size=size, **sizes)).save_pretrained(path)
    return path


def test_an_adapter_beside_the_base_answers_as_one_that_is_merged(base, tmp_path, monkeypatch) -> None:
    """What model.bits does with an adapter, on whole weights."""
    from peft import LoraConfig, get_peft_model

    import harness.models.local.causal_lm as adapter_of

    settings = {"name": "x", "path": str(base), "dtype": "float32", "device": "cpu", "chat_template": False}
    model = CausalLM(**settings)._parts[1]
    get_peft_model(model, LoraConfig(r=2, init_lora_weights=False, target_modules="all-linear")).save_pretrained(
        tmp_path
    )
    request = ChoiceRequest((Message("user", "A correlates with B."),), ("Yes", "No"))
    merged, beside = CausalLM(**settings, adapter=str(tmp_path)), CausalLM(**settings, adapter=str(tmp_path))
    ((_, expected),) = next(merged.respond([request]))
    with_adapter = adapter_of.with_adapter
    monkeypatch.setattr(adapter_of, "with_adapter", lambda *parts, merged: with_adapter(*parts, merged=False))
    ((_, answer),) = next(beside.respond([request]))
    assert any("lora_A" in name for name, _ in beside._parts[1].named_parameters())
    assert answer.logprobs == pytest.approx(expected.logprobs, abs=1e-5)


def test_qlora_for_real(base, tmp_path) -> None:
    """With bitsandbytes, which computes on processors too: the adapter alone is kept, and evaluated as on dev."""
    bitsandbytes = pytest.importorskip("bitsandbytes")
    from harness.plugins.train.examples import Lessons, scores_of, teaching_task
    from harness.prompting.fit import choose_prompt, fitting

    config = composed(
        *FOUR, *SMALL, f"recipe.path={base}", f"out={tmp_path}", "device=cpu", "recipe.learning_rate=1e-2"
    )
    finished = making.make(config)
    assert {path.name for path in finished.folder.iterdir()} == {"adapter", "training.json"}
    assert f"model.path={base} model.adapter={finished.folder}/adapter model.bits=4" in finished.lines[1]
    recipe, task = recipe_of(base, *FOUR), teaching_task(config["task"])
    learner = learner_of(recipe, "cpu")
    assert isinstance(learner, AnswerLearner)
    layers = [layer for layer in learner.network.modules() if isinstance(layer, bitsandbytes.nn.Linear4bit)]
    assert len(layers) == 14 and not any(weight.requires_grad for weight in learner.network.parameters())
    prompt = choose_prompt(task, learner, None)
    dev = Lessons(task, prompt, fitting(prompt, learner, task), recipe, 20).dev.rows
    adapter = CausalLM(
        name="x", path=str(base), adapter=str(finished.folder / "adapter"), bits=4, dtype="float32", device="cpu"
    )
    scores = scores_of(adapter, prompt, dev)
    assert scores["loss"] == pytest.approx(finished.training["chosen"]["dev"]["loss"], rel=1e-4)
    assert scores["loss"] != pytest.approx(scores_of(replace(adapter, adapter=None), prompt, dev)["loss"], rel=1e-3)
    assert adapter.identity["quantised"] == "nf4_double"
