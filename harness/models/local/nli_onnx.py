"""An NLI model that was exported to ONNX, computed by ONNX Runtime: no torch, no transformers."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from harness.errors import ConfigError
from harness.models.local.checkpoint import cores, digests, locate, settings_in
from harness.models.local.loading import input_limit
from harness.models.local.nli import NLI, Encoded
from harness.runtime.environment import installing
from harness.types import JSON

WORDS = ("config.json", "tokenizer.json", "tokenizer_config.json")
"""Files of a checkpoint that are read beside the exported one."""


@dataclass(frozen=True, kw_only=True)
class OnnxNLI(NLI):
    """A sequence classifier in an ONNX file, with the classes of `NLI`, computed on the CPU."""

    file: str = "onnx/model.onnx"

    def __post_init__(self) -> None:
        """Raise ConfigError for settings that only torch can follow."""
        if self.dtype != "auto" or self.device not in ("auto", "cpu") or self.trust_remote_code:
            raise ConfigError(
                "an exported model is computed on the CPU, in the numbers that it was exported with: leave "
                "model.dtype, model.device and model.trust_remote_code out, or use model=nli."
            )

    @cached_property
    def folder(self) -> Path:
        return locate(self.path, self.revision, file=self.file)

    @property
    def identity(self) -> Mapping[str, JSON]:
        return {
            "kind": "nli_onnx",
            "checkpoint": digests(self.folder, (*WORDS, self.file)),
            "max_length": self.max_length,
            "labels": list(self.labels) if self.labels else None,
        }

    @cached_property
    def _parts(self) -> tuple[Any, Any, Mapping[str, int]]:
        """(tokenizer, session, the output index of each class)."""
        if missing := [name for name in ("onnxruntime", "tokenizers") if find_spec(name) is None]:
            raise ConfigError(f"running {self.path} here needs {' and '.join(missing)}: {installing('onnx')}.")
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = int(os.environ.get("OMP_NUM_THREADS") or cores())
        try:
            session = onnxruntime.InferenceSession(
                str(self.folder / self.file), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # ONNX Runtime has a class of error for each kind of fault
            raise ConfigError(f"{self.path} cannot be loaded: {' '.join(str(error).split())[:300]}") from error
        return TokenizerFile(self.folder), session, self._indices(self._config)

    @cached_property
    def _config(self) -> Any:
        config = settings_in(self.folder / "config.json")
        names = config.get("id2label") or {}
        return SimpleNamespace(**{**config, "id2label": names, "num_labels": len(names)})

    @cached_property
    def _limit(self) -> int:
        return input_limit(self._parts[0], self._config, self.max_length)

    def _classify(self, batch: list[Encoded]) -> list[list[float]]:
        """Return the log-probabilities of the classes for each pair."""
        import numpy as np

        _, session, indices = self._parts
        arrays = self.inputs(batch)
        (logits, *_) = session.run(None, {put.name: arrays[put.name] for put in session.get_inputs()})
        logits = np.asarray(logits, dtype=np.float64)
        logits -= logits.max(-1, keepdims=True)
        logprobs = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
        rows: list[list[float]] = logprobs[:, list(indices.values())].tolist()
        return rows

    def inputs(self, batch: Sequence[Encoded]) -> Any:
        """Return the model's inputs for a batch: arrays by name, (pairs, longest), padded."""
        return self._parts[0].pad([pair.tokens for pair in batch])


_READ = ("input_ids", "token_type_ids", "attention_mask")


class TokenizerFile:
    """Encodes as transformers' tokenizer of the same folder does, with the methods of it that an NLI model calls."""

    def __init__(self, folder: Path) -> None:
        """Read tokenizer.json and tokenizer_config.json. Raises ConfigError without the former."""
        from tokenizers import Tokenizer

        file, settings = folder / "tokenizer.json", folder / "tokenizer_config.json"
        if not file.exists():
            raise ConfigError(
                f"{folder.name} has no tokenizer.json: export it with its tokenizer (AutoTokenizer….save_pretrained)."
            )
        self._tokenizer = Tokenizer.from_file(str(file))
        self._settings = settings_in(settings) if settings.exists() else {}
        self._padding = self._tokenizer.padding or {}
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()

    @property
    def model_max_length(self) -> int:
        return int(self._settings.get("model_max_length") or 1 << 30)

    def __call__(
        self, text: Any, pair: Any = None, *, truncation: str = "", max_length: int = 0, verbose: bool = True
    ) -> dict[str, Any]:
        """Encode a text or pair, or a list of them; `truncation` is the strategy: "only_first" cuts the first text."""
        if isinstance(text, str):
            rows = self([text], None if pair is None else [pair], truncation=truncation, max_length=max_length)
            return {name: values[0] for name, values in rows.items()}
        if truncation:
            self._tokenizer.enable_truncation(max_length, strategy=truncation)
        texts = list(text) if pair is None else list(zip(text, pair, strict=True))
        encodings = self._tokenizer.encode_batch(texts)
        self._tokenizer.no_truncation()
        columns = ([e.ids for e in encodings], [e.type_ids for e in encodings], [e.attention_mask for e in encodings])
        return dict(zip(_READ, columns, strict=True))

    def pad(self, rows: Sequence[Mapping[str, Sequence[int]]]) -> dict[str, Any]:
        """Return the rows as integer arrays, (rows, longest), padded on the side that the settings name."""
        import numpy as np

        longest = max(len(row["input_ids"]) for row in rows)
        front = self._settings.get("padding_side") == "left"
        arrays = {}
        for name in _READ:
            array = np.full((len(rows), longest), self._pad_id if name == "input_ids" else 0, dtype=np.int64)
            for k, row in enumerate(rows):
                length = len(row[name])
                array[k, longest - length if front else 0 : longest if front else length] = row[name]
            arrays[name] = array
        return arrays

    @property
    def _pad_id(self) -> int:
        token = self._settings.get("pad_token")
        token = token.get("content") if isinstance(token, dict) else token
        number = self._tokenizer.token_to_id(token) if token else None
        return int(self._padding.get("pad_id", 0) if number is None else number)
