"""How fast a local model ranks: the harness beside one forward pass for each prompt and beside padded batches.

python benchmarks/local.py [runs]

A model of GPT-2's size with random weights, and a tokenizer trained on the prompts: nothing is downloaded. All ways
take turns in one process, after a few prompts of each that do not count; what counts is the ratio of their medians.
The long prompts of CausalBench are equally long: there the ways that share nothing are asked 8 of the 56, and their
time is taken 7 times.
"""

from __future__ import annotations

import json
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import torch
from tokenizers import ByteLevelBPETokenizer
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

from harness import conversation, prompts
from harness.models.causal_lm import CausalLM
from harness.models.protocol import as_text
from harness.tasks.causalbench import Causality
from harness.tasks.corr2cause import Corr2Cause
from harness.types import ChoiceRequest

RESULTS = Path(__file__).parent / "results" / "local.json"
PREMISES, EACH = 5, 40
BATCH = 8
Scores = dict[ChoiceRequest, dict[str, float]]


def corr2cause() -> list[ChoiceRequest]:
    """200 pairs: 40 hypotheses about each of 5 premises, those of the test split with the most hypotheses."""
    prompt = prompts.load("corr2cause", "plain", ())
    items = list(Corr2Cause(name="corr2cause", prompts=("plain",)).items())
    sizes: dict[str, int] = {}
    for item in items:
        sizes[item.cluster] = sizes.get(item.cluster, 0) + 1
    found: list[ChoiceRequest] = []
    for cluster in sorted(sizes, key=lambda name: (-sizes[name], name))[:PREMISES]:
        about = (item for item in items if item.cluster == cluster)
        found += [prompt.render(item.fields, (), ChoiceRequest) for item in islice(about, EACH)]
    assert len(set(found)) == PREMISES * EACH
    return found


def causalbench() -> list[ChoiceRequest]:
    """The 56 ordered pairs of asia, each after the same 100 rows of data."""
    task = Causality(name="causalbench/causality", prompts=("closed",), networks=("asia",), format="data", rows=100)
    prompt = prompts.load(task.name, "closed", (), format="data", replies="fixed")
    items = list(task.items())
    openings = [prompt.opening(item.fields) for item in items]
    played = conversation.play(None, prompt, openings)  # fixed replies: no model is asked
    made = [prompt.render(item.fields, played[o], ChoiceRequest) for item, o in zip(items, openings, strict=True)]
    first: dict[frozenset[str], ChoiceRequest] = {}
    for request in made:
        first.setdefault(request.messages[-1].content, request)
    return list(first.values())[:56]


def checkpoint(folder: Path, texts: list[str]) -> None:
    """GPT-2's layers, 12 of 768, and its vocabulary of 50,257; more positions, for the data."""
    trained = ByteLevelBPETokenizer()
    trained.train_from_iterator(
        [f"{text} {word}" for text in texts for word in ("Yes", "No")], vocab_size=5000, special_tokens=["<end>"]
    )
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=trained._tokenizer, eos_token="<end>")
    torch.manual_seed(0)
    model = GPT2LMHeadModel(GPT2Config(n_positions=8192, bos_token_id=0, eos_token_id=0))
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def alone(lm: CausalLM, requests: list[ChoiceRequest], **cut: int) -> Scores:
    """One forward pass for each prompt, in a plain loop; both choices are read from its last position."""
    tokenizer, model = lm._parts
    choices = {word: tokenizer(f" {word}")["input_ids"] for word in ("Yes", "No")}
    assert all(len(tokens) == 1 for tokens in choices.values())
    found: Scores = {}
    for request in requests:
        ids = tokenizer(as_text(request.messages), return_tensors="pt")["input_ids"]
        with torch.inference_mode():
            row = model(ids, use_cache=False, **cut).logits[0, -1].log_softmax(-1)
        found[request] = {word: float(row[tokens[0]]) for word, tokens in choices.items()}
    return found


