"""The adapters that evaluate, with trainable weights: examples are encoded as the questions will be."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.errors import ConfigError
from harness.models.local.causal_lm import CausalLM
from harness.models.local.nli import NLI, class_indices
from harness.types import JSON, ChoiceRequest, Failure, PairRequest
from harness_train.examples import Example, Lessons
from harness_train.recipe import Recipe

NO_LABEL = -100
"""transformers' target for a token that is not learned."""


@dataclass(frozen=True)
class ExampleFit:
    """How an example fits into the model's context."""

    length: int
    premise_cut: bool = False
    hypothesis_cut: bool = False
    problem: str = ""
    """Why it cannot be learned; "" if it can."""


class _OneByOne:
    """Access to the loaded adapter, and examples one by one."""

    _parts: Any
    """The adapter's tokenizer and model, and more."""

    @property
    def network(self) -> Any:
        return self._parts[1]

    @property
    def tokenizer(self) -> Any:
        return self._parts[0]


@dataclass(frozen=True, kw_only=True)
class PairLearner(_OneByOne, NLI):
    """A classifier of pairs. A base that is no classifier gets a head of two classes, drawn by the seed."""

    recipe: Recipe

    def _load(self, auto_class: str, **config: JSON) -> tuple[Any, Any]:
        return super()._load(auto_class, **config, **self._head)

    @property
    def _head(self) -> dict[str, JSON]:
        """Settings that name the head's classes; new ones if the base is no classifier."""
        base = base_config(self.folder)
        names = dict(enumerate(self.labels)) if self.labels else dict(base.get("id2label") or {})
        classifies = any("SequenceClassification" in name for name in base.get("architectures") or ())
        if not classifies:
            names = {0: "not_entailment", 1: "entailment"}
        named = {int(number): str(name) for number, name in names.items()}
        if class_indices(named) is None:
            raise ConfigError(
                f"the head of {self.path} has no class entailment (its classes: {', '.join(named.values())}): "
                "if it was trained on them, name them in order, recipe.labels=[contradiction,entailment,neutral]."
            )
        return {"id2label": named, "label2id": {name: k for k, name in named.items()}}

    def _untrained(self, model: Any, missing: Collection[str]) -> Collection[str]:
        inside = f"{model.base_model_prefix}."
        return [name for name in missing if not name.startswith(inside) or ".pooler." in name]

    def fits(self, examples: Sequence[Example]) -> Iterator[ExampleFit]:
        for pair in self.encode(self._requests(examples)):
            if isinstance(pair, Failure):
                yield ExampleFit(0, problem=pair.detail)
            else:
                yield ExampleFit(pair.length, pair.truncated, pair.truncated and not pair.request.hypothesis)

    def batch(self, examples: Sequence[Example]) -> dict[str, Any]:
        import torch

        pairs = [pair for pair in self.encode(self._requests(examples)) if not isinstance(pair, Failure)]
        return dict(self.inputs(pairs)) | {"labels": torch.tensor([example.label for example in examples])}

    def loss(self, outputs: Any, labels: Any, num_items_in_batch: Any = None) -> Any:
        """Return the mean of −log p(entailment) of what is a Yes and −log(1 − p(entailment)) of what is a No."""
        import torch

        indices = self._parts[2]
        logprobs = outputs.logits.float().log_softmax(-1)
        others = [k for name, k in indices.items() if name != "entailment"]
        losses = -torch.where(labels == 1, logprobs[:, indices["entailment"]], logprobs[:, others].logsumexp(-1))
        return losses.sum() / (len(labels) if num_items_in_batch is None else num_items_in_batch)

    def _requests(self, examples: Sequence[Example]) -> list[PairRequest]:
        return [example.request for example in examples if isinstance(example.request, PairRequest)]


