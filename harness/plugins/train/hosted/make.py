"""From the composed settings to a fine-tuned model at a server, step by step."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from harness.codec import digest
from harness.config_files import own_files
from harness.errors import ConfigError, RunStopped
from harness.plugins.train.examples import Lessons, teaching_task
from harness.plugins.train.hosted import model, plan, protocol
from harness.plugins.train.hosted.job import DEV, TRAIN, Hosted
from harness.plugins.train.hosted.protocol import Job, TuningServer
from harness.plugins.train.hosted.recipe import HostedRecipe
from harness.plugins.train.hosted.rows import Rows, Summary, check_prompt
from harness.plugins.train.hosted.terms import price_of
from harness.plugins.train.settings import Settings, settings_of
from harness.plugins.train.workplace import MANIFEST, alone, room
from harness.prompting.fit import choose_prompt
from harness.prompting.prompts import Prompt
from harness.runtime.progress import Progress
from harness.seeding import shuffled
from harness.settings import build, chosen
from harness.storage import json_files, provenance
from harness.storage.atomic_write import atomic_file, check
from harness.tasks.check import check_parts
from harness.types import JSON, ChatRequest


@dataclass(frozen=True)
class Order:
    """What is to be trained: the recipe and the rows."""

    settings: Settings
    recipe: HostedRecipe
    prompt: Prompt
    lessons: Lessons

    @cached_property
    def train(self) -> Rows:
        """The rows that are learned, in an order of their own: items come premise by premise."""
        return Rows(shuffled(self.lessons.train.rows, "rows", self.recipe.seed), self.prompt, self.recipe)

    @cached_property
    def dev(self) -> Rows | None:
        """The rows of the validation file; None where there is none."""
        return Rows(self.lessons.dev.rows, self.prompt, self.recipe) if self.recipe.validation else None

    @cached_property
    def file(self) -> Summary:
        """What the training file holds."""
        return self.train.summary()

    @cached_property
    def dev_file(self) -> Summary | None:
        """What the validation file holds."""
        return None if self.dev is None else self.dev.summary()

    @cached_property
    def facts(self) -> dict[str, JSON]:
        """All that the job depends on, and what it is called."""
        task, dev = self.lessons.task, self.dev_file
        return {
            "recipe": dict(self.recipe.as_json()),
            "base": self.recipe.model,
            "task": {"name": task.name, **chosen(task), **dict(task.data)},
            "prompt": {"name": self.prompt.name, "digest": self.prompt.digest},
            "train": self.lessons.train.as_json(),
            "file": self.file.as_json(),
            **({"dev": self.lessons.dev.as_json(), "dev_file": dev.as_json()} if dev is not None else {}),
        }

    @cached_property
    def mark(self) -> str:
        """The digest by which the job is known here and at the server, whatever it is called."""
        recipe = {name: value for name, value in self.recipe.as_json().items() if name != "name"}
        return digest({**self.facts, "recipe": recipe})

    @property
    def name(self) -> str:
        """What the model is called here."""
        return f"{self.recipe.name}_{self.mark[:8]}"

    @property
    def folder(self) -> Path:
        """Where the finished job is told of."""
        return Path(self.settings.out, self.recipe.name, self.mark[:12])


def make_hosted(config: Mapping[str, Any]) -> list[str]:
    """Write the training file, tell what a job of it costs, make the job or end it, as the config says.

    Returns what is to be told. Raises HarnessError.
    """
    config, own = own_files(config)
    order = _order(settings_of(config))
    out = order.settings.out
    if out == "-" or out.endswith(".jsonl"):
        return _written(order)
    check(out, folder=True)
    told = list(plan.lines(order.recipe, order.lessons.train, order.file, order.dev_file))
    if order.recipe.cancel:
        return [_cancelled(order)]
    if (order.folder / MANIFEST).exists():
        return [f"{order.folder} is there already.", *_ending(order)]
    if not order.recipe.submit:
        goes_on = "goes on with what was begun" if _work(order).exists() else "uploads the file and makes the job"
        return [*told, f"Nothing was sent. submit=true {goes_on}."]
    about = {**provenance.gather(dict(config)), **({"own_files": own} if own else {})}
    _carry_out(order, told, about)
    return _ending(order)


def _order(settings: Settings) -> Order:
    recipe: HostedRecipe = build(settings.recipe, "recipe")
    task = teaching_task(settings.task)
    check_parts(task)
    prompt = choose_prompt(task, recipe.endpoint, settings.prompt or recipe.prompt)
    check_prompt(prompt)
    return Order(settings, recipe, prompt, Lessons(task, prompt, ChatRequest, recipe, settings.dev_limit))


def _written(order: Order) -> list[str]:
    """Write the training file alone; return what is told of it, nothing where the file is standard output."""
    out = order.settings.out
    if order.recipe.submit or order.recipe.cancel:
        raise ConfigError(f"out={out} writes the training file alone: leave it out for a job, whose folder out= names.")
    check(out)
    summary = order.file  # before anything is written: the rows are checked
    with atomic_file(out) as file:
        file.writelines(order.train)
    if out == "-":
        return []
    return [f"{out}: {plan.described(order.lessons.train, summary)}", plan.cost(order.recipe, summary)]


def _cancelled(order: Order) -> str:
    order.recipe.endpoint.check_key()
    say = Progress(order.name).say
    with closing(_server(order, say)) as server:
        return Hosted(order.recipe, order.mark, _work(order), server, say).cancel()


def _carry_out(order: Order, told: list[str], about: Mapping[str, Any]) -> None:
    """Make the job, follow it, and leave what came of it in the order's folder. Raises HarnessError."""
    order.recipe.endpoint.check_key()
    say, work = Progress(order.name).say, _work(order)
    with alone(work), room(order.settings.out), closing(_server(order, say)) as server:
        for line in told:
            say(line)
        if order.lessons.renews and order.recipe.epochs != 1:
            say("The names of the variables are drawn once: each pass of the server has the same file.")
        hosted = Hosted(order.recipe, order.mark, work, server, say)
        if hosted.journal.entry.step == "prepared":
            _write_files(order, work)
        job = hosted.follow(hosted.bring())
        training = {**order.facts, **_outcome(order, job, _curve(server, job, say)), **about}
        json_files.write(work / MANIFEST, training)
        (work / "model.yaml").write_text(model.config_text(order.recipe, order.name, job.model), encoding="utf-8")
        work.replace(order.folder)


