"""How many decisions are not those of float32, by a small encoder that has been trained: two layers of 64.

Random weights would not do: what comes out of them for different pairs is nearly the same, and decisions are ties. This
one learns for a minute, from 1,600 pairs of the train split (no test premise is in it): entailment where the hypothesis
is valid, else contradiction where it speaks of parent or child and neutral where of something else. It decides about
the 1,162 pairs of the test split. In that minute it learns to tell the kinds of hypotheses apart, and not yet which are
valid: its decisions are easy ones, and a share of zero here is no promise for a real checkpoint.
"""

from __future__ import annotations

import random
import statistics
import tempfile
from itertools import chain
from typing import Any

import torch
from transformers import PreTrainedTokenizerFast, RobertaConfig, RobertaForSequenceClassification

from harness.models.local.nli import CLASSES, NLI
from harness.prompting import prompts
from harness.tasks.corr2cause import Corr2Cause
from harness.types import Item, PairRequest

LEARN, STEPS, BATCH = 1600, 250, 8


def pairs(split: str, limit: int | None = None) -> tuple[list[PairRequest], list[Item]]:
    """Pairs of a split, and their items."""
    items = list(Corr2Cause(name="corr2cause", prompts=("pair",), split=split, limit=limit).items())
    prompt = prompts.load("corr2cause", "pair", ())
    return [prompt.render(item.fields, (), PairRequest) for item in items], items


def checkpoint(folder: str, tokenizer: PreTrainedTokenizerFast) -> None:
    """The encoder, trained."""
    requests, items = pairs("train", LEARN)
    gold = [
        CLASSES.index(
            "entailment"
            if item.labels["audited"]
            else "contradiction"
            if item.groups["relation"] in ("parent", "child")
            else "neutral"
        )
        for item in items
    ]
    torch.manual_seed(0)
    chance = random.Random(0)
    config = RobertaConfig(
        vocab_size=len(tokenizer),
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=256,
        max_position_embeddings=514,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        id2label=dict(enumerate(CLASSES)),
        label2id={name: k for k, name in enumerate(CLASSES)},
    )
    model = RobertaForSequenceClassification(config)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 2e-3, total_steps=STEPS)
    for _ in range(STEPS):
        chosen = chance.sample(range(len(requests)), BATCH)
        told = [(requests[k].premise, requests[k].hypothesis) for k in chosen]
        inputs = tokenizer(told, padding=True, truncation="only_first", return_tensors="pt")
        optimizer.zero_grad()
        model(**inputs, labels=torch.tensor([gold[k] for k in chosen])).loss.backward()
        optimizer.step()
        schedule.step()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def case(tokenizer: PreTrainedTokenizerFast) -> dict[str, Any]:
    """Of the decisions in bfloat16, the share that float32 does not make."""
    requests, _ = pairs("test")
    with tempfile.TemporaryDirectory() as folder:
        threads = torch.get_num_threads()
        torch.set_num_threads(1)  # for steps as small as these, two wait for each other longer than they compute
        checkpoint(folder, tokenizer)
        torch.set_num_threads(threads)
        found = {
            dtype: dict(
                chain.from_iterable(NLI(name="small", path=folder, dtype=dtype, device="cpu").respond(requests))
            )
            for dtype in ("float32", "bfloat16")
        }
    exact = found.pop("float32")
    classes = {name: sum(response.text == name for response in exact.values()) for name in CLASSES}
    ordered = [sorted(response.logprobs.values()) for response in exact.values()]
    margin = statistics.median(high - middle for _, middle, high in ordered)
    told = ", ".join(f"{count} {name}" for name, count in classes.items())
    print(f"\nDecisions of the trained encoder about {len(exact):,} pairs ({told}; median margin {margin:.1f} nats)")
    shares = {}
    for dtype, answers in found.items():
        shares[dtype] = statistics.mean(answers[request].text != exact[request].text for request in exact)
        print(f"that are not those of float32: {shares[dtype]:.2%} in {dtype}.", flush=True)
    return {"classes": classes, "margin": margin, "disagree": shares}
