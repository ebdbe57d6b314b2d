"""What users of 0.2 know and this release has no more, and what to write instead. It goes with the next release."""

from __future__ import annotations

from collections.abc import Mapping


def _package(name: str) -> str:
    return f"it is a package of its own now, pip install -e packages/{name}"


_STEPS = "task=cladder prompt=causal_cot asks CausalCoT's steps in one call"
GONE: Mapping[str, str] = {
    "command gate": "harness compare BASELINE CANDIDATE margin=3 ends with the verdict",
    "command contamination": "harness leaderboard by=perturbation shows the scores beside each other",
    "command trust": "a run uses the configs/ and prompts/ of its folder, and says so",
    "command reveal": "publish a digest of task.seed before the run, and the seed after it",
    "command published": f"harness leaderboard published=true has the rows; {_package('papers')}",
    "command stories": "task=corr2cause/writing has a model write them; pip install -e packages/papers brings it",
    **dict.fromkeys(("command steps", "command beliefs", "setting until"), _package("lab")),
    **dict.fromkeys(("command discover", "command league"), _package("discovery")),
    **dict.fromkeys(("command finetune", "setting recipe"), _package("train")),
    **dict.fromkeys(("setting shard", "setting shards", "setting workers"), _package("scale")),
    "command bridges": _package("bridges"),
    **dict.fromkeys(("command batches", "setting model.batch"), _package("batches")),
    **dict.fromkeys(("task cladder/steps", "task cladder/value"), _STEPS),
    "task corr2cause/equivalent": "harness leaderboard by=perturbation compares forms of one question",
    "task corr2cause/folds": "task.split=train and test are the paper's own",
    **dict.fromkeys(
        ("task corr2cause/latent", "task corr2cause/stories", "task causalbench/strength"), _package("papers")
    ),
    "task corr2cause/steps": "prompt=trace has claims judged one by one; pip install -e packages/lab brings it",
    "model nli_onnx": "model=nli runs the checkpoint itself, with torch",
    "setting preset": "metrics= and by= choose what a table shows",
    "setting records": "gzip records.jsonl compresses the records of a run, and everything reads them so",
    "setting follow": "the bar of the run shows its progress; harness report makes the page at any time",
    "setting system_role": "system_role: user stands in a prompt file of your own",
    "setting pause": "the same command goes on, and asks twenty more",
    "setting budget.of": "the jobs of a sweep share one budget",
    "setting model.context": "a server refuses what is too long by itself",
    **dict.fromkeys(("form eee", "form lm_eval"), "to=csv and to=inspect carry every record"),
    **dict.fromkeys(("form hub", "form eval_results"), "tools/hub_dataset.py writes the questions for the Hub"),
}
"""By kind and name, as error messages have them."""


def instead(kind: str, name: str) -> str:
    """Return the sentence on something that is gone, or a part of it; "" for what never was there."""
    way = GONE.get(f"{kind} {name}") or GONE.get(f"{kind} {name.rpartition('.')[0]}")
    return f"{kind} {name!r} is gone since 0.2: {way}." if way else ""
