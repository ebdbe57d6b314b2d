"""Local checkpoints: where they are, what identifies them and what computes them, without torch or transformers."""

from __future__ import annotations

import hashlib
import logging
import os
import platform
import re
import shutil
from collections.abc import Iterator
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Literal

from harness.codec import user_path
from harness.errors import ConfigError
from harness.models.local import gguf
from harness.runtime.environment import installing
from harness.storage import atomic_write
from harness.types import JSON

Device = Literal["auto", "cpu", "cuda", "mps"]
DType = Literal["auto", "float32", "bfloat16", "float16"]

BUILTIN = "builtin:"
"""Before the name of a checkpoint that ships."""
SHIPPED = Path(str(resources.files("harness"))) / "data" / "models"
_WEIGHTS = ("*.safetensors", "*.bin")
_WORDS = ("*.json", "*.txt", "*.model", "*.jinja", "*.tiktoken")
_IDLE = re.compile(
    r"^(?:README|LICENSE|\.|training_args|training\.json$|trainer_state|optimizer|flax_|tf_|rust_)|\.(?:md|onnx)$"
)
"""Files of a checkpoint on which no output depends."""


def locate(path: str, revision: str | None) -> Path:
    """Return where a checkpoint is: a folder that ships, is local, in the Hub's local cache or downloaded; or a file.

    Raises ConfigError.
    """
    if path.startswith(gguf.PACKAGE):
        return gguf.packaged(path.removeprefix(gguf.PACKAGE))
    place = SHIPPED / path.removeprefix(BUILTIN) if path.startswith(BUILTIN) else user_path(path)
    if place.is_file():
        return place
    if place.is_dir():
        if not _has_weights(place):
            if files := sorted(file.name for file in place.glob("*.gguf")):
                raise ConfigError(f"model.path={path} holds {', '.join(files[:3])}: name the file itself.")
            raise ConfigError(f"model.path={path} holds no weights (*.safetensors or *.bin): it is not a checkpoint.")
        return place
    if path.startswith(("/", ".", "~", BUILTIN)) or path.count("/") > 1 or path.endswith(".gguf"):
        raise ConfigError(f"model.path={path}: there is no such {'file' if path.endswith('.gguf') else 'folder'}.")
    try:
        from huggingface_hub import HfApi, snapshot_download
        from huggingface_hub.errors import LocalEntryNotFoundError
    except ImportError:
        raise ConfigError(missing_packages(path)) from None
    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)  # else it prints a line for each of five retries
    try:
        cached_folder = Path(snapshot_download(path, revision=revision, local_files_only=True))
        if _has_weights(cached_folder):
            return cached_folder
    except LocalEntryNotFoundError:
        pass
    try:
        files = HfApi().list_repo_files(path, revision=revision)
        weights = _WEIGHTS[:1] if any(name.endswith(".safetensors") for name in files) else _WEIGHTS[1:]
        return Path(snapshot_download(path, revision=revision, allow_patterns=[*_WORDS, *weights]))
    except Exception as error:  # the Hub's client raises its own, httpx's and requests' kinds
        raise ConfigError(
            f"the checkpoint {path} is neither a folder, nor in the local Hub cache, nor can it be downloaded "
            f"({' '.join(str(error).split())[:200]}). Check the name and the network, or give a folder with model.path."
        ) from error


@cache
def fingerprint(place: Path) -> str:
    """Return the SHA-256 of a checkpoint's file, or one over the names and contents of what outputs depend on.

    That is its weights, tokenizer and configuration. The Hub's cache names large files by their SHA-256, so they are
    not read; digests of others are stored by size and time of change in the user's cache folder.
    """
    if place.is_file():
        return _file_digest(place)
    total = hashlib.sha256()
    for file in sorted(place.iterdir()):
        if file.is_file() and file.suffix != ".py" and not _IDLE.search(file.name):
            total.update(f"{file.name}\0{_file_digest(file)}\n".encode())
    return total.hexdigest()


RECORD = "training.json"
"""The file in which `harness finetune` records how it trained a checkpoint."""
_QUOTED = ("made_by", "recipe", "base", "task", "data", "prompt", "train", "dev", "chosen")


