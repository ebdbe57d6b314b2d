"""The whole command in this process, against a fault server: a tenth of a second a run."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from hydra import compose, initialize_config_dir
from omegaconf import DictConfig

from harness.__main__ import run_one
from harness.config_files import CONFIGS
from harness.errors import HarnessError

MODELS = {
    "chat": ("model=gpt4",),
    "completions": ("model=openai_completions", "model.model=davinci-002"),
}
SETTINGS = (
    "prompt=plain", "model.price.input=30", "model.price.output=60", "model.price.cached_input=15",
    "budget.usd=100", "budget.requests=1e9", "model.max_concurrency=8",
)  # fmt: skip


@dataclass
class CommandRun:
    """What one run left: `crash` is what should not have been, `sentence` what it ended with where it was stopped."""

    crash: BaseException | None = None
    sentence: str = ""
    result: dict[str, Any] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)
    """The reply to each prompt that has one."""
    failures: Mapping[str, str] = field(default_factory=dict)
    """The name of the failure of each other prompt."""


def run(folder: Path, url: str, limit: int, *, model: str = "chat", attempts: int = 1, **settings: Any) -> CommandRun:
    """Run the command in a folder; the cache is the folder's, so the next run goes on from there."""
    config = _composed(model).copy()
    config.model.base_url, config.model.attempts, config.task.limit = url, attempts, limit
    config.results, config.cache.path = str(folder / "results"), str(folder / "answers.sqlite")
    for name, value in settings.items():
        config[name] = value
    finished = CommandRun()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            run_one(config, brief=False)
        except HarnessError as error:
            finished.sentence = str(error)
        except BaseException as error:
            finished.crash = error
            return finished
    try:
        _read(folder, finished)
    except ValueError as error:  # NaN, Infinity, half a line
        finished.crash = error
    return finished


def _read(folder: Path, finished: CommandRun) -> None:
    for path in folder.glob("results/**/result.json"):
        finished.result = strict(path.read_text(encoding="utf-8"))
    for path in folder.glob("results/**/records*.jsonl"):
        lines = [strict(line) for line in path.read_text(encoding="utf-8").splitlines()]
        texts = {m["sha256"]: m["text"] for line in lines for m in line["request"]["messages"] if "text" in m}
        by_prompt = {texts[line["request"]["messages"][-1]["sha256"]]: line for line in lines}
        finished.words = {p: line["response"]["text"] for p, line in by_prompt.items() if "response" in line}
        finished.failures = {p: line["failure"]["kind"] for p, line in by_prompt.items() if "failure" in line}


def strict(text: str) -> Any:
    """Return the value of standard JSON. Raises ValueError for NaN and Infinity."""

    def refuse(name: str) -> None:
        raise ValueError(f"{name} is no JSON")

    return json.loads(text, parse_constant=refuse)


@cache
def _composed(model: str) -> DictConfig:
    with initialize_config_dir(str(CONFIGS), version_base="1.3"):
        return compose("config", [*MODELS[model], *SETTINGS, "model.base_url=http://127.0.0.1:1/v1", "task.limit=1"])