@dataclass(frozen=True, kw_only=True)
class AnswerLearner(_OneByOne, CausalLM):
    """A causal language model that learns the tokens of the right answer and nothing of the question."""

    recipe: Recipe
    kept: dict[str, Any] = field(default_factory=dict)
    """Parts of the base that the adapter replaces, to be saved unchanged."""

    def _load(self, auto_class: str, **config: JSON) -> tuple[Any, Any]:
        tokenizer, model = super()._load(auto_class, **config)
        self.kept["generation_config"] = model.generation_config
        return tokenizer, model

    def fits(self, examples: Sequence[Example]) -> Iterator[ExampleFit]:
        for sequences in self.sequences(self._requests(examples)):
            if isinstance(sequences, Failure):
                yield ExampleFit(0, problem=sequences.detail)
            else:
                yield ExampleFit(max(len(sequence.read) for sequence in sequences))

    def batch(self, examples: Sequence[Example]) -> dict[str, Any]:
        import torch

        from harness.models.local.engine import Padded

        rows = []
        for example, sequences in zip(examples, self.sequences(self._requests(examples)), strict=True):
            assert not isinstance(sequences, Failure)
            rows.append(sequences[1 - example.label])  # the first choice says Yes
        engine = Padded(self.network, self._budget)
        ids, mask = engine.ids([row.read for row in rows])
        # From a token before the first answer: the Trainer leaves the first label out when it counts those of a batch.
        first = max(0, min(len(row.prompt) for row in rows) - 2) if engine.limits_logits else 0
        labels = torch.full((len(rows), ids.shape[1] - first), NO_LABEL)
        for k, row in enumerate(rows):
            start = len(row.prompt) - 1 - first
            labels[k, start : start + len(row.continuation)] = torch.tensor(row.continuation)
        kept = {"logits_to_keep": torch.arange(first, ids.shape[1], device=ids.device)} if engine.limits_logits else {}
        return {"input_ids": ids, "attention_mask": mask, **kept, "labels": labels.to(ids.device)}

    def loss(self, outputs: Any, labels: Any, num_items_in_batch: Any = None) -> Any:
        """Return the mean of −log p(token) over the tokens of the answers."""
        import torch

        logits = outputs.logits.float().flatten(0, 1)
        summed = torch.nn.functional.cross_entropy(logits, labels.flatten(), ignore_index=NO_LABEL, reduction="sum")
        return summed / ((labels != NO_LABEL).sum() if num_items_in_batch is None else num_items_in_batch)

    def _requests(self, examples: Sequence[Example]) -> list[ChoiceRequest]:
        return [example.request for example in examples if isinstance(example.request, ChoiceRequest)]


def base_config(folder: Any) -> Mapping[str, Any]:
    file = folder / "config.json"
    content = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    return content if isinstance(content, dict) else {}


Learner = PairLearner | AnswerLearner
"""An adapter with trainable weights."""


AT_ONCE = 2048
"""Examples whose tokens are in memory at once."""


def fits_of(learner: Learner, examples: Sequence[Example]) -> Iterator[ExampleFit]:
    for start in range(0, len(examples), AT_ONCE):
        yield from learner.fits(examples[start : start + AT_ONCE])


def learner_of(recipe: Recipe, device: Any) -> Learner:
    """Return the recipe's learner; its weights are float32 whatever the base's are, to be trained exactly."""
    settings: dict[str, Any] = {
        "name": recipe.name,
        "path": recipe.path,
        "revision": recipe.revision,
        "dtype": "float32",
        "device": device,
        "max_length": recipe.max_length,
        "recipe": recipe,
    }
    return PairLearner(labels=recipe.labels, **settings) if recipe.kind == "nli" else AnswerLearner(**settings)


def leave_out(learner: Learner, lessons: Lessons, recipe: Recipe) -> dict[str, int]:
    """Note which examples do not fit; return how many premises are cut and examples are left out.

    Raises ConfigError where recipe.too_long=refuse and some do not fit, or where a hypothesis would be cut.
    """
    rows = lessons.train.rows
    fits = list(fits_of(learner, rows))
    if lost := sum(fit.hypothesis_cut for fit in fits):
        raise ConfigError(
            f"{lost:,} of {len(rows):,} examples would lose the end of their hypothesis and keep their label: use "
            "prompt=pair, which cuts premises only."
        )
    problems = {place: fit.problem for place, fit in enumerate(fits) if fit.problem}
    if problems and (recipe.too_long == "refuse" or len(problems) == len(rows)):
        raise ConfigError(
            f"{len(problems):,} of {len(rows):,} examples do not fit into {learner.path} (such as: "
            f"{next(iter(problems.values()))}): recipe.too_long=drop leaves them out, task.num_nodes=[4,5] takes short "
            "ones, or choose another base."
        )
    lessons.left_out.update(problems)
    cut = {example.cluster for example, fit in zip(rows, fits, strict=True) if fit.premise_cut}
    return {"premises_cut": len(cut), "dropped": len(problems), "longest_in_tokens": max(fit.length for fit in fits)}
