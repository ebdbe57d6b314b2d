"""Ranking, generation, NLI and training on whatever device is there, beside plain loops over transformers.

python benchmarks/gpu.py [--size tiny|base] [--model NAME] [--encoder NAME] [--items 96] [--runs 3] [CASE …]

Without names the models are made on the spot, with random weights: nothing is downloaded. All ways take turns; what
counts is the ratio of their medians. Loops are as one writes them: one prompt at once, or batches of eight.
"""

from __future__ import annotations

import argparse
import json
import platform
import tempfile
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import torch
from local_models import agreement, entailment, ranking, writing
from local_models.timing import here, table, turns

from harness.models.local.causal_lm import CausalLM
from harness.models.local.checkpoint import device_of, dtype_of
from harness.models.local.nli import NLI
from harness.protocols import as_text
from harness.types import ChatRequest, ChoiceRequest

RESULTS = Path(__file__).parent / "results"
BATCH = 8
DECODER = {"tiny": {"n_layer": 2, "n_embd": 128, "n_head": 4}, "base": {}}
ENCODER = {
    "tiny": {"num_hidden_layers": 2, "hidden_size": 128, "num_attention_heads": 4, "intermediate_size": 512},
    "base": {},
}


def prompts_of(items: int) -> list[ChoiceRequest]:
    asked = ranking.asked(ranking.corr2cause())
    return asked[:: max(1, len(asked) // items)][:items]


def ranks(settings: argparse.Namespace, folder: str) -> dict[str, list[float]]:
    lm, requests = decoder(settings, folder), prompts_of(settings.items)
    ranking.harness(lm, requests[:2])
    ways = [
        here("the harness ranks", lambda asked: ranking.harness(lm, asked)),
        here("one forward pass per prompt", lambda asked: ranking.alone(lm, asked)),
        here(f"padded batches of {BATCH}", lambda asked: ranking.padded(lm, asked)),
    ]
    return turns(requests, ways, settings.runs)[0]


def writes(settings: argparse.Namespace, folder: str) -> dict[str, list[float]]:
    lm = decoder(settings, folder)
    requests = [ChatRequest(request.messages, max_tokens=writing.TOKENS) for request in prompts_of(settings.items)]
    writing.harness(lm, requests[:1])
    ways = [
        here("the harness writes", lambda asked: writing.harness(lm, asked)),
        here("model.generate, one prompt at once", lambda asked: writing.alone(lm, asked)),
    ]
    return turns(requests, ways, settings.runs)[0]


def entails(settings: argparse.Namespace, folder: str) -> dict[str, list[float]]:
    every, _ = agreement.pairs("test")
    requests = every[:: max(1, len(every) // settings.items)][: settings.items]
    if not settings.encoder:
        entailment.checkpoint(folder, entailment.trained_tokenizer(every), **ENCODER[settings.size])
    model = NLI(name="nli", path=settings.encoder or folder, dtype=settings.dtype, device=settings.device)
    entailment.harness(model, requests[:2])
    ways = [
        here("the harness, NLI", lambda asked: entailment.harness(model, asked)),
        here("one forward pass per pair", lambda asked: entailment.alone(model, asked)),
    ]
    return turns(requests, ways, settings.runs)[0]


def trains(settings: argparse.Namespace, folder: str) -> dict[str, list[float]]:
    """Seconds of a pass: the harness, its checkpoint and 24 dev items included, and a loop with AdamW."""
    path = settings.model or decoder(settings, folder).path
    times: dict[str, list[float]] = {"harness finetune": [], "a loop with AdamW": []}
    for _ in range(settings.runs):
        with tempfile.TemporaryDirectory() as name:
            times["harness finetune"].append(finetuned(settings, path, Path(name)))
        times["a loop with AdamW"].append(looped(settings, path))
    return times


def lessons(settings: argparse.Namespace, path: str) -> tuple[Any, Any, Any]:
    from harness.cli import hydra_app, own_configs
    from harness.plugins.train.examples import Lessons, teaching_task
    from harness.plugins.train.make import learner_of
    from harness.prompting.fit import choose_prompt, fitting
    from harness.settings import build, plain

    words = ["recipe=causal_lm", f"recipe.path={path}", "recipe.epochs=1", "recipe.evaluations=1"]
    words += [f"recipe.batch_size={BATCH}", f"task.limit={settings.items}", "task.num_nodes=[4,5]"]
    own_configs.register()
    config = plain(hydra_app.without_hydra(hydra_app.composed("finetune", words)))
    recipe, task = build(config["recipe"], "recipe"), teaching_task(config["task"])
    learner = learner_of(recipe, settings.device)
    prompt = choose_prompt(task, learner, None)
    return learner, Lessons(task, prompt, fitting(prompt, learner, task), recipe, dev_limit=24), recipe


def finetuned(settings: argparse.Namespace, path: str, work: Path) -> float:
    from harness.plugins.train import loop
    from harness.plugins.train.learners import fit_counts
    from harness.runtime.progress import Progress

    learner, taught, recipe = lessons(settings, path)
    fit_counts(learner, taught, recipe, Progress("count"))
    started = time.perf_counter()
    loop.train(learner, taught, recipe, work, Progress("train"), training_dtype(settings))
    return round(time.perf_counter() - started, 3)


def looped(settings: argparse.Namespace, path: str) -> float:
    learner, taught, _ = lessons(settings, path)
    rows, (tokenizer, model) = taught.epoch(0), learner._parts
    optimizer = torch.optim.AdamW(model.train().parameters(), lr=1e-5)
    half = training_dtype(settings) == "bfloat16"
    started = time.perf_counter()
    for k in range(0, len(rows), BATCH):
        batch = rows[k : k + BATCH]
        texts = [f"{as_text(row.request.messages)} {'Yes' if row.label else 'No'}" for row in batch]
        inputs = tokenizer(texts, padding=True, padding_side="right", return_tensors="pt", return_token_type_ids=False)
        inputs = inputs.to(model.device)
        labels = torch.full_like(inputs["input_ids"], -100)
        last = inputs["attention_mask"].sum(1) - 1
        place = torch.arange(len(batch), device=model.device)
        labels[place, last] = inputs["input_ids"][place, last]
        with torch.autocast(model.device.type, torch.bfloat16) if half else nullcontext():
            loss = model(**inputs, labels=labels, use_cache=False).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
    float(loss)  # which waits for the device
    return round(time.perf_counter() - started, 3)


def training_dtype(settings: argparse.Namespace) -> str:
    return dtype_of("auto", "cuda") if settings.device == "cuda" else "float32"


def decoder(settings: argparse.Namespace, folder: str) -> CausalLM:
    if not settings.model:
        texts = [as_text(request.messages) for request in ranking.asked(ranking.corr2cause())]
        ranking.checkpoint(folder, texts, **DECODER[settings.size])
    path, device = settings.model or folder, settings.device
    return CausalLM(name="decoder", path=path, dtype=settings.dtype, device=device, chat_template=False)


CASES: dict[str, Callable[[argparse.Namespace, str], dict[str, list[float]]]] = {
    "ranking": ranks,
    "generation": writes,
    "nli": entails,
    "training": trains,
}


def machine(device: str) -> str:
    names = {"cuda": lambda: torch.cuda.get_device_name(), "mps": lambda: platform.processor() or "Apple"}
    return names.get(device, lambda: f"{platform.machine()}, {torch.get_num_threads()} threads")()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", choices=[[], *CASES], metavar="CASE", help=", ".join(CASES))
    parser.add_argument("--size", choices=list(DECODER), default="base")
    parser.add_argument("--model", help="a decoder of the Hub, or a folder")
    parser.add_argument("--encoder", help="a classifier of pairs of the Hub, or a folder")
    parser.add_argument("--device", choices=["auto", "cpu", "cuda", "mps"], default="auto")
    parser.add_argument("--items", type=int, default=96)
    parser.add_argument("--runs", type=int, default=3)
    settings = parser.parse_args()
    settings.device = device_of(settings.device)
    settings.dtype = dtype_of("auto", settings.device)
    print(f"{settings.device} ({machine(settings.device)}), torch {torch.__version__}, {settings.dtype}", flush=True)
    done: dict[str, Any] = {"torch": torch.__version__, "machine": machine(settings.device), **vars(settings)}
    done["seconds"] = {}
    for name in settings.cases or CASES:
        with tempfile.TemporaryDirectory() as folder:
            done["seconds"][name] = CASES[name](settings, folder)
        print(f"\n## {name}")
        print("\n".join(table(done["seconds"][name], settings.items, "items")), flush=True)
    (RESULTS / f"gpu_{settings.device}.json").write_text(json.dumps(done, indent=1) + "\n")


if __name__ == "__main__":
    main()
