"""From the composed settings to a finished checkpoint, step by step."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from harness.codec import digest
from harness.config_files import own_files
from harness.errors import ConfigError, StoreError
from harness.models.local.checkpoint import Device, device_of, dtype_of, fingerprint
from harness.plugins.train.examples import Example, Lessons, teaching_task
from harness.plugins.train.learners import AnswerLearner, Learner, PairLearner, base_config, fit_counts
from harness.plugins.train.packed import PackedLearner
from harness.plugins.train.recipe import ADAPTER, MANIFEST, FinetuneSettings, Recipe, alone, leader_first, leads, room
from harness.plugins.train.scratch import make_base
from harness.prompting.fit import choose_prompt, fitting
from harness.prompting.prompts import Prompt
from harness.runtime.environment import installing
from harness.runtime.progress import Progress
from harness.settings import build, chosen, validated
from harness.storage import atomic_write
from harness.storage.atomic_write import check
from harness.storage.manifest import provenance
from harness.tasks.check import check_parts
from harness.types import JSON


@dataclass(frozen=True)
class FinishedCheckpoint:
    folder: Path
    training: Mapping[str, Any]
    """Its training.json."""
    kind: str
    base: str = ""
    """How to name the base, where the checkpoint is an adapter beside it in 4 bits; "" for whole weights."""

    @property
    def score(self) -> float:
        return float(self.training["chosen"]["dev"][self.training["chosen"]["by"]])

    @property
    def lines(self) -> list[str]:
        """Lines to print: where it is, and the command that evaluates it."""
        command = f"harness model={self.kind} model.path={self.base or self.folder}"
        if self.base:
            command += f" model.adapter={self.folder / ADAPTER} model.bits=4"
        prompt = self.training["prompt"]["name"]
        default = {"nli": "pair", "causal_lm": "plain"}[self.kind]
        return [
            f"{self.folder}: {self.training['chosen']['why']}.",
            f"To evaluate it: {command}{'' if prompt == default else f' prompt={prompt}'}",
        ]


def make(config: Mapping[str, Any]) -> FinishedCheckpoint:
    """Make the checkpoint that a composed config describes, or return the one that is there. Raises HarnessError."""
    # The settings, and what they need.
    config, own = own_files(config)
    settings = validated(FinetuneSettings, config)
    if settings.submit:
        raise ConfigError("submit=true is for jobs at a server (recipe=openai): leave it out.")
    recipe = build(settings.recipe, "recipe")
    if not isinstance(recipe, Recipe):
        raise ConfigError(f"recipe={recipe.name} makes one job at a server at a time: leave -m out.")
    _check_packages(recipe, settings.device)
    check(settings.out, folder=True)
    # What is learned, in which words, by whom.
    task = teaching_task({**settings.task, **recipe.task})
    check_parts(task)
    base = Path(settings.out, recipe.name, "base")
    learner = _learner(recipe, settings.device, base if recipe.scratch else None)
    prompt = choose_prompt(task, learner, settings.prompt or recipe.prompt)
    if len(prompt.words.choices) > 2:
        raise ConfigError(
            f"prompt={prompt.name} has {len(prompt.words.choices)} answers, and this recipe learns Yes and No."
        )
    lessons = Lessons(task, prompt, fitting(prompt, learner, task), recipe, settings.dev_limit)
    if recipe.scratch:
        read = recipe.scratch.also_read
        also = teaching_task({**settings.task, **recipe.task, **read}).items() if read else ()
        with leader_first(device_of(settings.device)):
            if leads():
                make_base(recipe.scratch, lessons.texts(also), recipe.seed, base)
    progress = Progress(f"{recipe.name} learns {task.name}")
    dtype = dtype_of(recipe.dtype, device_of(settings.device)) if device_of(settings.device) == "cuda" else "float32"
    # Its place: the same settings and data are the same checkpoint.
    try:
        facts = _facts(recipe, learner, lessons, prompt, dtype)
    except ConfigError as error:  # a checkpoint names the setting of a run
        raise ConfigError(str(error).replace("model.path=", "recipe.path=")) from error
    folder = Path(settings.out, recipe.name, digest(facts)[:12])
    named = f"{recipe.path}{f' model.revision={recipe.revision}' * bool(recipe.revision)}" if recipe.bits else ""
    if (folder / MANIFEST).exists():
        progress.say(f"{folder} is there already.")
        return FinishedCheckpoint(folder, json.loads((folder / MANIFEST).read_text()), recipe.kind, named)
    about = {**provenance(dict(config)), **({"own_files": own} if own else {})}
    work = folder.with_name(f"{folder.name}.work")
    with alone(work), room(settings.out):
        training = facts | _train(learner, lessons, recipe, work, progress, dtype) | about
        if leads():  # training.json is in the folder before the folder has its name
            atomic_write.write(work / "chosen" / MANIFEST, training)
            (work / "chosen").replace(folder)
        return FinishedCheckpoint(folder, training, recipe.kind, named)


def _train(
    learner: Learner, lessons: Lessons, recipe: Recipe, work: Path, progress: Progress, dtype: str
) -> dict[str, Any]:
    """Train, leave the chosen weights in work/chosen, and return what training.json says of it."""
    from transformers import set_seed

    from harness.plugins.train import memory
    from harness.plugins.train.loop import train

    set_seed(recipe.seed)  # a new head is drawn when the network is loaded
    device = device_of(learner.device)
    memory.check(memory.needed(learner, recipe, dtype), recipe, device)  # before the weights are loaded
    fits = fit_counts(learner, lessons, recipe, progress)
    need = memory.needed(learner, recipe, dtype, fits["fit"]["longest_in_tokens"])
    line = memory.check(need, recipe, device)
    if leads():
        progress.say(line)
    if isinstance(learner, PairLearner):
        learner.balance(lessons.train.positives, len(lessons.train.rows))
    if (room := shutil.disk_usage(work).free) < (needed := memory.room_needed(need, recipe)):
        raise StoreError(
            f"{work} has room for {room / 1e9:.1f} GB; training {recipe.path} may take {needed / 1e9:.1f} GB "
            "for its checkpoints: make room, or choose another out=."
        )
    started, processor = time.monotonic(), time.process_time()
    trained = train(learner, lessons, recipe, work, progress, dtype)
    scores = [entry for entry in trained.curve if "eval_f1" in entry]
    best = next(entry for entry in scores if entry["step"] == trained.step)
    dev = {name.removeprefix("eval_"): value for name, value in best.items() if name.startswith("eval_")}
    if leads():
        shutil.rmtree(work / "chosen", ignore_errors=True)
        (work / "chosen").mkdir()
        if trained.network is not None:
            save(trained.network, learner, work / "chosen", lessons.dev.rows, trained.weights)
        if recipe.lora.r:
            (work / ADAPTER).replace(work / "chosen" / ADAPTER)
    steps = max(entry["step"] for entry in scores)
    equal = sum(entry[f"eval_{recipe.by}"] == dev[recipe.by] for entry in scores)
    which = "the first with" if recipe.settings == "paper" else "with the smallest loss among those with" * (equal > 1)
    why = (
        f"step {trained.step:,} of {steps:,}, {which or 'with'} the best {_NAMES[recipe.by]} "
        f"on {len(lessons.dev.rows):,} dev items ({100 * dev[recipe.by]:.2f}%) of {len(scores)} that were evaluated"
    )
    if leads() and not dev["yes"]:
        progress.say("The chosen step answers No to every dev item: it has learned nothing yet (more recipe.epochs?).")
    return {
        **fits,
        "chosen": {"step": trained.step, "epoch": best["epoch"], "by": recipe.by, "dev": dev, "why": why},
        "curve": trained.curve,
        "micro_batch": trained.micro_batch,
        # Of the last process, where several have trained one after the other.
        "seconds": round(time.monotonic() - started, 1),
        "processor_seconds": round(time.process_time() - processor, 1),
        "packages": {name: version(name) for name in ("torch", "transformers", "accelerate")},
    }


_NAMES = {"f1": "F1", "accuracy": "accuracy"}


def _facts(recipe: Recipe, learner: Learner, lessons: Lessons, prompt: Prompt, dtype: str) -> dict[str, JSON]:
    """Return everything the weights depend on: its digest names the checkpoint."""
    return {
        "recipe": dict(recipe.as_json()),
        "base": fingerprint(learner.folder),
        "task": {"name": lessons.task.name, **chosen(lessons.task), **dict(lessons.task.data)},
        "prompt": {"name": prompt.name, "digest": prompt.digest},
        "dtype": dtype,
        "train": lessons.train.as_json(),
        "dev": lessons.dev.as_json(),
    }


def _learner(recipe: Recipe, device: Device, base: Path | None) -> Learner:
    if "LOCAL_RANK" in os.environ and device_of(device) == "cuda":
        import torch

        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    return learner_of(recipe, device, str(base) if base else None)


def _check_packages(recipe: Recipe, device: Device) -> None:
    needed = ["torch", "transformers", "accelerate", *(["peft"] if recipe.lora.r else [])]
    needed += ["bitsandbytes"] if recipe.bits else []
    if missing := [name for name in needed if find_spec(name) is None]:
        extra = "bits" if missing == ["bitsandbytes"] else "train"
        raise ConfigError(
            f"fine-tuning needs {', '.join(needed)} ({', '.join(missing)} is missing): {installing(extra)}."
        )
    if recipe.bits and device != "cpu" and (found := device_of(device)) != "cuda":
        raise ConfigError(
            f"recipe.bits=4 is for a GPU of CUDA, and this machine has none (device={found}): leave recipe.bits out, "
            "or take device=cpu to try it, slowly."
        )


def learner_of(recipe: Recipe, device: Any, base: str | None = None) -> Learner:
    """Return the recipe's learner; its weights are float32 whatever the base's are, to be trained exactly.

    base: the folder of a base that the recipe describes (`scratch`), written before it is loaded.
    """
    settings: dict[str, Any] = {
        "name": recipe.name,
        "path": base or recipe.path,
        "revision": recipe.revision,
        "dtype": "float32",
        "device": device,
        "max_length": recipe.max_length,
        "recipe": recipe,
    }
    if recipe.kind == "causal_lm":
        return AnswerLearner(**settings)
    return (PackedLearner if recipe.packed else PairLearner)(labels=recipe.labels, **settings)


def save(network: Any, learner: Learner, folder: Path, examples: Sequence[Example], weights: Any = None) -> None:
    """Save weights (the network's own, or these), settings and tokenizer as transformers reads them."""
    # The Trainer and the adapter have set these for themselves.
    network.config.use_cache = base_config(learner.folder).get("use_cache", True)
    if isinstance(learner, AnswerLearner):
        network.generation_config = learner.kept["generation_config"]
    network.save_pretrained(folder, state_dict=weights)
    learner.tokenizer.save_pretrained(folder)
    _check_tokenizer(learner, folder, examples)


def _check_tokenizer(learner: Learner, folder: Path, examples: Sequence[Example]) -> None:
    """Raise StoreError for a tokenizer that changes when saved, such as one that no longer gives token_type_ids."""
    from transformers import AutoTokenizer

    saved = AutoTokenizer.from_pretrained(folder)
    texts = [str(value) for example in examples[:100] for value in example.fields.values()]
    before, after = (tokenizer(texts[::2], texts[1::2]) for tokenizer in (learner.tokenizer, saved))
    if dict(before) != dict(after):
        raise StoreError(
            f"the tokenizer of {learner.path} gives other tokens once it is saved ({', '.join(before)} were "
            f"{', '.join(after)} then): the checkpoint would read what it has not learned. It stays in {folder}."
        )
