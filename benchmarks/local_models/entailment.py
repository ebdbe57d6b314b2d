"""NLI pairs: the harness in each precision beside transformers' zero-shot pipeline and one forward pass for each pair.

RoBERTa-base's layers (12 of 768) with random weights. What comes out of them for different pairs is nearly the same,
so that decisions by a random head would be ties: the head alone is trained, for seconds, on other pairs of the test
split, to tell three kinds of hypotheses apart. Its decisions are then made with margins, but they are those of no real
NLI model: the shares that do not agree with float32 compare precisions, and are no promise for a checkpoint.
"""

from __future__ import annotations

import statistics
import tempfile
from itertools import groupby
from typing import Any

import torch
from tokenizers import ByteLevelBPETokenizer, processors
from transformers import PreTrainedTokenizerFast, RobertaConfig, RobertaForSequenceClassification, pipeline

from harness import prompts
from harness.models.checkpoint import dtype_of
from harness.models.nli import CLASSES, NLI
from harness.models.torch_model import in_batches
from harness.tasks.corr2cause import Corr2Cause
from harness.types import Item, PairRequest
from local_models.timing import Scores, Way, here, off, table, turns

COUNT = 96
"""Pairs that are asked; as many others train the head."""
SLOW = 4
"""Of so many pairs one is asked in bfloat16 where the machine is slow at it: for the decisions, not for the time."""
KINDS = {"parent": 0, "child": 0, "ancestor": 1, "descendant": 1, "collider": 2, "confounder": 2}
Found = Scores[PairRequest]


def pairs() -> tuple[list[PairRequest], list[Item]]:
    """All pairs of the test split, and their items."""
    items = list(Corr2Cause(name="corr2cause", prompts=("pair",)).items())
    prompt = prompts.load("corr2cause", "pair", ())
    return [prompt.render(item.fields, (), PairRequest) for item in items], items


def checkpoint(folder: str, requests: list[PairRequest], items: list[Item], learn: range) -> float:
    """A checkpoint whose head has learnt from some of the pairs; the share of them that it gets right."""
    trained = ByteLevelBPETokenizer()
    special = {"bos_token": "<s>", "pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
    trained.train_from_iterator(
        [f"{request.premise} {request.hypothesis}" for request in requests], 5000, special_tokens=list(special.values())
    )
    raw = trained._tokenizer
    raw.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=raw, model_max_length=512, cls_token="<s>", sep_token="</s>", **special
    )
    torch.manual_seed(0)
    config = RobertaConfig(
        vocab_size=len(tokenizer),
        max_position_embeddings=514,
        id2label=dict(enumerate(CLASSES)),
        label2id={name: k for k, name in enumerate(CLASSES)},
        initializer_range=0.05,  # with RoBERTa's own 0.02 the layers hardly look at what they read
    )
    model = RobertaForSequenceClassification(config).eval()
    with torch.inference_mode():
        read = [tokenizer(requests[k].premise, requests[k].hypothesis, return_tensors="pt") for k in learn]
        found = torch.cat([model.roberta(**inputs).last_hidden_state[:, :1] for inputs in read])
    gold = torch.tensor([KINDS[items[k].groups["relation"]] for k in learn])
    features = found.clone()  # what inference_mode made cannot be learnt from
    optimizer = torch.optim.Adam(model.classifier.parameters(), lr=1e-3)
    for _ in range(300):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model.classifier(features), gold).backward()
        optimizer.step()
    with torch.inference_mode():
        right = (model.classifier(features).argmax(-1) == gold).float().mean()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return float(right)


def harness(model: NLI, requests: list[PairRequest]) -> Found:
    """As a run asks it, tokenizing included."""
    return {request: dict(response.logprobs) for request, response in model.respond(requests)}


def alone(model: NLI, requests: list[PairRequest]) -> Found:
    """One forward pass for each pair, in a plain loop."""
    tokenizer, torch_model, indices = model._parts
    found: Found = {}
    for request in requests:
        inputs = tokenizer(request.premise, request.hypothesis, return_tensors="pt")
        with torch.inference_mode():
            row = torch_model(**inputs).logits[0].log_softmax(-1)
        found[request] = {name: float(row[k]) for name, k in zip(CLASSES, indices, strict=True)}
    return found


