"""A masked language model: ranks choices by their log-probability at one mask after the prompt.

CausalBench (Zhou et al. 2024, Table XII) lists BERT, RoBERTa and DeBERTa without an NLI head among its models, finds
that they cannot follow its prompts, and does not say how they were prompted. This way is ours.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from harness.errors import ConfigError, RunStopped
from harness.models.local.checkpoint import settings_in
from harness.models.local.engine import in_batches, windows
from harness.models.local.loading import Checkpoint, exact_head, input_limit
from harness.protocols import Outcomes, as_text
from harness.types import JSON, ChoiceRequest, Failure, Request


@dataclass(frozen=True)
class Masked:
    """A prompt in tokens, with a mask at `place`, and the token of each choice."""

    request: ChoiceRequest
    tokens: Mapping[str, list[int]]
    place: int
    choices: Mapping[str, int]

    @property
    def length(self) -> int:
        return len(self.tokens["input_ids"])


@dataclass(frozen=True, kw_only=True)
class MaskedLM(Checkpoint):
    """Any checkpoint that transformers loads as a masked language model.

    The mask stands for one token, so every choice has to be a single token after a space.
    """

    accepts: ClassVar[tuple[type[Request], ...]] = (ChoiceRequest,)

    @property
    def identity(self) -> Mapping[str, JSON]:
        return self._identity("masked_lm")

    def respond(self, requests: Iterable[Request]) -> Generator[Outcomes]:
        """Answer the requests of a window, sorted by length, in batches, each of them a list.

        Raises RunStopped for choices of several tokens.
        """
        for window in windows(requests, self.window):
            encoded: list[Masked] = []
            for request in window:
                assert isinstance(request, ChoiceRequest)
                masked = self._encode(request)
                if isinstance(masked, Failure):
                    yield [(request, masked)]
                else:
                    encoded.append(masked)
            started = time.perf_counter()
            for batch, rows in in_batches(encoded, lambda masked: masked.length, self._budget, self._rank):
                seconds = round((time.perf_counter() - started) / len(batch), 6)
                yield [
                    (masked.request, self._likeliest(logprobs, masked.length, seconds))
                    for masked, logprobs in zip(batch, rows, strict=True)
                ]
                started = time.perf_counter()

    @cached_property
    def _parts(self) -> tuple[Any, Any]:
        """(tokenizer, model)."""
        tokenizer, model = self._load("AutoModelForMaskedLM", **self._head())
        if tokenizer.mask_token_id is None:
            raise ConfigError(f"the tokenizer of {self.path} has no mask: it belongs to no masked language model.")
        head = model.get_output_embeddings()
        # DeBERTa's head multiplies with the embeddings instead, and transformers returns its inner layer here.
        if head is not None and head.weight.shape[0] == model.config.vocab_size:
            exact_head(head)
        return tokenizer, model

    def _head(self) -> dict[str, JSON]:
        """Return the setting that selects DeBERTa's original head, lm_predictions, rather than transformers' own."""
        config = settings_in(self.folder / "config.json")
        original = config.get("model_type") in ("deberta", "deberta-v2") and "legacy" not in config
        return {"legacy": False} if original else {}

    @cached_property
    def _limit(self) -> int:
        tokenizer, model = self._parts
        return input_limit(tokenizer, model.config, self.max_length)

    def _encode(self, request: ChoiceRequest) -> Masked | Failure:
        """Return the prompt and a choice in tokens, with the mask in place of the choice's.

        A mask written in the text could be tokenized differently, with the space before it.
        """
        tokenizer, _ = self._parts
        choices, after = self._choices(request.choices)
        tokens = {
            name: list(values)
            for name, values in tokenizer(f"{as_text(request.messages)} {request.choices[0]}", verbose=False).items()
        }
        ids = tokens["input_ids"]
        if len(ids) > self._limit:
            return Failure("context_length", f"{len(ids)} tokens, the model takes {self._limit}")
        place = len(ids) - 1 - after
        if ids[place] != choices[request.choices[0]]:
            raise RunStopped(f"the tokenizer of {self.path} joins {request.choices[0]!r} with the end of this prompt.")
        ids[place] = tokenizer.mask_token_id
        return Masked(request, tokens, place, choices)

    def _choices(self, choices: tuple[str, ...]) -> tuple[dict[str, int], int]:
        """Return the token of each choice after a space, and how many special tokens follow. Raises RunStopped."""
        tokenizer, _ = self._parts
        short = tokenizer("A")["input_ids"]
        token_of: dict[str, int] = {}
        after = 0
        for choice in choices:
            ids = tokenizer(f"A {choice}")["input_ids"]
            place = next((k for k, (a, b) in enumerate(zip(ids, short, strict=False)) if a != b), len(short))
            is_one_token = len(ids) == len(short) + 1 and ids[:place] + ids[place + 1 :] == short
            if not is_one_token or ids[place] == tokenizer.unk_token_id:
                raise RunStopped(
                    f"the choice {choice!r} is not one token of {self.path}, and one mask stands for one token: choose "
                    "a prompt with other choices."
                )
            token_of[choice] = ids[place]
            after = len(short) - place
        if len(set(token_of.values())) < len(token_of):
            raise RunStopped(
                f"the choices {', '.join(token_of)} are the same token of {self.path}: nothing tells them apart."
            )
        return token_of, after

    def _rank(self, batch: list[Masked]) -> list[dict[str, float]]:
        """Return the log-probability of each choice at each mask."""
        import torch

        tokenizer, model = self._parts
        inputs = tokenizer.pad([dict(masked.tokens) for masked in batch], padding_side="right", return_tensors="pt")
        with torch.inference_mode():
            logits = model(**inputs.to(model.device)).logits
            rows = logits[torch.arange(len(batch)), [masked.place for masked in batch]].float().log_softmax(-1).cpu()
        return [
            {choice: float(row[token]) for choice, token in masked.choices.items()}
            for masked, row in zip(batch, rows, strict=True)
        ]
