"""Fine-tuning over an API: a training file goes up, a job is made of it and followed, its model is recorded.

Whether a job costs money is the server's to say, so none is made twice: before it is asked for, and the moment that
its id is known, both are noted in `<digest>.work/job.json`. Where a process ended between the two, the user is asked.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime
from fnmatch import fnmatchcase
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import Field

from harness.codec import digest
from harness.config_files import own_files
from harness.errors import ConfigError, RunStopped, StoreError
from harness.models.api.endpoint import Endpoint, Positive
from harness.models.api.families import bare_name, on_this_machine, plan_note
from harness.models.api.faults import RefusedError
from harness.models.api.openai import Chat
from harness.models.api.replies import LostError
from harness.models.api.server import rest
from harness.models.api.token_bound import tokens_about
from harness.plugins.train import hosted_server
from harness.plugins.train.examples import Example, Lessons, teaching_task
from harness.plugins.train.hosted_server import ENDED, MARK, TuningJob, TuningServer, may_have_been_made
from harness.plugins.train.recipe import MANIFEST, FinetuneSettings, alone, room
from harness.prompting.fit import choose_prompt
from harness.prompting.prompts import Prompt
from harness.runtime import signals
from harness.runtime.progress import Progress
from harness.seeding import shuffled
from harness.settings import build, chosen, validated
from harness.storage import atomic_write, provenance
from harness.storage.atomic_write import atomic_file, check
from harness.tasks.check import check_parts
from harness.types import JSON, ChatRequest, ChoiceRequest

TRAIN, JOURNAL = "train.jsonl", "job.json"
FEWEST_ROWS, MOST_BYTES = 10, 512_000_000
"""What OpenAI and Microsoft Foundry take."""
_AROUND = 4
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
        """Refuse several addresses, and all that no endpoint takes. Raises ConfigError."""
        if len(self.endpoint.addresses) > 1:
            raise ConfigError("recipe.base_url has several addresses, and a job is known to one server: give one.")

    @cached_property
    def endpoint(self) -> Endpoint:
        """The adapter that will evaluate the model: it writes the rows as it will write the questions."""
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
    """What is to be trained: the recipe, and the examples in the words of a prompt."""

    settings: FinetuneSettings
    recipe: HostedRecipe
    prompt: Prompt
    lessons: Lessons

    def lines(self) -> Iterator[str]:
        """Yield the lines of the training file, in an order of their own: items come premise by premise."""
        for example in shuffled(self.lessons.train.rows, "rows", self.recipe.seed):
            yield json.dumps(row_of(example, self.prompt, self.recipe.endpoint), ensure_ascii=False) + "\n"

    @cached_property
    def file(self) -> dict[str, Any]:
        """What the training file holds, tokens estimated for one pass. Raises ConfigError where no server takes it."""
        content_hash, rows, size, tokens, longest = hashlib.sha256(), 0, 0, 0, 0
        for line in self.lines():
            content_hash.update(line.encode())
            texts = [turn["content"] for turn in json.loads(line)["messages"]]
            here = sum(tokens_about(text) + _AROUND for text in texts)
            rows, size, tokens, longest = rows + 1, size + len(line.encode()), tokens + here, max(longest, here)
        if rows < FEWEST_ROWS or size > MOST_BYTES:
            raise ConfigError(
                f"the training file has {rows:,} rows and {size / 1e6:,.3f} MB, and servers take {FEWEST_ROWS} rows at "
                f"least and {MOST_BYTES / 1e6:g} MB at most: choose other items (task.limit, task.num_nodes)."
            )
        estimates = {"about_tokens": tokens, "about_longest_row": longest}
        return {"rows": rows, "bytes": size, **estimates, "sha256": content_hash.hexdigest()}

    @cached_property
    def facts(self) -> dict[str, JSON]:
        """All that the job depends on, and what it is called."""
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
        """The digest by which the job is known here and at the server, whatever it is called."""
        recipe = {name: value for name, value in self.recipe.as_json().items() if name != "name"}
        return digest({**self.facts, "recipe": recipe})

    @property
    def folder(self) -> Path:
        return Path(self.settings.out, self.recipe.name, self.mark[:12])

    @property
    def work(self) -> Path:
        return self.folder.with_name(f"{self.folder.name}.work")


def make_hosted(config: Mapping[str, Any]) -> list[str]:
    """Write the training file, or plan and (with submit=) make its job; return the lines to print.

    Raises HarnessError.
    """
    config, own = own_files(config)
    tuning = tuning_of(validated(FinetuneSettings, config))
    settings = tuning.settings
    plan = list(plan_lines(tuning))  # the rows are checked before anything is written
    if settings.out == "-" or settings.out.endswith(".jsonl"):
        if settings.submit:
            raise ConfigError(f"out={settings.out} writes the training file alone: leave it, or submit=, out.")
        with atomic_file(settings.out) as file:
            file.writelines(tuning.lines())
        return [] if settings.out == "-" else [f"{settings.out} is written.", *plan]
    check(settings.out, folder=True)
    if (tuning.folder / MANIFEST).exists():
        return [f"{tuning.folder} is there already.", *last_lines(tuning)]
    if not settings.submit:
        goes_on = "goes on with what was begun" if tuning.work.exists() else "uploads the file and makes the job"
        return [*plan, f"Nothing was sent. submit=true {goes_on}."]
    tuning.recipe.endpoint.check_key()
    about = {**provenance.gather(dict(config)), **({"own_files": own} if own else {})}
    carry_out(tuning, plan, about)
    return last_lines(tuning)


def tuning_of(settings: FinetuneSettings) -> Tuning:
    """Return what the command's settings describe. Raises ConfigError."""
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


