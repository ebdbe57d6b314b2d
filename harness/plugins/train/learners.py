"""The adapters that evaluate, with trainable weights: examples are encoded as the questions will be."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.errors import ConfigError
from harness.models.local.causal_lm import CausalLM
from harness.models.local.checkpoint import dtype_of
from harness.models.local.nli import NLI, class_indices
from harness.models.local.placing import placed
from harness.plugins.train.examples import Example, Lessons
from harness.plugins.train.recipe import Recipe
from harness.runtime.progress import Progress
from harness.types import JSON, ChoiceRequest, Failure, PairRequest

NO_LABEL = -100
"""transformers' target for a token that is not learned."""
_DROPOUTS = (
    *("hidden_dropout_prob", "attention_probs_dropout_prob", "classifier_dropout", "pooler_dropout", "dropout"),
    *("attention_dropout", "activation_dropout", "resid_pdrop", "embd_pdrop", "attn_pdrop"),
)
"""Names of shares of dropout in the configs of transformers' models."""


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

    def units(self, examples: Sequence[Example]) -> list[list[int]]:
        """Return the indices of the examples that go through the model together: each alone."""
        return [[place] for place in range(len(examples))]


@dataclass(frozen=True, kw_only=True)
class PairLearner(_OneByOne, NLI):
    """A classifier of pairs. A base that is no classifier gets a head of two classes, drawn by the seed."""

    recipe: Recipe
    weights: list[float] = field(default_factory=list)
    """Weights of No and Yes in the loss; empty if both count alike."""

    def _load(self, auto_class: str, **config: JSON) -> tuple[Any, Any]:
        config |= _dropout(self) | self._head
        tokenizer, model = super()._load(auto_class, **config)
        if scratch := self.recipe.scratch:
            for name in {*scratch.zeros, *scratch.fixed}:
                model.get_parameter(name).requires_grad_(False)
        return tokenizer, model

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
        for request, pair in self.encode(self._requests(examples)):
            if isinstance(pair, Failure):
                yield ExampleFit(0, problem=pair.detail)
            else:
                yield ExampleFit(pair.length, pair.truncated, pair.truncated and not request.hypothesis)

    def batch(self, examples: Sequence[Example]) -> dict[str, Any]:
        import torch

        pairs = [pair for _, pair in self.encode(self._requests(examples)) if not isinstance(pair, Failure)]
        inputs = dict(self.inputs(pairs))
        if self.recipe.settings == "paper":
            del inputs["attention_mask"]  # the authors' code hands on input_ids alone: padding is read
        return inputs | {"labels": torch.tensor([example.label for example in examples])}

    def balance(self, positives: int, examples: int) -> None:
        """Weigh the answers as the recipe says: by N / (2 · count), or as the authors' code does by 1 / count."""
        if self.recipe.settings == "paper" or self.recipe.class_weight == "balanced":
            scale = 1.0 if self.recipe.settings == "paper" else examples / 2
            self.weights[:] = [scale / (examples - positives), scale / positives]

    def loss(self, outputs: Any, labels: Any, num_items_in_batch: Any = None) -> Any:
        """Return the mean of −log p(entailment) of what is a Yes and −log(1 − p(entailment)) of what is a No."""
        import torch

        indices = self._parts[2]
        logprobs = outputs.logits.float().log_softmax(-1)
        others = [k for name, k in indices.items() if name != "entailment"]
        losses = -torch.where(labels == 1, logprobs[:, indices["entailment"]], logprobs[:, others].logsumexp(-1))
        if not self.weights:
            return losses.sum() / (len(labels) if num_items_in_batch is None else num_items_in_batch)
        weights = torch.tensor(self.weights, device=losses.device)[labels]
        if self.recipe.settings == "paper":  # torch's weighted mean: by the weights of the batch
            return (weights * losses).sum() / weights.sum()
        return (weights * losses).sum() / (len(labels) if num_items_in_batch is None else num_items_in_batch)

    def _requests(self, examples: Sequence[Example]) -> list[PairRequest]:
        return [example.request for example in examples if isinstance(example.request, PairRequest)]


