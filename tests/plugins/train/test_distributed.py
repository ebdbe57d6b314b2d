"""Several processes by accelerate's config file, and what it asks for that would not come to pass."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest
from support.conftest_models import lm_checkpoint

from harness.cli import hydra_app, own_configs
from harness.errors import ConfigError
from harness.plugins.train import make as making
from harness.plugins.train.recipe import Recipe
from harness.settings import build, plain

SMALL = ["task.num_nodes=[4]", "task.limit=24", "dev_limit=20", "recipe.epochs=1", "recipe.evaluations=1.0"]
TWO = """\
compute_environment: LOCAL_MACHINE
distributed_type: MULTI_GPU
use_cpu: true
num_processes: 2
num_machines: 1
machine_rank: 0
main_process_port: 0
mixed_precision: 'no'
"""


def composed(*arguments: str) -> dict:
    own_configs.register()
    return plain(hydra_app.without_hydra(hydra_app.composed("finetune", arguments)))


@pytest.mark.parametrize(
    ("environment", "cpu", "lora", "sentence"),
    [
        ({"ACCELERATE_USE_FSDP": "true"}, True, "null", "accelerate divides a model over GPUs only"),
        ({"ACCELERATE_USE_DEEPSPEED": "true"}, True, "null", "accelerate divides a model over GPUs only"),
        ({"ACCELERATE_USE_DEEPSPEED": "true"}, False, "2", "adapters .* do not go together here"),
        ({"ACCELERATE_USE_FSDP": "true", "FSDP_VERSION": "1"}, False, "null", "write fsdp_version: 2"),
        ({"ACCELERATE_USE_FSDP": "true", "FSDP_VERSION": "2"}, False, "null", None),
        ({}, True, "2", None),
    ],
)
def test_what_accelerate_would_not_do_is_a_sentence(monkeypatch, environment, cpu, lora, sentence) -> None:
    from harness.plugins.train.arguments import _check_sharding

    for name in ("ACCELERATE_USE_FSDP", "ACCELERATE_USE_DEEPSPEED", "FSDP_VERSION"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    recipe: Recipe = build(composed("recipe=causal_lm", "recipe.path=x", f"recipe.lora.r={lora}")["recipe"], "recipe")
    with pytest.raises(ConfigError, match=sentence) if sentence else nullcontext():
        _check_sharding(recipe, cpu=cpu)


@pytest.mark.slow
def test_the_loss_of_a_decoders_batch_is_the_mean_over_all_of_its_answers(tmp_path) -> None:
    """transformers counts a causal model's labels without the first column, in which an answer must not stand."""
    base = lm_checkpoint(tmp_path / "llama", "llama")
    same = ["recipe.batch_size=24", "recipe.learning_rate=1e-12", "device=cpu"]
    config = composed("recipe=causal_lm", f"recipe.path={base}", f"out={tmp_path}", *SMALL, *same)
    with pytest.MonkeyPatch.context() as patch:  # dev has the same items here
        patch.setattr("harness.plugins.train.examples.Lessons.dev", property(lambda self: self.train))
        curve = making.make(config).training["curve"]
    (loss,) = (entry["loss"] for entry in curve if "loss" in entry)
    assert loss == pytest.approx(mean_loss(base, config), rel=1e-5)


def mean_loss(base: Path, config: dict) -> float:
    """Return −log p of the answers' tokens, by a plain loop over the examples."""
    import torch
    from transformers import AutoModelForCausalLM

    from harness.plugins.train.examples import Lessons, teaching_task
    from harness.plugins.train.make import learner_of
    from harness.prompting.fit import choose_prompt, fitting

    recipe: Recipe = build(config["recipe"], "recipe")
    learner, task = learner_of(recipe, "cpu"), teaching_task(config["task"])
    prompt = choose_prompt(task, learner, None)
    rows = Lessons(task, prompt, fitting(prompt, learner, task), recipe, None).train.rows
    model, losses = AutoModelForCausalLM.from_pretrained(base).eval(), []
    for row, sequences in zip(rows, learner.sequences([row.request for row in rows]), strict=True):
        answer = sequences[1 - row.label]
        ids = torch.tensor([[*answer.prompt, *answer.continuation]])
        with torch.no_grad():
            logprobs = model(ids).logits[0].log_softmax(-1)
        start = len(answer.prompt) - 1
        losses += [-logprobs[start + k, token].item() for k, token in enumerate(answer.continuation)]
    return sum(losses) / len(losses)


@pytest.mark.slow
def test_two_processes_learn_what_one_does_with_twice_the_batch(tmp_path) -> None:
    from safetensors.torch import load_file

    (tmp_path / "two.yaml").write_text(TWO)
    launch = ["-m", "accelerate.commands.launch", "--config_file", str(tmp_path / "two.yaml"), "-m", "harness"]
    sizes = [f"recipe.scratch.config.{name}=32" for name in ("hidden_size", "intermediate_size")]
    rest = ["finetune", "recipe=tiny", "recipe.group_by_length=false", "device=cpu", *sizes, *SMALL]
    losses, weights = [], []
    for name, start, size in (("two", launch, 4), ("one", ["-m", "harness"], 8)):
        command = [sys.executable, *start, *rest, f"recipe.batch_size={size}", f"out={tmp_path / name}"]
        own = {"OMP_NUM_THREADS": "1"}
        done = subprocess.run(command, env=os.environ | own, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr[-3000:]
        (folder,) = (path.parent for path in (tmp_path / name / "tiny").glob("*/training.json"))
        assert {path.name for path in (tmp_path / name / "tiny").iterdir()} == {"base", folder.name}
        assert done.stdout.count("To evaluate it: ") == 1 and done.stderr.count("on dev") == 1
        curve = json.loads((folder / "training.json").read_text())["curve"]
        losses.append([entry["loss"] for entry in curve if "loss" in entry])
        weights.append(load_file(folder / "model.safetensors"))
    assert len(losses[0]) == 3 and losses[0] == pytest.approx(losses[1], rel=1e-4)
    for key, value in weights[0].items():
        assert value.allclose(weights[1][key], atol=1e-4), key