def carry_out(tuning: Tuning, plan: Iterable[str], about: Mapping[str, Any]) -> None:
    """Make the job unless there is one, follow it to its end and record it. Raises HarnessError."""
    recipe, say = tuning.recipe, Progress(tuning.folder.name).say
    with alone(tuning.work), room(tuning.settings.out), closing(TuningServer(recipe.endpoint)) as server:
        for line in plan:
            say(line)
        if tuning.lessons.renews and recipe.epochs != 1:
            say("The names of the variables are drawn once: each pass of the server has the same file.")
        job = _JobSteps(tuning, server, say).finished()
        record: dict[str, JSON] = {
            "id": job.id,
            "server": recipe.base_url,
            "mark": tuning.mark,
            "training_file": job.file,
            "hyperparameters": dict(job.hyperparameters),
            "trained_tokens": job.tokens,
        }
        why = "the model that the server names at the end of the job"
        training = {**tuning.facts, "job": record, "chosen": {"model": job.model, "why": why}, **about}
        if (price := price_of(recipe)) is not None and job.tokens is not None:
            usd = round(job.tokens * price[0] / 1e6, 6)
            training["cost"] = {"usd": usd, "usd_per_million": price[0], "source": price[1]}
        atomic_write.write(tuning.work / MANIFEST, training)
        tuning.work.replace(tuning.folder)


@dataclass(frozen=True)
class _JobSteps:
    """A job and its server: the file goes up, the job is made once, and followed from whatever step it is at."""

    tuning: Tuning
    server: TuningServer
    say: Callable[[str], None]

    def finished(self) -> TuningJob:
        return self._follow(self._known_id() or self._make())

    @property
    def _journal(self) -> Path:
        return self.tuning.work / JOURNAL

    def _known_id(self) -> str:
        """Return the id that the user names, or that was noted; "" before a job was asked for.

        Raises RunStopped where a job was asked for and its id was not heard.
        """
        if isinstance(self.tuning.settings.submit, str):
            job = self.server.look(self.tuning.settings.submit)
            if job.mark and job.mark != self.tuning.mark:
                raise RunStopped(f"the job {job.id} was made of other settings: its {MARK} is {job.mark}.")
            self._note(step="created", job=job.id)
            return job.id
        noted = atomic_write.object_in(self._journal)
        if noted.get("step") == "creating":
            raise self._unheard(str(noted.get("file")))
        return str(noted.get("job") or "")

    def _make(self) -> str:
        """Upload the file, unless it is there, and make the job; return its id. Raises RunStopped."""
        signals.say_instead("interrupted: there is no job yet; the same command goes on from there.")
        file = str(atomic_write.object_in(self._journal).get("file") or "") or self._upload()
        signals.say_instead(f"interrupted: {self._unheard(file)}")
        recipe = self.tuning.recipe
        hyperparameters: dict[str, JSON] = {
            "n_epochs": recipe.epochs,
            "batch_size": recipe.batch_size,
            "learning_rate_multiplier": recipe.learning_rate_multiplier,
        }
        body: dict[str, JSON] = {
            "model": recipe.model,
            "training_file": file,
            "seed": recipe.seed,
            "method": {"type": "supervised", "supervised": {"hyperparameters": hyperparameters}},
            "metadata": {MARK: self.tuning.mark},
            **({"suffix": recipe.suffix} if recipe.suffix else {}),
        }

        def create() -> str:
            self._note(step="creating", file=file)
            try:
                return self.server.create(body).id
            except (RefusedError, LostError, TimeoutError) as error:
                if may_have_been_made(error):
                    raise self._unheard(file) from None
                self._note(step="uploaded", file=file)
                raise

        try:
            id = self.server.again(create, fresh=True)  # a file that has just gone up may not be found for some seconds
        except RunStopped:
            if atomic_write.object_in(self._journal).get("step") == "uploaded":
                self._note(step="prepared")  # the file may be at fault, or gone: the next time another one goes up
            raise
        self._note(step="created", file=file, job=id)
        self.say(f"the job {id} is made")
        return id

    def _upload(self) -> str:
        path = self.tuning.work / TRAIN
        with path.open("w", encoding="utf-8") as content:
            content.writelines(self.tuning.lines())
        self.say(f"uploading {TRAIN}, {path.stat().st_size / 1e6:,.1f} MB")
        file = self.server.send_file(path, f"harness-{self.tuning.mark[:12]}-{TRAIN}")
        self._note(step="uploaded", file=file)
        self.say(f"the training file is at {self.server.address} ({file})")
        return file

    def _follow(self, id: str) -> TuningJob:
        """Return the job once it has made a model; tell its states. Raises RunStopped where it comes to nothing."""
        address = self.server.address
        signals.say_instead(
            f"interrupted: the job {id} goes on at {address}, which alone can end it; the same command follows it."
        )
        job = self.server.look(id, fresh=True)
        self.say(f"{id}: {_words(job)}")
        while job.status not in ENDED:
            rest(hosted_server.POLL)
            last, job = job, self.server.look(id)
            if job.status != last.status:
                self.say(f"{id}: {_words(job)}")
        another = f"recipe.job={self.tuning.recipe.job + 1} makes another one"
        if job.status == "failed":
            why = job.error.rstrip(".") or "it does not say why"
            raise RunStopped(f"{address} says that the job {id} has failed: {why}. {another}.")
        if job.status == "cancelled":
            raise RunStopped(f"the job {id} was cancelled: {another}.")
        if not job.model:
            raise RunStopped(f"the job {id} has succeeded, and {address} names no model of it yet: ask again later.")
        return job

    def _unheard(self, file: str) -> RunStopped:
        return RunStopped(
            f"whether {self.server.address} has made the job is not known. Look through its list of fine-tuning jobs "
            f"for one of the file {file} (its metadata say {MARK}: {self.tuning.mark}): submit=ITS_ID goes on with "
            f"it. Where there is none, recipe.job={self.tuning.recipe.job + 1} makes one."
        )

    def _note(self, **known: str) -> None:
        """Note how far the job is. Raises StoreError: what is not noted is not done."""
        try:
            atomic_write.write(self._journal, known)
        except OSError as error:
            under_way = f" submit={known['job']} goes on with the job that was made." if "job" in known else ""
            raise StoreError(
                f"{self._journal} cannot be written ({error.strerror}), and without it a job could be made twice: make "
                f"room, or choose another out=.{under_way}"
            ) from error