@dataclass(frozen=True, kw_only=True)
class AnswerLearner(_OneByOne, CausalLM):
    """A causal language model that learns the tokens of the right answer and nothing of the question."""

    recipe: Recipe
    kept: dict[str, Any] = field(default_factory=dict)
    """Parts of the base that the adapter replaces, to be saved unchanged."""

    def _load(self, auto_class: str, **config: JSON) -> tuple[Any, Any]:
        tokenizer, model = super()._load(auto_class, **(config | _dropout(self)))
        self.kept["generation_config"] = model.generation_config
        if self.recipe.bits:
            from peft import prepare_model_for_kbit_training

            # The Trainer turns checkpointing of activations on, where recipe.trainer asks for it.
            model = prepare_model_for_kbit_training(model, use_gradient_checkpointing=False)  # type: ignore[no-untyped-call]
        return tokenizer, model

    def _placed(self, device: str, dtype: Any) -> dict[str, Any]:
        """Return what transformers is told of a base in 4 bits, as QLoRA has it (Dettmers et al. 2023)."""
        import torch

        if not self.recipe.bits:
            return {}
        computing = getattr(torch, dtype_of(self.recipe.dtype, device) if device == "cuda" else "float32")
        told = placed(None, self.recipe.bits, self.device, device, computing, double=True)
        # accelerate compares the number of the GPU with its own, and "cuda" has none.
        return told | {"device_map": {"": torch.cuda.current_device() if device == "cuda" else device}}

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


def _dropout(learner: PairLearner | AnswerLearner) -> dict[str, JSON]:
    """Return the settings that give the whole model the recipe's share of dropout; {} to keep the base's."""
    share = learner.recipe.dropout
    if share is None:
        return {}
    from transformers import AutoConfig

    base = AutoConfig.from_pretrained(learner.folder)
    names = [name for name in _DROPOUTS if hasattr(base, name)]
    if not names:
        raise ConfigError(f"recipe.dropout={share}: the model {learner.path} has no dropout: leave it out.")
    return dict.fromkeys(names, share)


Learner = PairLearner | AnswerLearner
"""An adapter with trainable weights."""


AT_ONCE = 2048
"""Examples whose tokens are in memory at once."""


def fits_of(learner: Learner, examples: Sequence[Example]) -> Iterator[ExampleFit]:
    for start in range(0, len(examples), AT_ONCE):
        yield from learner.fits(examples[start : start + AT_ONCE])


def fit_counts(learner: Learner, lessons: Lessons, recipe: Recipe, progress: Progress) -> dict[str, dict[str, int]]:
    """Print how many premises are cut, drop or refuse what does not fit, and return the counts."""
    rows = lessons.train.rows
    cut: set[str] = set()
    lessons.lengths.clear()
    dropped: set[int] = set()
    lost, longest, problem = 0, 0, ""
    for place, (example, fit) in enumerate(zip(rows, fits_of(learner, rows), strict=True)):
        longest = max(longest, fit.length)
        if not fit.problem:
            lessons.lengths.append(fit.length)
        lost += fit.hypothesis_cut
        cut |= {example.cluster} if fit.premise_cut else set()
        if fit.problem:
            dropped.add(place)
            problem = fit.problem
    cuts = f"of {lessons.train.clusters:,} premises {len(cut):,} are cut to what {learner.path} takes"
    if lost and recipe.settings != "paper":
        raise ConfigError(
            f"{lost:,} of {len(rows):,} examples would lose the end of their hypothesis and keep their label ({cuts}): "
            "use prompt=pair, which cuts premises only, or recipe.settings=paper to do as the authors' code did."
        )
    if dropped and (recipe.too_long == "refuse" or len(dropped) == len(rows)):
        raise ConfigError(
            f"{len(dropped):,} of {len(rows):,} examples do not fit into {learner.path} (such as: {problem}): "
            "recipe.too_long=drop leaves them out, task.num_nodes=[4,5] takes short ones, or choose another base."
        )
    lessons.left_out.update(dropped)
    if cut:
        progress.say(f"{cuts}{f'; {lost:,} of {len(rows):,} examples lose their hypothesis' if lost else ''}.")
    if dropped:
        progress.say(f"{len(dropped):,} examples are left out, as they do not fit ({problem}).")
    counts = {"premises_cut": len(cut), "hypotheses_cut": lost, "dropped": len(dropped), "longest_in_tokens": longest}
    return {"fit": counts}
