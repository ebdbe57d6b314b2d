"""NLI pairs: the harness in each precision beside transformers' zero-shot pipeline.

RoBERTa-base's layers (12 of 768) with random weights.
"""

from __future__ import annotations

import tempfile
from itertools import chain, groupby
from typing import Any

import torch
from tokenizers import ByteLevelBPETokenizer, processors
from transformers import PreTrainedTokenizerFast, RobertaConfig, RobertaForSequenceClassification, pipeline

from harness.models.local.checkpoint import dtype_of
from harness.models.local.nli import CLASSES, NLI
from harness.prompting import prompts
from harness.tasks.corr2cause import Corr2Cause
from harness.types import PairRequest
from local_models.timing import Scores, Way, here, off, table, turns

COUNT = 96
Found = Scores[PairRequest]


def pairs() -> list[PairRequest]:
    """The 1,162 of the test split."""
    prompt = prompts.load("corr2cause", "pair", ())
    items = Corr2Cause(name="corr2cause", prompts=("pair",)).items()
    return [prompt.render(item.fields, (), PairRequest) for item in items]


def trained_tokenizer(requests: list[PairRequest]) -> PreTrainedTokenizerFast:
    """RoBERTa's kind, of the words of these pairs."""
    trained = ByteLevelBPETokenizer()
    special = {"bos_token": "<s>", "pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
    trained.train_from_iterator(
        [f"{request.premise} {request.hypothesis}" for request in requests], 5000, special_tokens=list(special.values())
    )
    raw = trained._tokenizer
    raw.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    special |= {"cls_token": "<s>", "sep_token": "</s>"}
    return PreTrainedTokenizerFast(tokenizer_object=raw, model_max_length=512, **special)


def checkpoint(folder: str, tokenizer: PreTrainedTokenizerFast) -> None:
    torch.manual_seed(0)
    config = RobertaConfig(
        vocab_size=len(tokenizer),
        max_position_embeddings=514,
        id2label=dict(enumerate(CLASSES)),
        label2id={name: k for k, name in enumerate(CLASSES)},
    )
    RobertaForSequenceClassification(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def harness(model: NLI, requests: list[PairRequest]) -> Found:
    """As a run asks it, tokenizing included."""
    return {request: dict(response.logprobs) for request, response in chain.from_iterable(model.respond(requests))}


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


def shares(scores: Found) -> Found:
    """What the pipeline would say."""
    odds = {request: values["entailment"] - values["contradiction"] for request, values in scores.items()}
    return {request: {"share": float(torch.sigmoid(torch.tensor(value)))} for request, value in odds.items()}


def case(runs: int) -> dict[str, Any]:
    every = pairs()
    requests = every[:: len(every) // COUNT][:COUNT]
    tokenizer = trained_tokenizer(every)
    with tempfile.TemporaryDirectory() as folder:
        checkpoint(folder, tokenizer)
        auto = dtype_of("auto", "cpu")
        models = {
            dtype: NLI(name="random", path=folder, dtype=dtype, device="cpu")
            for dtype in dict.fromkeys(("float32", auto))
        }
        exact = models["float32"]
        lengths = [pair.length for pair in exact.encode(every)]
        print(f"\n## NLI: {len(requests)} pairs of {min(lengths)} to {max(lengths)} tokens; dtype auto is {auto} here")
        ways: list[Way[PairRequest]] = [
            here("the harness, float32", lambda asked: harness(exact, asked)),
            here("transformers' pipeline", lambda asked: piped(exact, asked, 1)),
            here("transformers' pipeline, batches of 8", lambda asked: piped(exact, asked, 8)),
        ]
        ways += [
            here(f"the harness, {dtype}", lambda asked, model=model: harness(model, asked))
            for dtype, model in models.items()
            if dtype != "float32"
        ]
        for way in ways:
            way.ask(requests[:2])
        times, (float32, *pipes) = turns(requests, ways, runs)
    print("\n".join(table(times, len(requests), "pairs")))
    apart = max(off(scores, shares(float32)) for scores in pipes[:2])
    print(f"\nIn float32 all ways are within {apart:.1e} of each other.", flush=True)
    assert apart < 1e-3
    return {"tokens": lengths, "asked": len(requests), "seconds": times, "auto": auto, "apart": apart}