def piped(model: NLI, requests: list[PairRequest], batch: int) -> Found:
    """The pipeline, told all hypotheses about a premise at once. Its score is of entailment or contradiction."""
    tokenizer, torch_model, _ = model._parts
    pipe = pipeline("zero-shot-classification", model=torch_model, tokenizer=tokenizer, device="cpu", batch_size=batch)
    found: Found = {}
    for premise, about in groupby(sorted(requests, key=lambda r: r.premise), key=lambda r: r.premise):
        labels = [request.hypothesis for request in about]
        told = pipe(premise, labels, hypothesis_template="{}", multi_label=True)
        for label, score in zip(told["labels"], told["scores"], strict=True):
            found[PairRequest(premise, label)] = {"share": score}
    return found


def padding(model: NLI, requests: list[PairRequest]) -> float:
    """The share of padding in the batches that the harness makes of these pairs."""
    encoded = [pair for _, pair in model._encode(requests)]
    batches = [batch for batch, _ in in_batches(encoded, lambda pair: pair.length, model._budget, len)]
    return 1 - sum(pair.length for pair in encoded) / sum(batch[0].length * len(batch) for batch in batches)


def decided(scores: Found) -> dict[PairRequest, str]:
    return {request: max(values, key=values.__getitem__) for request, values in scores.items()}


def disagreeing(low: Found, exact: Found) -> float:
    """The share of decisions that are not those of float32."""
    others, own = decided(exact), decided(low)
    return statistics.mean(own[request] != others[request] for request in own)


def shares(scores: Found) -> Found:
    """What the pipeline would say."""
    odds = {request: values["entailment"] - values["contradiction"] for request, values in scores.items()}
    return {request: {"share": float(torch.sigmoid(torch.tensor(value)))} for request, value in odds.items()}


def case(runs: int) -> dict[str, Any]:
    every, items = pairs()
    step = len(every) // COUNT
    requests = every[::step][:COUNT]
    with tempfile.TemporaryDirectory() as folder:
        right = checkpoint(folder, every, items, range(step // 2, len(every), step)[:COUNT])
        auto = dtype_of("auto", "cpu")
        models = {
            dtype: NLI(name="random", path=folder, dtype=dtype, device="cpu")
            for dtype in ("float32", "int8", "bfloat16")
        }
        exact = models["float32"]
        lengths = [pair.length for _, pair in exact._encode(every)]
        print(f"\n## NLI: {len(requests)} pairs of {min(lengths)} to {max(lengths)} tokens; dtype auto is {auto} here")
        ways: list[Way[PairRequest]] = [
            here(f"the harness, {dtype}", lambda asked, model=model: harness(model, asked))
            for dtype, model in models.items()
            if dtype in ("float32", "int8", auto)
        ]
        ways += [
            here("one forward pass per pair", lambda asked: alone(exact, asked)),
            here("transformers' pipeline", lambda asked: piped(exact, asked, 1)),
            here("transformers' pipeline, batches of 8", lambda asked: piped(exact, asked, 8)),
        ]
        for way in ways:
            way.ask(requests[:2])
        times, found = turns(requests, ways, runs)
        float32, int8, loop, *pipes = found if auto != "bfloat16" else [*found[:2], *found[3:]]
        low = found[2] if auto == "bfloat16" else harness(models["bfloat16"], requests[::SLOW])
        pads = padding(exact, every)
    print("\n".join(table(times, len(requests), "pairs")))
    apart = max(off(loop, float32), *(off(scores, shares(float32)) for scores in pipes))
    differ = {"int8": disagreeing(int8, float32), "bfloat16": disagreeing(low, float32)}
    margins = [sorted(values.values())[-1] - sorted(values.values())[-2] for values in float32.values()]
    classes = sorted(map(list(decided(float32).values()).count, CLASSES))
    print(f"\nPadding over the {len(every):,} pairs of the test split: {pads:.1%}.")
    print(f"Decisions ({', '.join(map(str, classes))} of each class) that are not those of float32:")
    print(f"int8 {differ['int8']:.1%} of {len(int8)}, bfloat16 {differ['bfloat16']:.1%} of {len(low)}.")
    print(f"In float32 all ways are within {apart:.1e} of each other.", flush=True)
    assert apart < 1e-3
    return {
        "tokens": lengths,
        "seconds": times,
        "auto": auto,
        "padding": pads,
        "disagree": differ,
        "asked_in_bfloat16": len(low),
        "head_right": right,
        "margin": statistics.median(margins),
        "classes": classes,
        "apart": apart,
    }
