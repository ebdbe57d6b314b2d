"""A causal language model ranks Yes against No: ways to ask it, and the prompts that it is asked."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import chain, islice
from pathlib import Path

import torch
from tokenizers import ByteLevelBPETokenizer
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

from harness.models.local.causal_lm import CausalLM
from harness.prompting import prompts
from harness.protocols import as_text
from harness.tasks.corr2cause import Corr2Cause
from harness.types import ChoiceRequest, Item
from local_models.timing import Scores, Way, here

PREMISES, EACH = 5, 40
BATCH = 8
WHOLE = "python -m harness"
Found = Scores[ChoiceRequest]


def corr2cause() -> list[Item]:
    """200 pairs: 40 hypotheses about each of 5 premises, those of the test split with the most hypotheses."""
    items = list(Corr2Cause(name="corr2cause", prompts=("plain",)).items())
    sizes: dict[str, int] = {}
    for item in items:
        sizes[item.cluster] = sizes.get(item.cluster, 0) + 1
    found: list[Item] = []
    for cluster in sorted(sizes, key=lambda name: (-sizes[name], name))[:PREMISES]:
        found += islice((item for item in items if item.cluster == cluster), EACH)
    return found


def asked(items: list[Item]) -> list[ChoiceRequest]:
    """The prompts of Corr2Cause items."""
    prompt = prompts.load("corr2cause", "plain", ())
    return list(dict.fromkeys(prompt.render(item.fields, (), ChoiceRequest) for item in items))


def checkpoint(folder: str, texts: list[str]) -> None:
    """GPT-2's layers, 12 of 768, and its vocabulary of 50,257."""
    trained = ByteLevelBPETokenizer()
    trained.train_from_iterator(
        [f"{text} {word}" for text in texts for word in ("Yes", "No")], vocab_size=5000, special_tokens=["<end>"]
    )
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=trained._tokenizer, eos_token="<end>")
    torch.manual_seed(0)
    model = GPT2LMHeadModel(GPT2Config(bos_token_id=0, eos_token_id=0))
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def ways(lm: CausalLM) -> list[Way[ChoiceRequest]]:
    """In this process, tokenizing included."""
    for warm in (harness, alone):
        warm(lm, asked(corr2cause()[:4]))
    return [
        here("the harness", lambda requests: harness(lm, requests)),
        here("one forward pass per prompt", lambda requests: alone(lm, requests)),
    ]


def harness(lm: CausalLM, requests: list[ChoiceRequest]) -> Found:
    """As a run asks it."""
    return {request: dict(response.logprobs) for request, response in chain.from_iterable(lm.respond(requests))}


def alone(lm: CausalLM, requests: list[ChoiceRequest]) -> Found:
    """One forward pass for each prompt, in a plain loop; both choices are read from its last position."""
    tokenizer, model = lm._parts
    choices = {word: tokenizer(f" {word}", add_special_tokens=False)["input_ids"] for word in ("Yes", "No")}
    assert all(len(tokens) == 1 for tokens in choices.values())
    found: Found = {}
    for request in requests:
        ids = tokenizer(as_text(request.messages), return_tensors="pt")["input_ids"].to(model.device)
        with torch.inference_mode():
            row = model(ids, use_cache=False).logits[0, -1].log_softmax(-1)
        found[request] = {word: float(row[tokens[0]]) for word, tokens in choices.items()}
    return found


def of_two(found: Found) -> Found:
    """Log-probabilities among the two choices, which is what vLLM tells of them."""
    both = {request: torch.tensor([values["Yes"], values["No"]]).log_softmax(0) for request, values in found.items()}
    return {request: {"Yes": float(yes), "No": float(no)} for request, (yes, no) in both.items()}


def command(checkpoint: str, items: Sequence[Item]) -> Way[ChoiceRequest]:
    """`python -m harness` on the items in a file, with an empty cache: from start to end, with scores and records."""

    def ask(requests: list[ChoiceRequest]) -> tuple[Found, dict[str, float]]:
        with tempfile.TemporaryDirectory() as folder:
            with Path(folder, "items.csv").open("w", newline="") as file:
                rows = csv.writer(file)
                rows.writerow(["premise", "hypothesis", "label"])
                rows.writerows([i.fields["premise"], i.fields["hypothesis"], i.labels["published"]] for i in items)
            settings = [f"model.path={checkpoint}", "model.name=random", "model.dtype=float32", "model.device=cpu"]
            settings += ["model.chat_template=false"]
            settings += ["task=corr2cause", "task.source=file", "task.path=items.csv", "prompt=plain"]
            started = time.perf_counter()
            run = [sys.executable, "-m", "harness", "model=causal_lm", *settings]
            done = subprocess.run(run, cwd=folder, capture_output=True, text=True)
            whole = time.perf_counter() - started
            if done.returncode:
                raise RuntimeError(f"the harness failed:\n{done.stderr[-3000:]}")
            (records,) = Path(folder).glob("results/**/records.jsonl")
            lines = [json.loads(line) for line in records.read_text().splitlines()]
        # The lines stand in the order in which the answers came: items-1 is the file's first.
        found = {int(line["item"].rpartition("-")[2]): line["response"]["logprobs"] for line in lines}
        return {request: found[k] for k, request in enumerate(requests, 1)}, {WHOLE: whole}

    return Way(ask)