def training_record(folder: Path) -> dict[str, JSON]:
    """Return what a manifest quotes of a checkpoint's training: recipe, digests of the data, the step that was chosen.

    Empty without a record, and for one in another form.
    """
    content = atomic_write.object_in(folder / RECORD)
    quoted = {name: content[name] for name in _QUOTED if name in content}
    return {"file": RECORD, "sha256": _sha256(folder / RECORD), **quoted} if quoted else {}


def device_of(setting: Device) -> str:
    """Return the device to use; `auto` takes an accelerator if the operating system shows one."""
    if setting != "auto":
        return setting
    hidden = os.environ.get("CUDA_VISIBLE_DEVICES") in ("", "-1")
    accelerator = any(Path(file).exists() for file in ("/dev/nvidiactl", "/dev/kfd", "/dev/dxg"))  # CUDA, ROCm, WSL
    if not hidden and (accelerator or (platform.system() == "Windows" and shutil.which("nvidia-smi"))):
        return "cuda"
    return "mps" if platform.system() == "Darwin" and platform.machine() == "arm64" else "cpu"


_BFLOAT16 = frozenset({"amx_bf16", "avx512_bf16"})
"""Linux's names for the CPU instructions that multiply bfloat16."""


def dtype_of(setting: DType, device: str) -> str:
    """Return the dtype to use; `auto` is bfloat16 on a GPU or CPU with hardware for it, else float32.

    In bfloat16 an encoder of RoBERTa's size is 3.3 times as fast on a CPU with avx512_bf16 (AMD EPYC, two cores), and 7
    times slower on one with AVX2 only.
    """
    if setting != "auto":
        return setting
    good = device == "cpu" and bool(_BFLOAT16 & _cpu_flags())
    if device == "cuda":
        import torch  # which says of GPUs below 8.0 that they multiply bfloat16: they emulate it

        good = not torch.cuda.is_available() or torch.cuda.get_device_capability()[0] >= 8
    return "bfloat16" if good else "float32"


def cores() -> int:
    """Return how many cores this process may use, by its affinity and its container's quota."""
    bound = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    for quota in _read(Path("/sys/fs/cgroup/cpu.max")):  # microseconds of computing, per period
        if match := re.match(r"(\d+) (\d+)", quota):
            return max(1, min(bound, round(int(match[1]) / int(match[2]))))
    return bound


@cache
def _cpu_flags() -> frozenset[str]:
    for text in _read(Path("/proc/cpuinfo")):
        if match := re.search(r"^flags\s*:(.*)$", text, re.MULTILINE):
            return frozenset(match[1].split())
    return frozenset()


def missing_packages(path: str) -> str:
    return f"running {path} here needs torch and transformers: {installing('local')}."


def _has_weights(folder: Path) -> bool:
    """Test whether the weights are complete: all files that an index names, or any file without an index."""
    for index in sorted(folder.glob("*.safetensors.index.json")) or sorted(folder.glob("*.bin.index.json")):
        files = set(atomic_write.object_in(index).get("weight_map", {}).values())
        return all((folder / name).exists() for name in files)
    return any(not _IDLE.search(file.name) for pattern in _WEIGHTS for file in folder.glob(pattern))


def _file_digest(file: Path) -> str:
    """Return the SHA-256 of a file's content; that of a large file is stored until the file changes."""
    blob = file.resolve()
    if blob.parent.name == "blobs" and re.fullmatch(r"[0-9a-f]{64}", blob.name):
        return blob.name
    stat = blob.stat()
    key = f"{blob}|{stat.st_size}|{stat.st_mtime_ns}"
    if stat.st_size < 1 << 24:
        return _sha256(blob)
    memo = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "harness" / "digests"
    note = memo / hashlib.sha256(key.encode()).hexdigest()
    for remembered in _read(note):
        if re.fullmatch(r"[0-9a-f]{64}", remembered):
            return remembered
    digest = _sha256(blob)
    try:
        memo.mkdir(parents=True, exist_ok=True)
        note.write_text(digest)
    except OSError:
        pass  # only the next start is slower
    return digest


def _read(file: Path) -> Iterator[str]:
    try:
        text = file.read_text()
    except OSError:
        return
    yield text


def _sha256(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
