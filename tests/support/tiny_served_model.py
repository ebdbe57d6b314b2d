"""A Llama of 0.3 million random parameters that every server takes: two layers, heads of 32 numbers."""

from __future__ import annotations

from pathlib import Path

from support.conftest_models import lm_checkpoint

TEMPLATE = (
    "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}"
    "{% if add_generation_prompt %}assistant:{% endif %}"
)
POSITIONS = 2048
WRITE_GGUF = Path(__file__).with_name("write_gguf.py")
"""python WRITE_GGUF FOLDER OUT.gguf puts it into the form of llama.cpp."""


def checkpoint(folder: Path) -> Path:
    sizes = {"hidden_size": 128, "intermediate_size": 128, "max_position_embeddings": POSITIONS}
    return lm_checkpoint(folder, "llama", TEMPLATE, "\nYes\nNo\n yes no YES NO", **sizes, initializer_range=0.1)
