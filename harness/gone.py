"""What users of 0.2 know and this release has no more, and what to write instead. It goes with the next release."""

from __future__ import annotations

from collections.abc import Mapping


def _comes(words: str, package: str) -> str:
    return f"{words} comes with a package, pip install -e packages/{package}"


_OF_PAPERS = ("corr2cause/latent", "corr2cause/stories", "causalbench/strength")
GONE: Mapping[str, str] = {
    "command gate": "harness compare BASELINE CANDIDATE margin=3 ends with the verdict",
    "command trust": "a run uses the configs/ and prompts/ of its folder, and says so",
    "command requests": "harness items and harness import serve engines that read files",
    "command published": _comes("harness leaderboard published=true", "papers"),
    "command stories": _comes("task=corr2cause/writing, which has a model write stories,", "papers"),
    **{f"command {name}": _comes(f"harness {name}", "lab") for name in ("steps", "beliefs", "until")},
    "setting until": _comes("harness until width=5", "lab"),
    "command discover": _comes("harness discover", "discovery"),
    **dict.fromkeys(("command finetune", "setting recipe"), _comes("harness finetune recipe=NAME", "train")),
    **{f"setting {name}": _comes("harness scale workers=slurm", "scale") for name in ("shard", "shards", "workers")},
    **{f"command {name}": _comes(f"harness {name}", name) for name in ("bridges", "batches", "scale")},
    **dict.fromkeys(("task cladder/steps", "task cladder/value"), "task=cladder prompt=causal_cot asks for its steps"),
    **{f"task {name}": _comes(f"task={name}", "papers") for name in _OF_PAPERS},
    "task corr2cause/steps": _comes("prompt=trace, whose claims are judged one by one,", "lab"),
    "model nli_onnx": "model=nli runs the checkpoint itself, with torch",
    "setting parallel": _comes("hydra/launcher=processes hydra.launcher.count=4", "scale"),
    "hydra/launcher submitit_slurm": "hydra/launcher=slurm",
    **dict.fromkeys(("setting budget.tokens", "setting budget.minutes"), "budget.usd and budget.requests limit a run"),
    "form hf": "to=parquet writes what datasets.load_dataset('parquet', data_files=…) reads",
    **dict.fromkeys(("form mlflow", "form wandb"), "docs/python.md says what a tracker of experiments takes"),
    "setting model.dialect": "model=anthropic and model=gemini_native ask by the providers' own SDKs",
}
"""By kind and name, as error messages have them."""


def instead(kind: str, name: str) -> str:
    """Return the sentence on something that is gone, or a part of it; "" for a name that nobody had."""
    way = GONE.get(f"{kind} {name}") or GONE.get(f"{kind} {name.rpartition('.')[0]}")
    return f"{kind} {name!r} is not here: {way}." if way else ""
