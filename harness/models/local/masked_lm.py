"""A masked language model: ranks choices by their log-probability at one mask after the prompt.

CausalBench (Zhou et al. 2024, Table XII) has BERT, RoBERTa and DeBERTa without an NLI head; this way is ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from harness.errors import ConfigError, RunStopped
from harness.models.local.encoder import Encoded, Encoder
from harness.models.local.loading import exact_head
from harness.protocols import as_text
from harness.storage.atomic_write import object_in
from harness.types import JSON, ChoiceRequest, Failure, Request


@dataclass(frozen=True)
class Masked(Encoded[ChoiceRequest]):
    """A prompt in tokens, with a mask at `place`, and the token of each choice."""

    place: int
    choices: Mapping[str, int]


@dataclass(frozen=True, kw_only=True)
class MaskedLM(Encoder[Masked]):
    """Any checkpoint that transformers loads as a masked language model.

    The mask stands for one token, so every choice has to be a single token after a space.
    """

    accepts: ClassVar[tuple[type[Request], ...]] = (ChoiceRequest,)

    @property
    def identity(self) -> Mapping[str, JSON]:
        return self._identity("masked_lm")

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
        config = object_in(self.folder / "config.json")
        original = config.get("model_type") in ("deberta", "deberta-v2") and "legacy" not in config
        return {"legacy": False} if original else {}

    def encode(self, requests: Sequence[ChoiceRequest]) -> Iterator[Masked | Failure]:
        """Yield the prompts in tokens, or a Failure. Raises RunStopped for choices of several tokens."""
        return map(self._encode, requests)

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

    def _compute(self, batch: list[Masked]) -> list[dict[str, float]]:
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
