"""How fast local models are asked: the harness beside plain loops, transformers, lm-evaluation-harness and vLLM.

python benchmarks/local.py [runs] [ranking|generation|entailment …]

Models of GPT-2's and RoBERTa-base's size with random weights, and tokenizers trained on the prompts: nothing is
downloaded. All ways take turns, after a few prompts of each that do not count; what counts is the ratio of their
medians. lm-evaluation-harness and vLLM run in processes and environments of their own (`make
bench-peers .servers/vllm/.ready`): their answers alone are compared with ways in this process, their whole processes
with that of `python -m harness`.
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
from harness.types import ChoiceRequest

RESULTS = Path(__file__).parent / "results" / "local.json"


def say(lines: Iterable[str]) -> None:
    print("\n".join(lines), flush=True)


def ranked(runs: int) -> dict[str, Any]:
    """A causal language model ranks; the items in a process of its own, too."""
    items = ranking.corr2cause()
    requests = ranking.asked(items)
    texts = [as_text(request.messages) for request in requests]
    with tempfile.TemporaryDirectory() as folder:
        ranking.checkpoint(folder, texts)
        lm = CausalLM(name="random", path=folder, dtype="float32", device="cpu")
        lengths = [len(lm._parts[0](text)["input_ids"]) for text in texts]
        print(f"\n## Corr2Cause: {len(lengths)} prompts of {min(lengths):,} to {max(lengths):,} tokens", flush=True)
        ways = ranking.ways(lm)
        if version := lm_eval.version():
            ways.append(lm_eval.way(folder, ranking.BATCH))
        else:
            print(f"\nlm-evaluation-harness is not in {lm_eval.PYTHON.parents[1]}: `make bench-peers` puts it there.")
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


CASES = {"ranking": ranked, "generation": writing.case, "entailment": entailment.case}


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    chosen = sys.argv[2:] or list(CASES)
    told: dict[str, Any] = json.loads(RESULTS.read_text()) if RESULTS.exists() and sys.argv[2:] else {}
    told |= {"python": platform.python_version(), "torch": torch.__version__, "threads": torch.get_num_threads()}
    for name in chosen:
        load = os.getloadavg()[0]
        told.setdefault("cases", {})[name] = CASES[name](runs) | {"runs": runs, "load_before": round(load, 2)}
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main()
