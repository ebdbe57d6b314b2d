"""A causal language model writes: ways to have it write a number of tokens after each prompt, always the likeliest."""

from __future__ import annotations

import tempfile
from copy import deepcopy
from itertools import chain
from typing import Any

import torch
from transformers import pipeline

from harness.models.local.causal_lm import CausalLM
from harness.protocols import as_text
from harness.types import ChatRequest, Response
from local_models import lm_eval, ranking, vllm
from local_models.timing import Scores, Way, here, table, turns

TOKENS, BATCH = 32, 8
Found = Scores[ChatRequest]


def asked(count: int) -> list[ChatRequest]:
    """So many of Corr2Cause's prompts, evenly spread over five premises."""
    every = ranking.asked(ranking.corr2cause())
    return [ChatRequest(r.messages, max_tokens=TOKENS) for r in every[:: max(1, len(every) // count)][:count]]


def harness(lm: CausalLM, requests: list[ChatRequest]) -> Found:
    """As a run asks it."""
    return {request: _length(response) for request, response in chain.from_iterable(lm.respond(requests))}


def alone(lm: CausalLM, requests: list[ChatRequest]) -> Found:
    """`model.generate` for one prompt at once."""
    tokenizer, model = lm._parts
    found: Found = {}
    for request in requests:
        inputs = tokenizer(as_text(request.messages), return_tensors="pt", return_token_type_ids=False)
        with torch.inference_mode():
            ids = model.generate(**inputs.to(model.device), max_new_tokens=TOKENS)
        found[request] = {"tokens": float(ids.shape[1] - inputs["input_ids"].shape[1])}
    return found


def piped(lm: CausalLM, requests: list[ChatRequest]) -> Found:
    """Transformers' pipeline for text generation, in batches."""
    tokenizer, model = deepcopy(lm._parts[0]), lm._parts[1]
    tokenizer.pad_token, tokenizer.padding_side = tokenizer.pad_token or tokenizer.eos_token, "left"
    pipe = pipeline("text-generation", model=model, tokenizer=tokenizer, device="cpu", batch_size=BATCH)
    texts = [as_text(request.messages) for request in requests]
    told = pipe(texts, max_new_tokens=TOKENS, do_sample=False, return_tensors=True)
    lengths = [len(tokenizer(text)["input_ids"]) for text in texts]
    # What is padded is counted with the prompt: of the whole, only what was to be written is known.
    assert all(len(one[0]["generated_token_ids"]) >= length for one, length in zip(told, lengths, strict=True))
    return {request: {} for request in requests}


def ways(lm: CausalLM, checkpoint: str) -> list[Way[ChatRequest]]:
    """All of them, those of other programs where these are installed."""
    harness(lm, asked(1))
    found = [
        here("the harness", lambda requests: harness(lm, requests)),
        here("model.generate, one prompt at once", lambda requests: alone(lm, requests)),
        here(f"transformers' pipeline, batches of {BATCH}", lambda requests: piped(lm, requests)),
    ]
    if lm_eval.version():
        found.append(lm_eval.writing(checkpoint, BATCH))
    if vllm.version():
        found.append(vllm.way(checkpoint, TOKENS))
    return found


def _length(response: Any) -> dict[str, float]:
    assert isinstance(response, Response), response
    return {"tokens": float(response.usage.output)}


def case(runs: int) -> dict[str, Any]:
    requests = asked(48)
    with tempfile.TemporaryDirectory() as folder:
        ranking.checkpoint(folder, [as_text(request.messages) for request in ranking.asked(ranking.corr2cause())])
        lm = CausalLM(name="random", path=folder, dtype="float32", device="cpu")
        print(f"\n## Writing {TOKENS} tokens after each of {len(requests)} prompts of Corr2Cause", flush=True)
        times, found = turns(requests, ways(lm, folder), runs)
    assert found[0] == found[1]  # as many tokens after each prompt
    whole = {row: times.pop(row) for row in (lm_eval.WHOLE, vllm.WHOLE) if row in times}
    print("\n".join(table(times, len(requests), "prompts")), flush=True)
    return {"seconds": times, "whole": whole, "lm_eval": lm_eval.version(), "vllm": vllm.version()}
