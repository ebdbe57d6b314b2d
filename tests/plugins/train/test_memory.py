"""What a training takes, worked out beforehand, beside what it really holds."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.conftest_models import lm_checkpoint

from harness.cli import hydra_app, own_configs
from harness.errors import ConfigError
from harness.plugins.train import memory
from harness.plugins.train.make import learner_of
from harness.plugins.train.recipe import Recipe
from harness.settings import build, plain


def recipe_of(base: Path | str, *arguments: str) -> Recipe:
    own_configs.register()
    config = plain(hydra_app.without_hydra(hydra_app.composed("finetune", [f"recipe.path={base}", *arguments])))
    recipe: Recipe = build(config["recipe"], "recipe")
    return recipe


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return lm_checkpoint(tmp_path_factory.mktemp("bases") / "llama", "llama")


def held(tensors) -> int:
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


@pytest.mark.parametrize("rank", ["null", "2"])
def test_weights_gradients_and_moments_are_those_that_a_step_leaves(base, rank) -> None:
    import torch

    from harness.plugins.train.loop import with_lora

    recipe = recipe_of(base, "recipe=causal_lm", f"recipe.lora.r={rank}")
    learner = learner_of(recipe, "cpu")
    need = memory.needed(learner, recipe, "float32")
    network = with_lora(learner.network, recipe)
    ids = torch.tensor([[1, 2, 3]])
    trained = [weight for weight in network.parameters() if weight.requires_grad]
    optimizer = torch.optim.AdamW(trained)
    network(input_ids=ids, labels=ids).loss.backward()
    optimizer.step()
    moments = [state[name] for state in optimizer.state.values() for name in ("exp_avg", "exp_avg_sq")]
    assert need.weights + need.adapters == held(network.parameters())
    assert need.gradients == held(weight.grad for weight in trained) and need.optimizer == held(moments)
    assert bool(need.adapters) == (rank == "2") and need.activations == 0


def test_four_bits_are_those_that_bitsandbytes_holds(tmp_path) -> None:
    bitsandbytes = pytest.importorskip("bitsandbytes")
    from transformers import LlamaConfig, LlamaForCausalLM

    base = lm_checkpoint(tmp_path / "llama", "llama")
    sizes = {"hidden_size": 512, "intermediate_size": 1024, "num_hidden_layers": 2, "num_attention_heads": 4}
    LlamaForCausalLM(LlamaConfig(vocab_size=200, **sizes)).save_pretrained(base)
    recipe = recipe_of(base, "recipe=causal_lm", "recipe.bits=4", "recipe.lora.r=2")
    learner = learner_of(recipe, "cpu")
    states = [
        layer.weight.quant_state for layer in learner.network.modules() if isinstance(layer, bitsandbytes.nn.Linear4bit)
    ]
    scales = held(state.absmax for state in states) + held(state.state2.absmax for state in states)
    stored = held(learner.network.parameters()) + scales
    assert memory.needed(learner, recipe, "float32").weights == pytest.approx(stored, rel=1e-3)


@pytest.mark.slow
def test_eight_billion_weights_in_four_bits(tmp_path) -> None:
    """Llama 3.1 8B: 6.98 of 8.03 billion weights are in linear layers; of whole weights one GPU of 80 GB holds none."""
    from transformers import LlamaConfig

    sizes = {"hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32}
    LlamaConfig(vocab_size=128256, num_key_value_heads=8, **sizes).save_pretrained(tmp_path)
    (tmp_path / "model.safetensors").touch()  # which nobody reads
    four = recipe_of(tmp_path, "recipe=decoder_8b")
    need = memory.needed(learner_of(four, "cpu"), four, "bfloat16", tokens=600)
    assert need.weights / 1e9 == pytest.approx(6.979 * (0.5 + 0.127 / 8) + 4 * 1.051, rel=0.001)
    assert need.adapters == 4 * 41_943_040 and need.optimizer == 2 * need.adapters  # peft's count at rank 16
    assert need.activations == 32 * 2 * 600 * 4096 + 34 * 600 * 4096
    whole = recipe_of(tmp_path, "recipe=causal_lm")
    need = memory.needed(learner_of(whole, "cpu"), whole, "float32")
    assert need.total == 16 * 8_030_261_248
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory, "memory_of", lambda device: 80 * 10**9)
        with pytest.raises(
            ConfigError, match=r"takes 128\.48 GB \(weights 32\.12, .* the GPU has 80\.0 GB: take recipe"
        ):
            memory.check(need, whole, "cuda")
        assert "with one example at once; the machine has 80.0" in memory.check(need, whole, "cpu")
        assert "GB" in memory.check(memory.needed(learner_of(four, "cpu"), four, "bfloat16", 600), four, "cuda")


@pytest.mark.parametrize(("optim", "size"), [("adamw_torch", 8), ("paged_adamw_8bit", 2), ("adafactor", 0)])
def test_an_optimizer_takes_what_its_name_says(base, optim, size) -> None:
    recipe = recipe_of(base, "recipe=causal_lm", f"recipe.trainer={{optim: {optim}}}")
    need = memory.needed(learner_of(recipe, "cpu"), recipe, "float32")
    assert need.optimizer == size * need.weights // 4


def test_disks_hold_three_checkpoints_of_what_is_trained() -> None:
    need = memory.Needed(weights=1000, adapters=8, gradients=8, optimizer=16)
    whole = memory.Needed(weights=1000, adapters=0, gradients=1000, optimizer=2000)
    four = ["recipe=causal_lm", "recipe.lora.r=2"]
    assert memory.room_needed(whole, recipe_of("x", "recipe=causal_lm")) == 9000
    assert memory.room_needed(need, recipe_of("x", *four)) == 72 + 1000
    assert memory.room_needed(need, recipe_of("x", *four, "recipe.bits=4")) == 72
