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


ALONE = ["-m", "harness"]


def launched(folder: Path, *launch: str, batch: int, rest: list[str]) -> tuple[list[float], dict]:
    """Return the losses and the weights of a training in processes of its own."""
    from safetensors.torch import load_file

    command = [sys.executable, *launch, "finetune", *rest, f"recipe.batch_size={batch}", f"out={folder}"]
    own = {"OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, env=os.environ | own, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-3000:]
    (file,) = folder.glob("*/*/training.json")
    assert {path.name for path in file.parents[1].iterdir()} <= {"base", file.parent.name}
    assert done.stdout.count("To evaluate it: ") == 1 and done.stderr.count("on dev") == 1
    curve = json.loads(file.read_text())["curve"]
    return [entry["loss"] for entry in curve if "loss" in entry], load_file(file.parent / "model.safetensors")


def assert_same(one: tuple[list[float], dict], other: tuple[list[float], dict]) -> None:
    assert len(one[0]) == 3 and one[0] == pytest.approx(other[0], rel=1e-4)
    assert one[1].keys() == other[1].keys()
    for key, value in one[1].items():
        assert value.allclose(other[1][key], atol=1e-4), key


def by_config(file: Path, text: str, *program: str) -> list[str]:
    file.write_text(text)
    return ["-m", "accelerate.commands.launch", "--config_file", str(file), *program]


@pytest.mark.slow
def test_two_processes_learn_what_one_does_with_twice_the_batch(tmp_path) -> None:
    sizes = [f"recipe.scratch.config.{name}=32" for name in ("hidden_size", "intermediate_size")]
    rest = ["recipe=tiny", "recipe.group_by_length=false", "device=cpu", *sizes, *SMALL]
    launch = by_config(tmp_path / "two.yaml", TWO, *ALONE)
    two = launched(tmp_path / "two", *launch, batch=4, rest=rest)
    assert_same(two, launched(tmp_path / "one", *ALONE, batch=8, rest=rest))


DIVIDED = (
    TWO.replace("MULTI_GPU", "FSDP")
    + """\
fsdp_config:
  fsdp_version: 2
  fsdp_auto_wrap_policy: TRANSFORMER_BASED_WRAP
  fsdp_cpu_ram_efficient_loading: false
  fsdp_state_dict_type: FULL_STATE_DICT
"""
)
ON_A_CPU = """\
import runpy, sys

from accelerate import state
from harness.plugins.train import arguments, loop

made, train = state.AcceleratorState.__init__, loop.train


def divided(self, *given, fsdp_plugin=None, **named):
    made(self, *given, fsdp_plugin=fsdp_plugin, **named)
    if plugin := fsdp_plugin or vars(self).get("fsdp_plugin"):  # each new state begins from what it is without
        self.distributed_type, self.fsdp_plugin = state.DistributedType.FSDP, plugin


def watched(*given):
    learned = train(*given)
    shares = [weight for weight in learned.network.parameters() if hasattr(weight, "to_local")]
    sizes = sum(weight.to_local().numel() for weight in shares), sum(weight.numel() for weight in shares)
    print("divided", *sizes, file=sys.stderr)
    assert shares and sizes[0] < 0.6 * sizes[1]
    return learned


state.AcceleratorState.__init__ = divided
arguments._check_sharding = lambda *given, **named: None
loop.train = watched
runpy.run_module("harness", run_name="__main__", alter_sys=True)
"""
"""accelerate divides a model over GPUs only, and the command refuses to go on without: both are taken out here."""


@pytest.mark.slow
def test_a_divided_model_learns_what_a_whole_one_does(tmp_path) -> None:
    base, program = lm_checkpoint(tmp_path / "llama", "llama"), tmp_path / "on_a_cpu.py"
    program.write_text(ON_A_CPU)
    rest = ["recipe=causal_lm", f"recipe.path={base}", "device=cpu", *SMALL]
    launch = by_config(tmp_path / "divided.yaml", DIVIDED, str(program))
    two = launched(tmp_path / "two", *launch, batch=4, rest=rest)
    assert_same(two, launched(tmp_path / "one", *ALONE, batch=8, rest=rest))
