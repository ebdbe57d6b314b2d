"""Servers that a run starts and ends: vLLM, SGLang, llama.cpp, transformers serve."""

from __future__ import annotations

from pathlib import Path

from harness.plugin import Plugin

PLUGIN = Plugin(name="serve", home=Path(__file__).parent)
