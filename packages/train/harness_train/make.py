"""From the composed settings to a finished checkpoint."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.codec import digest
from harness.config_files import own_files
from harness.errors import ConfigError, RunStopped
from harness.models.local.checkpoint import RECORD, device_of, dtype_of, fingerprint
from harness.models.local.engine import memory_errors
from harness.prompting.fit import choose_prompt, fitting
from harness.runtime.progress import Progress
from harness.settings import build, chosen, validated
from harness.storage import atomic_write
from harness.storage.atomic_write import check
from harness.storage.manifest import provenance
from harness_train.examples import Lessons, teaching_task
from harness_train.learners import Learner, base_config, learner_of, leave_out
from harness_train.recipe import FinetuneSettings, Recipe

ADAPTER = "adapter"
"""The folder of the low-rank adapters, as they are before they are merged into the weights."""


@dataclass(frozen=True)
class FinishedCheckpoint:
    folder: Path
    training: Mapping[str, Any]
    """Its training.json."""

    @property
    def f1(self) -> float:
        return float(self.training["chosen"]["dev"]["f1"])

    @property
    def lines(self) -> list[str]:
        """Lines to print: where it is, and the command that evaluates it."""
        chosen, prompt, kind = self.training["chosen"], self.training["prompt"]["name"], self.training["recipe"]["kind"]
        form = "" if prompt == {"nli": "pair", "causal_lm": "plain"}[kind] else f" prompt={prompt}"
        return [
            f"{self.folder}: step {chosen['step']:,}, with the best F1 ({100 * self.f1:.2f}%) on "
            f"{self.training['dev']['examples']:,} dev items.",
            f"To evaluate it: harness model={kind} model.path={self.folder}{form}",
        ]


def make(config: Mapping[str, Any]) -> FinishedCheckpoint:
    """Make the checkpoint that a composed config describes, or return the one that is there. Raises HarnessError."""
    config, own = own_files(config)
    settings = validated(FinetuneSettings, config)
    recipe: Recipe = build(settings.recipe, "recipe")
    check(settings.out, folder=True)
    # What is learned, in which words, by whom.
    task = teaching_task(settings.task)
    learner = learner_of(recipe, settings.device)
    prompt = choose_prompt(task, learner, settings.prompt)
    if len(prompt.words.choices) > 2:
        raise ConfigError(f"prompt={prompt.name} has {len(prompt.words.choices)} answers; Yes and No are learned.")
    lessons = Lessons(task, prompt, fitting(prompt, learner, task), settings.dev_limit)
    device = device_of(settings.device)
    dtype = dtype_of(recipe.dtype, device) if device == "cuda" else "float32"
    # Its place: the same settings and data are the same checkpoint.
    try:
        base = fingerprint(learner.folder)
    except ConfigError as error:  # a checkpoint names the setting of a run
        raise ConfigError(str(error).replace("model.path=", "recipe.path=")) from error
    facts = {
        "recipe": dict(recipe.as_json()),
        "base": base,
        "task": {"name": task.name, **chosen(task), **dict(task.data)},
        "prompt": {"name": prompt.name, "digest": prompt.digest},
        "dtype": dtype,
        "train": lessons.train.as_json(),
        "dev": lessons.dev.as_json(),
    }
    progress = Progress(f"{recipe.name} learns {task.name}")
    folder = Path(settings.out, recipe.name, digest(facts)[:12])
    if (folder / RECORD).exists():
        progress.say(f"{folder} is there already.")
        return FinishedCheckpoint(folder, json.loads((folder / RECORD).read_text()))
    work = folder.with_name(f"{folder.name}.work")
    started = time.monotonic()
    training = facts | _train(learner, lessons, recipe, work, progress, dtype)
    training |= {"seconds": round(time.monotonic() - started, 1), **provenance(dict(config)), "own_files": own}
    atomic_write.write(work / "chosen" / RECORD, training)  # before the folder has its name
    (work / "chosen").replace(folder)
    shutil.rmtree(work)
    return FinishedCheckpoint(folder, training)


def _train(
    learner: Learner, lessons: Lessons, recipe: Recipe, work: Path, progress: Progress, dtype: str
) -> dict[str, Any]:
    """Train, from the last checkpoint in `work` if there is one; leave the chosen weights in work/chosen.

    Returns what training.json says of it. Raises RunStopped where memory or numbers run out.
    """
    from transformers import set_seed

    from harness_train.trainer import Teacher, last_whole

    set_seed(recipe.seed)  # a new head is drawn when the network is loaded
    fit = leave_out(learner, lessons, recipe)
    network = _with_lora(learner.network, recipe)
    teacher = Teacher(learner, network, lessons, recipe, work, progress, dtype, fit["longest_in_tokens"])
    with memory_errors() as errors:
        teacher.train(resume_from_checkpoint=last_whole(work))
    if errors:
        raise RunStopped(
            f"out of memory with {recipe.batch_size} examples at once: take recipe.micro_batch=1 (their gradients are "
            "added up), a machine with more memory, a smaller base, recipe.max_length=256 or recipe.lora.r=16."
        )
    history = teacher.state.log_history
    best = next(e for e in history if e.get("step") == teacher.state.best_global_step and "eval_f1" in e)
    dev = {name.removeprefix("eval_"): value for name, value in best.items() if name.startswith("eval_")}
    if not dev["yes"]:
        progress.say("The chosen step answers No to every dev item: it has learned nothing yet (more recipe.epochs?).")
    place = work / "chosen"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    network = teacher.accelerator.unwrap_model(teacher.model)
    if recipe.lora.r:
        network.save_pretrained(place / ADAPTER)
        network = network.merge_and_unload()
    # The Trainer and the adapter have set these for themselves.
    network.config.use_cache = base_config(learner.folder).get("use_cache", True)
    if kept := getattr(learner, "kept", {}):
        network.generation_config = kept["generation_config"]
    network.save_pretrained(place)
    learner.tokenizer.save_pretrained(place)
    curve = [dict(entry) for entry in history if "loss" in entry or "eval_f1" in entry]
    return {"fit": fit, "chosen": {"step": best["step"], "epoch": best["epoch"], "dev": dev}, "curve": curve}


def _with_lora(network: Any, recipe: Recipe) -> Any:
    """Return the network with low-rank adapters, trained in place of its weights, if the recipe has any."""
    if not recipe.lora.r:
        return network
    from peft import LoraConfig, get_peft_model

    config = LoraConfig(
        r=recipe.lora.r,
        lora_alpha=recipe.lora.alpha,
        lora_dropout=recipe.lora.dropout,
        target_modules="all-linear",
        task_type="SEQ_CLS" if recipe.kind == "nli" else "CAUSAL_LM",
    )
    return get_peft_model(network, config)