def padded(lm: CausalLM, requests: list[ChoiceRequest]) -> Scores:
    """Batches of eight of similar length, padded on the right, as most evaluation scripts have them."""
    tokenizer, model = lm._parts
    choices = {word: tokenizer(f" {word}")["input_ids"][0] for word in ("Yes", "No")}
    found: Scores = {}
    ordered = sorted(requests, key=lambda request: len(as_text(request.messages)), reverse=True)
    for batch in (ordered[k : k + BATCH] for k in range(0, len(ordered), BATCH)):
        texts = [as_text(request.messages) for request in batch]
        inputs = tokenizer(texts, padding=True, padding_side="right", return_tensors="pt", return_token_type_ids=False)
        with torch.inference_mode():
            logits = model(**inputs, use_cache=False).logits
        for row, mask, request in zip(logits, inputs["attention_mask"], batch, strict=True):
            last = row[int(mask.sum()) - 1].log_softmax(-1)
            found[request] = {word: float(last[token]) for word, token in choices.items()}
    return found


def harness(lm: CausalLM, requests: list[ChoiceRequest]) -> Scores:
    """As a run asks it, tokenizing included."""
    return {request: dict(response.logprobs) for request, response in lm.respond(requests)}


WAYS: dict[str, Callable[[CausalLM, list[ChoiceRequest]], Scores]] = {
    "the harness": harness,
    "one forward pass per prompt": alone,
    "the same, output layer at the last position only": lambda lm, requests: alone(lm, requests, logits_to_keep=1),
    f"padded batches of {BATCH}": padded,
}


def seconds(lm: CausalLM, requests: list[ChoiceRequest], every: int, runs: int) -> tuple[dict[str, list[float]], float]:
    """(the times of each way, how far its log-probabilities are from those of one pass per prompt at most)."""
    times: dict[str, list[float]] = {way: [] for way in WAYS}
    off = 0.0
    for ask in WAYS.values():
        ask(lm, requests[:4])
    for _ in range(runs):
        scores: dict[str, Scores] = {}
        for way, ask in WAYS.items():
            asked = requests if way == "the harness" else requests[::every]
            started = time.perf_counter()
            scores[way] = ask(lm, asked)
            times[way].append(round((time.perf_counter() - started) * len(requests) / len(asked), 3))
        shared, exact = scores["the harness"], scores["one forward pass per prompt"]
        off = max(
            off, *(abs(shared[request][word] - exact[request][word]) for request in exact for word in exact[request])
        )
    return times, off


def lines(name: str, lengths: list[int], times: dict[str, list[float]], off: float) -> Iterator[str]:
    """One table."""
    yield f"\n{name}: {len(lengths)} prompts of {min(lengths):,} to {max(lengths):,} tokens"
    yield "\n| way | seconds (median) | times the harness |\n| --- | ---: | ---: |"
    medians = {way: statistics.median(took) for way, took in times.items()}
    for way, took in medians.items():
        yield f"| {way} | {took:.2f} | {took / medians['the harness']:.1f} |"
    yield f"\nLog-probabilities differ by {off:.1e} at most."


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    cases = {
        "Corr2Cause, 5 premises": (corr2cause(), 1),
        "CausalBench, asia after 100 rows of data": (causalbench(), 7),
    }
    texts = [as_text(request.messages) for requests, _ in cases.values() for request in requests]
    told: dict[str, object] = {"python": platform.python_version(), "torch": torch.__version__, "runs": runs}
    with tempfile.TemporaryDirectory() as folder:
        checkpoint(Path(folder), texts)
        lm = CausalLM(name="random", path=folder, dtype="float32", device="cpu")
        tokenizer, _ = lm._parts
        told |= {"threads": torch.get_num_threads(), "cases": {}}
        for name, (requests, every) in cases.items():
            lengths = [len(tokenizer(as_text(request.messages))["input_ids"]) for request in requests]
            times, off = seconds(lm, requests, every, runs)
            print("\n".join(lines(name, lengths, times, off)), flush=True)
            told["cases"][name] = {"tokens": lengths, "seconds": times, "log_probabilities_off": off}
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main()
