"""A trained network as a folder that transformers and the adapters read like any other."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.errors import StoreError
from harness.plugins.train.examples import Example
from harness.plugins.train.learners import AnswerLearner, Learner, base_config


def save(network: Any, learner: Learner, folder: Path, examples: Sequence[Example]) -> None:
    """Save weights, settings and tokenizer as transformers reads them."""
    shutil.rmtree(folder, ignore_errors=True)
    # The Trainer and the adapter have set these for themselves.
    network.config.use_cache = base_config(learner.folder).get("use_cache", True)
    if isinstance(learner, AnswerLearner):
        network.generation_config = learner.kept["generation_config"]
    network.save_pretrained(folder)
    learner.tokenizer.save_pretrained(folder)
    _check_tokenizer(learner, folder, examples)


def _check_tokenizer(learner: Learner, folder: Path, examples: Sequence[Example]) -> None:
    """Refuse a tokenizer that is another one once it is saved: such as one that no longer gives token_type_ids."""
    from transformers import AutoTokenizer

    saved = AutoTokenizer.from_pretrained(folder, trust_remote_code=learner.trust_remote_code)
    texts = [str(value) for example in examples[:100] for value in example.fields.values()]
    before, after = (tokenizer(texts[::2], texts[1::2]) for tokenizer in (learner.tokenizer, saved))
    if dict(before) != dict(after):
        raise StoreError(
            f"the tokenizer of {learner.path} gives other tokens once it is saved ({', '.join(before)} were "
            f"{', '.join(after)} then): the checkpoint would read what it has not learned. It stays in {folder}."
        )
