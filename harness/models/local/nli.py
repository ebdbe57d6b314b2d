"""Zero-shot NLI: an encoder gives the probability that a premise entails a hypothesis (Jin et al. 2024, Table 4)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from harness.errors import ConfigError
from harness.models.local.encoder import Encoded, Encoder
from harness.models.local.loading import exact_head
from harness.types import JSON, Failure, PairRequest, Request

CLASSES = ("entailment", "neutral", "contradiction")
_NOT = re.compile(r"(not|non|no)[^a-z]*entail")
"""The beginning of the other one of two classes: not_entailment, non-entailment."""


@dataclass(frozen=True)
class Pair(Encoded[PairRequest]):
    """A pair in tokens; `truncated`: the end of its premise was cut."""

    truncated: bool


@dataclass(frozen=True, kw_only=True)
class NLI(Encoder[Pair]):
    """A sequence classifier with the classes entailment, neutral and contradiction, or entailment and not_entailment.

    Classes are found by name in the checkpoint's `id2label`; `labels` names them in order if that does not.
    """

    labels: tuple[str, ...] | None = None

    window: ClassVar[int] = 2048
    accepts: ClassVar[tuple[type[Request], ...]] = (PairRequest,)

    @property
    def identity(self) -> Mapping[str, JSON]:
        return self._identity("nli") | {"labels": list(self.labels) if self.labels else None}

    @cached_property
    def _parts(self) -> tuple[Any, Any, Mapping[str, int]]:
        """(tokenizer, model, the output index of each class)."""
        tokenizer, model = self._load("AutoModelForSequenceClassification")
        import torch

        indices = self._indices(model.config)
        heads = (module for module in model.modules() if isinstance(module, torch.nn.Linear))
        head = [head for head in heads if head.out_features == model.config.num_labels][-1]
        exact_head(head)
        return tokenizer, model, indices

    def _indices(self, config: Any) -> Mapping[str, int]:
        labels = dict(enumerate(self.labels)) if self.labels else {int(k): str(v) for k, v in config.id2label.items()}
        if len(labels) == config.num_labels and (indices := class_indices(labels)):
            return indices
        raise ConfigError(
            f"{self.path} has no entailment labels: its classes are {', '.join(labels.values())} "
            f"({config.num_labels} outputs). NLI needs entailment, neutral and contradiction, or entailment and "
            "not_entailment; if the checkpoint was trained on them, name them in order: "
            "model.labels=[contradiction,entailment,neutral]."
        )

    def encode(self, requests: Sequence[PairRequest]) -> Iterator[Pair | Failure]:
        """Yield the pairs in tokens, or a Failure; all are encoded at once, which the tokenizer does in parallel."""
        tokenizer, _, _ = self._parts
        hypotheses = [request.hypothesis for request in requests]
        # Without a hypothesis the premise is encoded alone, not as a pair.
        encodings = tokenizer([r.premise for r in requests], hypotheses if any(hypotheses) else None, verbose=False)
        for k, request in enumerate(requests):
            tokens = {name: values[k] for name, values in encodings.items()}
            if not tokens["input_ids"]:
                yield Failure("empty_prompt", "the tokenizer makes no tokens of the pair: there is nothing to read")
            elif len(tokens["input_ids"]) <= self._limit:
                yield Pair(request, tokens, truncated=False)
            else:
                yield self._truncate(request)

    def _truncate(self, request: PairRequest) -> Pair | Failure:
        """Return the pair in tokens, with the premise cut to fit, but not the hypothesis."""
        tokenizer, _, _ = self._parts
        length = len(tokenizer("", request.hypothesis)["input_ids"])
        if length >= self._limit:
            return Failure("context_length", f"the hypothesis alone has {length} tokens, the model takes {self._limit}")
        hypothesis = request.hypothesis or None
        tokens = tokenizer(request.premise, hypothesis, truncation="only_first", max_length=self._limit)
        return Pair(request, tokens, truncated=True)

    def _compute(self, batch: list[Pair]) -> list[dict[str, float]]:
        """Return the log-probabilities of the classes for each pair."""
        import torch

        _, model, indices = self._parts
        with torch.inference_mode():
            logits = model(**self.inputs(batch).to(model.device)).logits.float()
        rows = torch.log_softmax(logits, dim=-1)[:, list(indices.values())].tolist()
        return [dict(zip(indices, row, strict=True)) for row in rows]

    def inputs(self, batch: Sequence[Pair]) -> Any:
        """Return the model's inputs for a batch: tensors by name, (pairs, longest), padded."""
        tokenizer, _, _ = self._parts
        return tokenizer.pad([dict(pair.tokens) for pair in batch], return_tensors="pt")

    def _finish_reason(self, row: Pair) -> str:
        return "premise_truncated" if row.truncated else "stop"


def class_indices(labels: Mapping[int, str]) -> Mapping[str, int] | None:
    """Return the index of each class by the names of a head's outputs; None if these are no NLI classes."""
    names = {k: label.lower() for k, label in labels.items()}
    positive = [k for k, name in names.items() if name.startswith("entailme")]
    if len(names) == 2:
        matches = {"not_entailment": [k for k, name in names.items() if _NOT.match(name)]}
    else:
        matches = {other: [k for k, name in names.items() if name.startswith(other[:8])] for other in CLASSES[1:]}
    matches = {"entailment": positive, **matches}
    if any(len(places) != 1 for places in matches.values()):
        return None
    return {name: places[0] for name, places in matches.items()}
