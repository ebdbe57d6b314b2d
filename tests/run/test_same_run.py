"""Two commands are one run exactly if they ask the same and read it in the same way, else two folders or a refusal."""

from __future__ import annotations

import json
import random
from itertools import combinations
from typing import Any

import pytest

from harness.cli import hydra_app
from harness.codec import canonical
from harness.errors import ConfigError
from harness.prepare import Prepared, prepare
from harness.prompting.fit import fitting
from harness.types import Message, Response

MODELS: dict[str, list[str]] = {
    "openai": ["model.model=some-model"],
    "causal_lm": ["model.path={}"],
    "masked_lm": ["model.path={}"],
    "nli": ["model.path={}"],
    "always_no": [],
    "random_uniform": [],
}
"""The models that are drawn, with what each one needs; the first two more often."""
SETTINGS: dict[str, tuple[str, ...]] = {
    "prompt": ("plain", "few_shot", "cot", "cls", "system", "enhanced", "pair", "cot_two_step"),
    "max_tokens": ("8", "16", "1024"),
    "answer": ("text", "choice"),
    "replies": ("model", "fixed"),
    "samples": ("1", "2"),
    "model.method": ("rank", "generate"),
    "model.temperature": ("0", "0.5"),
    "model.seed": ("null", "3"),
    "model.reasoning": ("true", "false"),
    "model.reasoning_tokens": ("8192", "512"),
    "model.top_logprobs": ("5", "20"),
    "model.constrain": ("json_schema", "tool"),
    "model.chat_template": ("null", "true"),
    "model.batch_tokens": ("8192", "64"),
    "model.max_concurrency": ("64", "2"),
}
OF_THE_TASK: dict[str, tuple[str, ...]] = {
    "task.limit": ("2", "3"),
    "task.perturbation": ("none", "permutation"),
    "task.labels": ("published", "audited"),
    "task.unreadable": ("wrong", "no"),
    "task.seed": ("0", "1"),
    "task.version": ("v1", "v2"),
}
Command = tuple[str, dict[str, str]]
REPLIES = ("Yes", "No", "Answer: yes", '{"answer": "No"}', "Perhaps.", "Entailment")


@pytest.fixture
def sections(tmp_path, monkeypatch):
    """Return the composed config of each model."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "none-needed")
    checkpoint = tmp_path / "checkpoint"
    checkpoint.mkdir()
    (checkpoint / "config.json").write_text("{}")
    (checkpoint / "model.safetensors").write_text("weights that are never read")
    configs = {}
    for name in MODELS:
        chosen = [f"model={name}", "model.name=m", "task.limit=3", *(text.format(checkpoint) for text in MODELS[name])]
        configs[name] = hydra_app.composed("config", chosen)
    return configs


@pytest.fixture
def prepared(sections):
    """Return a function that prepares the run of a command; None where it is refused."""

    def run_of(model: str, settings: dict[str, str]) -> Prepared | None:
        config = json.loads(json.dumps(sections[model]))
        for name, text in settings.items():
            section, _, own = name.rpartition(".")
            part = config[section] if section else config
            if section and own not in part:
                return None
            part[own] = json.loads(text) if text[0].isdigit() or text in ("null", "true", "false") else text
        try:
            return prepare(config)
        except ConfigError:
            return None

    return run_of


def place_and_configuration(run: Prepared) -> Any:
    manifest = run.folder.manifest
    return run.folder.path, canonical(dict(manifest.configuration))


def asked_and_read(run: Prepared) -> Any:
    """Return what the run asks, of whom, and what it makes of some replies: built from its parts, not its settings."""
    prompt, kind = run.prompt, fitting(run.prompt, run.model)
    items = list(run.task.items())
    asked, read = [], []
    for item in items:
        opening = prompt.opening(item.fields)
        asked += [repr(prompt.turn((), opening, k)) for k in range(len(opening))]
        fixed = prompt.words.opening_reply if prompt.replies == "fixed" else "a reply"
        turns = tuple(m for turn in opening for m in (Message("user", turn), Message("assistant", str(fixed))))
        asked += [repr(prompt.render(item.fields, turns, kind, k)) for k in range(run.settings.samples)]
        read.append([prompt.parse(Response(text), item.fields) for text in REPLIES])
        read.append([item.labels[run.task.headline], sorted(item.groups.items())])
    scored = getattr(run.task, "unreadable", None), run.task.name, prompt.name
    return canonical(dict(run.model.identity)), canonical(asked), repr(read), scored


def drawn(draw: random.Random, settings: dict[str, tuple[str, ...]], own: dict[str, list[str]]) -> Command:
    """Return a model and a few settings that it has."""
    model = draw.choice([*MODELS, *[*MODELS][:2] * 3])
    known = [name for name in sorted(settings) if name[:6] != "model." or name[6:] in own[model]]
    return model, {name: draw.choice(settings[name]) for name in draw.sample(known, draw.randint(0, 3))}


@pytest.mark.parametrize("drawn_commands", [9, pytest.param(600, marks=pytest.mark.slow)])
def test_commands_are_one_run_exactly_if_they_ask_and_read_the_same(prepared, sections, drawn_commands):
    draw, own = random.Random(20), {model: list(config["model"]) for model, config in sections.items()}
    commands = [drawn(draw, SETTINGS, own) for _ in range(drawn_commands)]
    runs = [(command, run) for command in commands if (run := prepared(*command)) is not None]
    known = [(command, place_and_configuration(run), asked_and_read(run)) for command, run in runs]
    assert len(known) > drawn_commands / 4
    same = 0
    for (one, where, what), (other, elsewhere, otherwise) in combinations(known, 2):
        assert (where == elsewhere) == (what == otherwise), (one, other)
        same += where == elsewhere and one != other
    assert same > drawn_commands / 16


@pytest.mark.parametrize("drawn_commands", [5, pytest.param(40, marks=pytest.mark.slow)])
def test_what_is_asked_or_read_otherwise_because_of_the_task_has_another_place(prepared, sections, drawn_commands):
    draw, own = random.Random(28), {model: list(config["model"]) for model, config in sections.items()}
    commands = [drawn(draw, OF_THE_TASK | {"prompt": ("plain", "few_shot")}, own) for _ in range(drawn_commands)]
    runs = [run for command in commands if (run := prepared(*command)) is not None]
    known = [(place_and_configuration(run), asked_and_read(run)) for run in runs]
    for (where, what), (elsewhere, otherwise) in combinations(known, 2):
        assert what == otherwise or where != elsewhere
    assert len({where for where, _ in known}) > drawn_commands / 3


def test_to_rank_and_to_write_are_two_runs_unless_the_prompt_leaves_no_choice(prepared):
    ranks, writes = (prepared("causal_lm", {"model.method": method}) for method in ("rank", "generate"))
    assert ranks.folder.path == writes.folder.path
    assert [run.folder.manifest.configuration["model"]["method"] for run in (ranks, writes)] == ["rank", "generate"]
    assert ranks.model.identity == writes.model.identity  # the cache's key: the request tells the answers apart
    either = [prepared("causal_lm", {"model.method": method, "prompt": "cot"}) for method in ("rank", "generate")]
    assert place_and_configuration(either[0]) == place_and_configuration(either[1])
