"""Questions for real servers, and what the checkpoint itself says of them."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path

from support.outcomes import each

from harness.models.api.ranking import choices_begun
from harness.types import AnswerForm, ChatRequest, ChoiceRequest, Failure, Message, Request, Response

QUESTION = (Message("user", "All variables are given. Question: Is it so? Answer:"),)
CHOICES = ("Yes", "No")
RANKED = ChoiceRequest(QUESTION, CHOICES)
WRITTEN = ChatRequest(QUESTION, max_tokens=5)
HELD = ChatRequest(QUESTION, max_tokens=40, form=AnswerForm(CHOICES, "json_schema"))
TOO_LONG = ChatRequest((Message("user", "are given " * 3000),), max_tokens=5)


def ask(kind: type, address: str, *requests: Request, **settings) -> Response | Failure:
    """Return the outcome of the first request."""
    given = {"name": "m", "model": "tiny", "base_url": address, "max_wait": 0.1, "attempts": 2, "api_key_env": None}
    found = dict(each(kind(**(given | settings)).respond(requests)))
    return found[requests[0]]


@cache
def probabilities(tiny: Path, chat: bool) -> dict[str, float]:
    """Return what the checkpoint holds the choices for: over its whole vocabulary, computed in this process."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer, model = AutoTokenizer.from_pretrained(tiny), AutoModelForCausalLM.from_pretrained(tiny)
    text = f"user: {QUESTION[0].content}\nassistant:" if chat else QUESTION[0].content
    with torch.no_grad():
        logprobs = model(**tokenizer(text, return_tensors="pt", add_special_tokens=False)).logits[0, -1].log_softmax(-1)
    masses = dict.fromkeys(CHOICES, 0.0)
    for token, number in tokenizer.get_vocab().items():
        if len(names := choices_begun(token, CHOICES)) == 1:
            masses[names[0]] += math.exp(float(logprobs[number]))
    return masses