def _write_files(order: Order, work: Path) -> None:
    for name, rows in ((TRAIN, order.train), (DEV, order.dev)):
        if rows is not None:
            with (work / name).open("w", encoding="utf-8") as file:
                file.writelines(rows)


def _curve(server: TuningServer, job: Job, say: Callable[[str], None]) -> list[dict[str, JSON]]:
    """Return what the server has measured at its checkpoints; nothing where it keeps none."""
    try:
        return protocol.checkpoints(server, job.id)
    except RunStopped:
        say(f"{server.address} tells no checkpoints of its jobs.")
        return []


def _outcome(order: Order, job: Job, curve: list[dict[str, JSON]]) -> dict[str, JSON]:
    """Return what training.json says of the job."""
    steps = [entry["step"] for entry in curve if entry["model"] == job.model]
    price = price_of(order.recipe)
    cost: dict[str, JSON] = {}
    if price is not None and job.tokens is not None:
        cost = {"cost": {"usd": round(job.tokens * price[0] / 1e6, 6), "usd_per_million": price[0], "source": price[1]}}
    return {
        "job": {
            "id": job.id,
            "server": order.recipe.base_url,
            "mark": order.mark,
            "training_file": job.file,
            "hyperparameters": dict(job.hyperparameters),
            "trained_tokens": job.tokens,
        },
        "chosen": {
            "model": job.model,
            "step": steps[-1] if steps else None,
            "why": "the model that the server names at the end of the job",
        },
        "curve": curve,
        **cost,
    }


def _ending(order: Order) -> list[str]:
    """Return what is told of a finished job; the model has its configuration then."""
    training = json.loads((order.folder / MANIFEST).read_text(encoding="utf-8"))
    name, fine_tuned = order.name, str(training["chosen"]["model"])
    text = (order.folder / "model.yaml").read_text(encoding="utf-8")
    found = model.configured(name, text)
    prompt = order.prompt.name
    return [
        f"{order.folder}: {fine_tuned}, made of {order.recipe.model} by the job {training['job']['id']}.",
        f"To evaluate it: {model.command(order.recipe, name, fine_tuned, prompt, found=found)}",
    ]


def _server(order: Order, say: Callable[[str], None]) -> TuningServer:
    endpoint = order.recipe.endpoint
    return TuningServer(endpoint, {"Authorization": f"Bearer {endpoint.key}"}, say)


def _work(order: Order) -> Path:
    return order.folder.with_name(f"{order.folder.name}.work")
