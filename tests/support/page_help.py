"""Pages taken apart by the standard library's HTML parser, and the runs behind them."""

from __future__ import annotations

import base64
import gzip
import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

from harness.__main__ import run_one
from harness.config_files import CONFIGS
from harness.errors import RunStopped


class Page(HTMLParser):
    """The elements of a page in their order, and its chunks by name."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.text = path.read_text(encoding="utf-8")
        self.tags: list[str] = []
        self.scripts: list[dict[str, str | None]] = []
        self.packed: dict[str, str] = {}
        self.feed(self.text)
        self.close()
        self.data = unpacked(self.packed.pop("data"))
        self.runs = {run["id"]: run for run in self.data["runs"]}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag == "script":
            self.scripts.append(dict(attrs))

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1] == "script" and (name := self.scripts[-1].get("data-chunk")):
            self.packed[name] = self.packed.get(name, "") + data.strip()

    def chunk(self, name: str) -> Any:
        return unpacked(self.packed[name])


def unpacked(text: str) -> Any:
    return json.loads(gzip.decompress(base64.b64decode(text, validate=True)))


def run(folder: Path, *settings: str) -> None:
    """Carry out a run of the main command; one that stops leaves what it has."""
    with initialize_config_dir(str(CONFIGS), version_base="1.3"):
        config = OmegaConf.to_container(compose("config", [*settings, f"results={folder}", "cache=off"]), resolve=True)
    try:
        run_one(config, brief=True)
    except RunStopped:
        assert any(name in setting for setting in settings for name in ("stopped", "refused")), settings
