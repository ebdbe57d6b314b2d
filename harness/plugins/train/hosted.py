"""Fine-tuning over an API: what a server is to train, the training file, and what it will cost."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime
from fnmatch import fnmatchcase
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import Field

from harness.codec import digest, shuffled
from harness.errors import ConfigError
from harness.models.api.endpoint import Endpoint, Positive
from harness.models.api.families import bare_name, on_this_machine
from harness.models.api.openai import Chat
from harness.models.api.token_bound import tokens_about
from harness.plugins.train.examples import Example, Lessons, teaching_task
from harness.plugins.train.recipe import MANIFEST, FinetuneSettings
from harness.prompting.fit import choose_prompt
from harness.prompting.prompts import Prompt
from harness.settings import build, chosen
from harness.tasks.check import check_parts
from harness.types import JSON, ChatRequest, ChoiceRequest

MARK = "harness"
"""The key of a job's metadata that holds the digest of its settings and data."""
FEWEST_ROWS, MOST_BYTES = 10, 512_000_000
"""Limits of a training file at OpenAI and Microsoft Foundry."""
_TURN_OVERHEAD = 4
"""Tokens that a server puts around a message."""
Whole = Annotated[int, Field(gt=0, strict=True)]


@dataclass(frozen=True, kw_only=True)
class HostedRecipe:
    """A base on a server, and the settings of its job; configs/recipe/openai.yaml says what each one means."""

    name: str
    model: str
    base_url: str
    api_key_env: str | None = "OPENAI_API_KEY"
    epochs: Whole | Literal["auto"] = 1
    batch_size: Whole | Literal["auto"] = "auto"
    learning_rate_multiplier: Positive | Literal["auto"] = "auto"
    suffix: Annotated[str, Field(min_length=1, max_length=64)] | None = None
    yes_share: Annotated[float, Field(gt=0, lt=1)] | None = None
    seed: Annotated[int, Field(ge=0, lt=2**31, strict=True)] = 0
    job: Whole = 1
    price: Annotated[float, Field(ge=0)] | None = None

    def __post_init__(self) -> None:
        """Refuse settings that no endpoint takes. Raises ConfigError."""
        _ = self.endpoint

    @cached_property
    def endpoint(self) -> Endpoint:
        """The adapter that will evaluate the model, so that rows are worded as its questions will be."""
        return Chat(
            name=self.name,
            model=self.model,
            base_url=self.base_url,
            api_key_env=self.api_key_env,
            temperature=None,
        )

    def as_json(self) -> Mapping[str, JSON]:
        settings = {name: value for name, value in asdict(self).items() if name not in ("price", "api_key_env")}
        # The last two are in the digests of jobs that have been paid for.
        return settings | {"base_url": self.base_url.rstrip("/"), "validation": False, "settings": "harness"}


