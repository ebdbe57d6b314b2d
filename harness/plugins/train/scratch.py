"""A base written from scratch: an architecture of transformers, sentences as its tokens, random weights."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from harness.errors import ConfigError
from harness.types import JSON

CUT = r"(?<=[.:])\s+"
"""Where a sentence ends: at a full stop or a colon with a space behind it, so not within "i.e.,"."""
JOINED = "However, "
"""Removed before sentences are cut: with it the sentence behind it would be a different token."""
PAD, UNKNOWN, BEGIN, END = SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
_NAME = re.compile(r"\b[A-Z]\b")
_NAMES = re.compile(r"\b[A-Z]\b(?:, [A-Z]\b)*(?: and [A-Z]\b)?")


@dataclass(frozen=True, kw_only=True)
class Scratch:
    """The parts of a base with random weights."""

    config: Mapping[str, Any] = field(default_factory=dict)
    """What transformers' AutoConfig.for_model takes: model_type and sizes."""
    zeros: tuple[str, ...] = ()
    """Weights fixed at zero, such as those of positions."""
    fixed: tuple[str, ...] = ()
    """Weights fixed as drawn, such as embeddings, so that sentences on different names keep their common parts."""
    thoughts: tuple[str, ...] = ()
    """Sentences about two names, as {} and {}, that the tokenizer puts before each hypothesis for all pairs of names:
    room to think in. A packed training has them answered where the data has their answers."""
    rounds: Annotated[int, Field(gt=0)] = 1
    """Repetitions of the thoughts."""
    also_read: Mapping[str, JSON] = field(default_factory=dict)
    """Settings of the task for further items whose sentences become tokens without being learned."""


def sentences(text: str) -> list[str]:
    """Return the sentences of a text, cut as the tokenizer of `make_base` does."""
    return [sentence for sentence in re.split(CUT, text.replace(JOINED, "").strip()) if sentence]


def make_base(scratch: Scratch, texts: Iterable[str], seed: int, folder: Path) -> None:
    """Write a folder with random weights, drawn by the seed, and a token for each sentence of the texts.

    Raises ConfigError for an architecture that transformers does not know.
    """
    import torch
    import transformers
    from transformers import AutoConfig, AutoModelForSequenceClassification, set_seed

    vocabulary = sorted({sentence for text in set(texts) for sentence in sentences(text)})
    thoughts = _thoughts(scratch, vocabulary)
    longest = int(scratch.config.get("max_position_embeddings") or scratch.config.get("n_positions") or 512)
    tokenizer = sentence_tokenizer([*vocabulary, *thoughts], longest, thoughts)
    names = {0: "not_entailment", 1: "entailment"}
    sizes = {**scratch.config, "vocab_size": len(tokenizer), "pad_token_id": tokenizer.pad_token_id}
    transformers.utils.logging.disable_progress_bar()
    set_seed(seed)
    try:
        config = AutoConfig.for_model(**sizes, id2label=names, label2id={name: k for k, name in names.items()})
        model = AutoModelForSequenceClassification.from_config(config)
    except (KeyError, TypeError, ValueError) as error:
        raise ConfigError(f"recipe.scratch.config makes no model: {' '.join(str(error).split())[:200]}") from error
    weights = dict(model.named_parameters())
    if unknown := sorted({*scratch.zeros, *scratch.fixed} - set(weights)):
        raise ConfigError(f"recipe.scratch: there are no weights {', '.join(unknown)}, but {', '.join(weights)}.")
    embeddings = model.get_input_embeddings().weight
    with torch.no_grad():
        for name in scratch.zeros:
            weights[name].zero_()
        embeddings[len(SPECIAL) :] = codes([*vocabulary, *thoughts], embeddings.shape[1], config.initializer_range)
    half = folder.with_name(f"{folder.name}.half")
    shutil.rmtree(half, ignore_errors=True)
    model.save_pretrained(half)
    tokenizer.save_pretrained(half)
    shutil.rmtree(folder, ignore_errors=True)
    half.replace(folder)


def codes(sentences: Sequence[str], width: int, scale: float) -> Any:
    """Return initial embeddings, (sentences, width): the sum of vectors for each sentence's parts.

    Its parts are its words without the names, the two names it is about, their order, and further names it lists. So
    sentences that say the same of other variables begin as neighbours, unlike embeddings drawn one by one.
    """
    import torch

    parts = [_parts(sentence) for sentence in sentences]
    place = {part: k for k, part in enumerate(dict.fromkeys(part for of_sentence in parts for part in of_sentence))}
    table = torch.empty(len(place), width)
    torch.nn.init.orthogonal_(table, gain=scale * width**0.5)
    sums = torch.zeros(len(sentences), width)
    for row, of_sentence in enumerate(parts):
        sums[row] = table[[place[part] for part in of_sentence]].sum(0)
    return sums


def _parts(sentence: str) -> list[tuple[str, str]]:
    number, _, sentence = sentence.rpartition("] ")
    names = _NAME.findall(sentence)
    pair, others = names[:2], names[2:]
    about = [(role, name) for role, name in zip(("first", "second"), pair, strict=False)]
    return [
        ("words", _NAMES.sub("_", sentence)),
        *([("round", number)] if number else []),
        *(("pair", name) for name in pair),
        *about,
        *(("other", name) for name in others),
    ]


def _thoughts(scratch: Scratch, vocabulary: Sequence[str]) -> list[str]:
    """Return the thoughts, round by round, about all pairs of names that the vocabulary has."""
    names = sorted({name for sentence in vocabulary for name in _NAME.findall(sentence)})
    sayings = [thought.format(*pair) for thought in scratch.thoughts for pair in permutations(names, 2)]
    return [f"[{number}] {saying}" for number in range(1, scratch.rounds + 1) for saying in sayings]


def sentence_tokenizer(vocabulary: Sequence[str], longest: int, thoughts: Sequence[str] = ()) -> Any:
    """Return transformers' tokenizer with a token for each sentence; others are unknown.

    With thoughts a pair is premise, thoughts, hypothesis, for decoders, which answer at its last token.

    transformers 5 loads a saved tokenizer as one without token_type_ids, unless it names them: a BERT would then read
    both texts as one, without a word.
    """
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    tokens = {token: number for number, token in enumerate([*SPECIAL, *vocabulary])}
    raw = Tokenizer(models.WordLevel(tokens, unk_token=UNKNOWN))
    raw.normalizer = normalizers.Sequence([normalizers.Replace(JOINED, ""), normalizers.Strip()])
    raw.pre_tokenizer = pre_tokenizers.Split(Regex(CUT), "removed")
    raw.post_processor = processors.TemplateProcessing(
        single=["$A"] if thoughts else [BEGIN, "$A", END],
        pair=["$A", *thoughts, "$B"] if thoughts else [BEGIN, "$A", END, "$B:1", f"{END}:1"],
        special_tokens=[(token, tokens[token]) for token in (BEGIN, END, *thoughts)],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=raw,
        pad_token=PAD,
        unk_token=UNKNOWN,
        cls_token=BEGIN,
        sep_token=END,
        model_max_length=longest,
        model_input_names=["input_ids", *([] if thoughts else ["token_type_ids"]), "attention_mask"],
    )