def _words(job: TuningJob) -> str:
    more = ": it goes on once it is resumed at its provider" if job.status == "paused" else ""
    return (job.status.replace("_", " ") or "without a status") + more


def last_lines(tuning: Tuning) -> list[str]:
    """Return the lines for a finished job: its model, and the command that evaluates it."""
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
    """Yield the plan: what would be sent, what it costs, and warnings about the provider."""
    recipe, file, train = tuning.recipe, tuning.file, tuning.lessons.train
    yield (
        f"Training file: {file['rows']:,} rows ({train.positives:,} Yes, {train.clusters:,} premises), "
        f"{file['bytes'] / 1e6:,.1f} MB, about {file['about_tokens']:,} tokens a pass, the longest row about "
        f"{file['about_longest_row']:,}; SHA-256 {file['sha256'][:12]}…"
    )
    passes = {"auto": "as many passes as the server chooses", 1: "1 pass"}.get(recipe.epochs, f"{recipe.epochs} passes")
    yield f"Job: {recipe.model} at {recipe.base_url}, {passes}, seed {recipe.seed}."
    yield _cost(recipe, file["about_tokens"])
    yield from notes(recipe, datetime.now(UTC).date())


def _cost(recipe: HostedRecipe, tokens: int) -> str:
    """Return in a sentence what the training costs, or why nobody knows; tokens are of one pass."""
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
    """Return name and row of the provider whose own server is at an address; nothing where it is nobody known."""
    import yaml

    providers = yaml.safe_load(Path(__file__).with_name("hosted_prices.yaml").read_text(encoding="utf-8"))["providers"]
    host = (urlsplit(base_url).hostname or "").lower()
    known = (pair for pair in providers.items() if any(fnmatchcase(host, glob) for glob in pair[1]["hosts"]))
    return next(known, ("", {}))


def price_of(recipe: HostedRecipe) -> tuple[float, str] | None:
    """Return USD per million tokens of training, and where that is written; None where nobody knows."""
    if recipe.price is not None:
        return recipe.price, "recipe.price"
    if on_this_machine(recipe.base_url):
        return 0.0, "on this machine"
    _, provider = _provider_at(recipe.base_url)
    usd = next((row["usd"] for row in provider.get("prices", ()) if bare_name(recipe.model) in row["match"]), None)
    return None if usd is None else (usd, str(provider["price_source"]))


def notes(recipe: HostedRecipe, today: date) -> Iterator[str]:
    """Yield warnings about a known provider: closing dates, retired bases, deployments."""
    name, provider = _provider_at(recipe.base_url)
    if (closes := provider.get("closes")) is not None:
        when = f"takes no new fine-tuning jobs from {closes} on; it is closed already to {provider['closed_to']}"
        when = when if today < closes else f"has taken no new fine-tuning jobs since {closes}"
        yield f"{name} {when}. Source: {provider['closes_source']}."
    if gone := plan_note(recipe.model, recipe.base_url, today):
        yield f"{gone} What was fine-tuned from it goes with it."
    if provider.get("deploys"):
        yield f"{name} asks for a deployment of the fine-tuned model before it answers: its name is then model.model."