@dataclass(frozen=True)
class Tuning:
    """One fine-tuning: the recipe, and the examples in the words of a prompt."""

    settings: FinetuneSettings
    recipe: HostedRecipe
    prompt: Prompt
    lessons: Lessons

    def lines(self) -> Iterator[str]:
        """Yield the lines of the training file, shuffled: the task lists its items premise by premise."""
        for example in shuffled(self.lessons.train.rows, "rows", self.recipe.seed):
            yield json.dumps(row_of(example, self.prompt, self.recipe.endpoint), ensure_ascii=False) + "\n"

    @cached_property
    def file(self) -> dict[str, Any]:
        """Size and digest of the training file, its tokens estimated for one pass.

        Raises ConfigError where it is outside what servers accept.
        """
        content_hash, rows, size, tokens, longest = hashlib.sha256(), 0, 0, 0, 0
        for line in self.lines():
            content_hash.update(line.encode())
            texts = [turn["content"] for turn in json.loads(line)["messages"]]
            in_row = sum(tokens_about(text) + _TURN_OVERHEAD for text in texts)
            rows, size, tokens, longest = rows + 1, size + len(line.encode()), tokens + in_row, max(longest, in_row)
        if rows < FEWEST_ROWS or size > MOST_BYTES:
            raise ConfigError(
                f"the training file has {rows:,} rows and {size / 1e6:,.3f} MB, and servers take {FEWEST_ROWS} rows at "
                f"least and {MOST_BYTES / 1e6:g} MB at most: choose other items (task.limit, task.num_nodes)."
            )
        estimates = {"about_tokens": tokens, "about_longest_row": longest}
        return {"rows": rows, "bytes": size, **estimates, "sha256": content_hash.hexdigest()}

    @cached_property
    def facts(self) -> dict[str, JSON]:
        """Everything the job depends on, and its name, as training.json records it."""
        task = self.lessons.task
        return {
            "recipe": dict(self.recipe.as_json()),
            "base": self.recipe.model,
            "task": {"name": task.name, **chosen(task), **dict(task.data)},
            "prompt": {"name": self.prompt.name, "digest": self.prompt.digest},
            "train": self.lessons.train.as_json(),
            "file": self.file,
        }

    @cached_property
    def mark(self) -> str:
        """The digest that identifies the job here and at the server; renaming the recipe does not change it."""
        recipe = {name: value for name, value in self.recipe.as_json().items() if name != "name"}
        return digest({**self.facts, "recipe": recipe})

    def job_body(self, file: str) -> dict[str, JSON]:
        """Return the body of the call that makes the job, given the server's name for the training file."""
        recipe = self.recipe
        hyperparameters: dict[str, JSON] = {
            "n_epochs": recipe.epochs,
            "batch_size": recipe.batch_size,
            "learning_rate_multiplier": recipe.learning_rate_multiplier,
        }
        return {
            "model": recipe.model,
            "training_file": file,
            "seed": recipe.seed,
            "method": {"type": "supervised", "supervised": {"hyperparameters": hyperparameters}},
            "metadata": {MARK: self.mark},
            **({"suffix": recipe.suffix} if recipe.suffix else {}),
        }

    @property
    def folder(self) -> Path:
        return Path(self.settings.out, self.recipe.name, self.mark[:12])

    @property
    def work(self) -> Path:
        return self.folder.with_name(f"{self.folder.name}.work")


def tuning_of(settings: FinetuneSettings) -> Tuning:
    """Return the fine-tuning that the command's settings describe. Raises ConfigError."""
    recipe: HostedRecipe = build(settings.recipe, "recipe")
    task = teaching_task(settings.task)
    check_parts(task)
    prompt = choose_prompt(task, recipe.endpoint, settings.prompt)
    words = prompt.words
    if ChoiceRequest not in prompt.makes or words.choices_from is not None or words.opening or len(words.choices) > 2:
        raise ConfigError(
            f"prompt={prompt.name} asks for more than Yes or No, and the items have no other answer to learn: use one "
            "that a model can rank too, such as prompt=plain or prompt=system."
        )
    return Tuning(settings, recipe, prompt, Lessons(task, prompt, ChatRequest, recipe))


def row_of(example: Example, prompt: Prompt, endpoint: Endpoint) -> dict[str, Any]:
    """Return an example's row. Earlier turns of the assistant (few-shot examples) get weight 0."""
    _, body = endpoint.call(example.request)
    yes, no = prompt.choices(example.fields)
    sent: Any = body["messages"]
    turns = [turn | ({"weight": 0} if turn["role"] == "assistant" else {}) for turn in sent]
    return {"messages": [*turns, {"role": "assistant", "content": yes if example.label else no}]}


def last_lines(tuning: Tuning) -> list[str]:
    """Return the lines to print for a finished job: its model, and the command that evaluates it."""
    recipe, training = tuning.recipe, json.loads((tuning.folder / MANIFEST).read_text(encoding="utf-8"))
    fine_tuned = str(training["chosen"]["model"])
    words = ["harness model=openai", f"model.model={fine_tuned}", f"model.name={recipe.name}_{tuning.mark[:8]}"]
    words += [f"model.base_url={recipe.base_url}"]
    words += [f"model.api_key_env={recipe.api_key_env or 'null'}"] * (recipe.api_key_env != "OPENAI_API_KEY")
    words += [f"prompt={tuning.prompt.name}"] * (tuning.prompt.name != "plain")
    return [
        f"{tuning.folder}: {fine_tuned}, made of {recipe.model} by the job {training['job']['id']}.",
        f"To evaluate it: {' '.join(words)}",
    ]


def plan_lines(tuning: Tuning) -> Iterator[str]:
    """Yield the plan: the file, the job, its cost, and warnings about the provider."""
    recipe, file, train = tuning.recipe, tuning.file, tuning.lessons.train
    yield (
        f"Training file: {file['rows']:,} rows ({train.positives:,} Yes, {train.clusters:,} premises), "
        f"{file['bytes'] / 1e6:,.1f} MB, about {file['about_tokens']:,} tokens a pass, the longest row about "
        f"{file['about_longest_row']:,}; SHA-256 {file['sha256'][:12]}…"
    )
    passes = {"auto": "as many passes as the server chooses", 1: "1 pass"}.get(recipe.epochs, f"{recipe.epochs} passes")
    yield f"Job: {recipe.model} at {recipe.base_url}, {passes}, seed {recipe.seed}."
    yield _cost(recipe, file["about_tokens"])
    if tuning.lessons.renews and recipe.epochs != 1:
        yield "The names of the variables are drawn once: each pass of the server has the same file."
    yield from notes(recipe, datetime.now(UTC).date())


def _cost(recipe: HostedRecipe, tokens: int) -> str:
    """Return the estimated cost as a sentence; `tokens` are those of one pass."""
    if (price := price_of(recipe)) is None:
        return f"Cost: unknown, as the price of training {recipe.model} is (recipe.price=… tells it)."
    each = f"${price[0]:g} per million tokens and pass; source: {price[1]}"
    usd = tokens * price[0] / 1e6 * (1 if recipe.epochs == "auto" else recipe.epochs)
    dollars = f"${usd:,.2f}" if usd >= 1 or not usd else f"${usd:.4f}"
    if recipe.epochs == "auto":
        return f"Cost: about {dollars} for each pass, however many the server chooses ({each})."
    return f"Cost: about {dollars} ({each}). Tokens are estimated; the server counts its own."


@cache
def _provider_at(base_url: str) -> tuple[str, Mapping[str, Any]]:
    """Return name and row of the provider whose own server is at an address; ("", {}) for any other server."""
    import yaml

    providers = yaml.safe_load(Path(__file__).with_name("hosted_prices.yaml").read_text(encoding="utf-8"))["providers"]
    host = (urlsplit(base_url).hostname or "").lower()
    known = (pair for pair in providers.items() if any(fnmatchcase(host, glob) for glob in pair[1]["hosts"]))
    return next(known, ("", {}))


def price_of(recipe: HostedRecipe) -> tuple[float, str] | None:
    """Return USD per million tokens of training with the source of that price; None if it is unknown."""
    if recipe.price is not None:
        return recipe.price, "recipe.price"
    if on_this_machine(recipe.base_url):
        return 0.0, "on this machine"
    _, provider = _provider_at(recipe.base_url)
    usd = next((row["usd"] for row in provider.get("prices", ()) if bare_name(recipe.model) in row["match"]), None)
    return None if usd is None else (usd, str(provider["price_source"]))


def cost_of(recipe: HostedRecipe, tokens: int | None) -> dict[str, JSON]:
    """Return what training.json records of the cost, given the tokens that the server billed; {} if it is unknown."""
    if (price := price_of(recipe)) is None or tokens is None:
        return {}
    usd_per_million, source = price
    usd = round(tokens * usd_per_million / 1e6, 6)
    return {"cost": {"usd": usd, "usd_per_million": usd_per_million, "source": source}}


def notes(recipe: HostedRecipe, today: date) -> Iterator[str]:
    """Yield warnings about a known provider: closing dates, retired bases, deployments."""
    name, provider = _provider_at(recipe.base_url)
    if (closes := provider.get("closes")) is not None:
        when = f"takes no new fine-tuning jobs from {closes} on; it is closed already to {provider['closed_to']}"
        when = when if today < closes else f"has taken no new fine-tuning jobs since {closes}"
        yield f"{name} {when}. Source: {provider['closes_source']}."
    if provider.get("deploys"):
        yield f"{name} asks for a deployment of the fine-tuned model before it answers: its name is then model.model."
