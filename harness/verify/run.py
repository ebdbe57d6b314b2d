"""The checks of one run: which parts of its folder do not follow from the others."""

from __future__ import annotations

import itertools
import json
from collections.abc import Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.codec import content_digest, digest
from harness.cost.price import costs_money, from_json
from harness.errors import DataError
from harness.prompting.fit import fitting
from harness.prompting.version import by_other_rules
from harness.storage import rebuild, runs
from harness.storage.atomic_write import format_json
from harness.storage.configuration import of_algorithm, of_answerer, of_judge, of_model
from harness.storage.files import inside, read_bytes
from harness.storage.manifest import SEALS, Manifest, Settings, TracedItems
from harness.storage.records import sealed
from harness.storage.run_folder import MANIFEST, RESULT
from harness.types import Role
from harness.verify.readings import JudgeCheck
from harness.verify.records import RecordCheck
from harness.verify.scores import differences, problems_of_scores

if TYPE_CHECKING:
    from harness.cost.price import Price
    from harness.prompting.prompts import Prompt
    from harness.protocols import Model, Task
    from harness.storage.runs import Run

_REQUIRED = (
    "run",
    "configuration",
    "configuration_digest",
    "config",
    "items",
    "counts",
    "complete",
    "started",
    "ended",
)
MOST_ITEMS = 1_000_000
"""Items that are made again beyond those that there are records of: a manifest may claim any number."""
_BY_MACHINE = ("dtype",)
"""Parts of a checkpoint's identity that its settings leave to the machine (auto)."""


def problems_of(folder: Path, *, of_reading: bool = True, data: Sequence[str] = ()) -> Iterator[str]:
    """Yield a sentence for each thing in a run's folder that does not hold.

    `data` are files of items that may be those of the run. A run whose replies were
    read by other rules than today's has to hold in all else; one sentence says so, unless `of_reading` is false. Raises
    NotHereError where the run needs what is not here, DataError where a file cannot be read.
    """
    run = runs.load(folder)
    if run.manifest_error:
        raise run.manifest_error
    result, manifest = run.result_json, run.manifest
    if missing := [name for name in _REQUIRED if run.manifest_json.get(name) is None]:
        yield f"{MANIFEST} does not say {', '.join(missing)}: the run has not ended, or somebody has taken it out."
        return
    lines = yield from problems_of_files(run)
    task = rebuild.task_of(manifest, data)
    config, count = manifest.config or {}, (manifest.items or {}).get("count")
    by_model = "algorithm" not in config
    prompt = rebuild.prompt_of(task, manifest) if by_model else None
    model = rebuild.model_of(manifest) if by_model else None
    judge = None
    if settings := config.get("judge"):
        judge = JudgeCheck(manifest, settings, _price((manifest.judge or {}).get("price")))
    yield from _of_settings(manifest, config, result, task, prompt, model, judge)
    price = _price(manifest.price)
    yield from _of_cost(result, manifest, model, price)
    path, samples = run.records_file, _samples(config)
    if count is None:
        yield f"{MANIFEST} does not say how many items there were."
        return
    # As many as were asked; of a complete run one more, to see that there are no others.
    most = min(count + result["complete"], (lines or 0) + MOST_ITEMS)
    items = TracedItems(itertools.islice(rebuild.items_of(task, manifest, path), most))
    check = RecordCheck(items, prompt, task.headline, samples, price if "cost" in result else None, model, judge)
    check.recorded = manifest.recorded is not None
    check.readings.as_recorded = by_model and by_other_rules(manifest.reading)
    if path is None:
        _ = sum(1 for _ in items)
        yield from _of_items(items, manifest)
        yield from check.readings.problems(folder, manifest) if of_reading else ()
        return
    free = model is not None and not costs_money(model.traits.service)
    paid = "cost" in result and not free
    yield from check.problems(path, complete=result["complete"], paid=paid)
    if free and ("cost" in result) != (check.usd > 0) and not check.openings:
        yield f"{RESULT}: answers of this model are free unless its server says otherwise, and it does not tell so."
    yield from _of_items(items, manifest)
    yield from check.readings.problems(folder, manifest) if of_reading else ()
    yield from problems_of_scores(run, task, check, price, judge, samples if by_model else None)


def problems_of_files(run: Run) -> Generator[str, None, int | None]:
    """Yield a sentence for each file of a run's folder that is not, byte for byte, what the run has left there.

    Return how many records there are; None for a folder without.
    """
    result, manifest, path = run.result_json, run.manifest_json, run.records_file
    seal = None if path is None else sealed(path)
    if path is not None and seal != manifest.get("records"):
        yield f"{path.name} is not the file of which {MANIFEST} holds the digest: a line was changed, added or removed."
    for name, expected in (manifest.get("files") or {}).items():
        file = inside(run.folder, *name.split("/"))
        if (found := file and content_digest(file)) != expected and (found or path is None):  # else made from records
            yield f"{name} is not the file of which {MANIFEST} holds the digest."
    for name, content in ((RESULT, result), (MANIFEST, manifest)):
        if read_bytes(run.folder / name) != f"{format_json(content)}\n".encode(errors="replace"):
            yield f"{name} is not written as a run writes it: somebody has changed it."
    if digest(manifest["configuration"]) != manifest["configuration_digest"]:
        yield f"{MANIFEST}: the configuration's digest is another."
    if digest(result) != manifest.get("result"):
        yield f"{RESULT} is not the file of which {MANIFEST} holds the digest."
    if digest({name: value for name, value in manifest.items() if name != SEALS}) != manifest.get(SEALS):
        yield f"{MANIFEST} does not have its own digest: it was changed after the run."
    return None if seal is None else seal["count"]


def _of_settings(
    manifest: Manifest,
    config: Settings,
    result: Mapping[str, Any],
    task: Task,
    prompt: Prompt | None,
    model: Model | None,
    judge: JudgeCheck | None,
) -> Iterator[str]:
    """Yield the contradictions between place or configuration and the settings that started the run."""
    if prompt is None:
        algorithm = rebuild.algorithm_of(manifest)
        role: Role | None = algorithm.role
        observations, seed = config["samples"], config["seed"]
        assert observations is not None and seed is not None
        expected = of_algorithm(task, algorithm, observations, seed)
        identity = expected[1]["model"]
        # The version of a library is the machine's: the run says its own.
        expected[1]["model"] = identity | {
            name: value for name, value in manifest.configuration["model"].items() if name == algorithm.library
        }
    else:
        yield from _of_prompt(prompt, config.get("prompt"), task)
        settings, answerer = config["model"] or {}, manifest.configuration["model"]
        if model is not None:
            answerer = of_answerer(model, prompt, fitting(prompt, model))
        name = str(settings.get("name")) if model is None else model.name
        role = manifest.role if model is None else model.traits.role
        judge_part = None
        if judge is not None:
            yield from judge.problems_of_words()
            judge_part = of_judge(judge.name, judge.identity, judge.words)
        expected = of_model(task, prompt, name, answerer, _samples(config), judge_part)
        if model is None:
            yield from _of_checkpoint(settings, answerer, prompt)
    place, configuration = json.loads(json.dumps(expected))
    yield from differences(manifest.run, place, f"{MANIFEST}: run", "from its settings")
    yield from differences(result["run"], place, f"{RESULT}: run", "from its settings")
    yield from differences(
        manifest.configuration, configuration, f"{MANIFEST}: configuration", "from its settings and today's data"
    )
    if manifest.role != role:
        yield f"{MANIFEST} calls what answered {manifest.role!r}, and it is {role!r}."
    if manifest.complete != result["complete"]:
        yield f"{MANIFEST} says complete: {manifest.complete}, {RESULT} says {result['complete']}."
    if (manifest.ended or "") < (manifest.started or ""):
        yield f"{MANIFEST}: the run ended before it started."


def _of_prompt(prompt: Prompt, setting: str | None, task: Task) -> Iterator[str]:
    """Yield where the prompt is not the one that was asked for, or not the one that ships under its name."""
    if setting is None:
        if prompt.name not in task.prompts:
            yield f"{MANIFEST}: the task does not take the prompt {prompt.name} where no prompt is named."
    elif Path(str(setting)).stem != prompt.name:
        yield f"{MANIFEST}: the run was started with prompt={setting} and is told as one of prompt {prompt.name}."
    if setting is None or Path(str(setting)).suffix not in (".yaml", ".yml"):
        shipped = rebuild.shipped_prompt(task, prompt)
        if shipped is not None and shipped.digest != prompt.digest:
            yield f"the prompt {prompt.name} has other words today than in this run."


def _of_checkpoint(settings: Mapping[str, Any], answerer: Mapping[str, Any], prompt: Prompt) -> Iterator[str]:
    """Yield where the identity of a model contradicts a setting of the same name."""
    for name, value in answerer.items():
        if name == "method" and value == "generate" and "choice" not in prompt.words.makes:
            continue  # the prompt has no choices to rank, whatever the model prefers
        if name in settings and name not in _BY_MACHINE and settings[name] is not None and settings[name] != value:
            yield f"{MANIFEST}: model.{name} was {settings[name]!r:.80}, and the model's identity says {value!r:.80}."


def _of_items(items: TracedItems, manifest: Manifest) -> Iterator[str]:
    if items.summary != manifest.items:
        yield f"the task's items are others today: {items.summary} instead of {manifest.items}."


def _of_cost(result: Mapping[str, Any], manifest: Manifest, model: Model | None, price: Price | None) -> Iterator[str]:
    """Yield where recorded prices contradict each other, the model's settings or the price table that they name."""
    from harness.cost.price import key_of, price_of

    service = None if model is None else model.traits.service
    if model is not None and costs_money(service) and "cost" not in result:
        yield f"{RESULT}: answers of this model cost money, and it says otherwise."
    if "cost" in result and result["cost"]["price"] != (None if price is None else str(price)):
        yield f"{RESULT}: the price is not the one in {MANIFEST}."
    recorded_price = manifest.price or {}
    if service is None or not costs_money(service):
        return
    own = any(usd is not None for usd in (service.price or {}).values())
    if own or recorded_price.get("key") == key_of(service):
        expected = price_of(service)
        day = None if price is None else price.until  # a table may know of a later price by now
        if expected != price and (expected is None or day is None or day > (manifest.ended or "")[:10]):
            yield f"{MANIFEST}: the price is not the one that the model's settings, or its table, say."


def _price(recorded: Mapping[str, Any] | None) -> Price | None:
    """Return the price that a manifest records, or None. Raises DataError if it has another form."""
    if recorded is None:
        return None
    try:
        return from_json(recorded)
    except (KeyError, TypeError, ValueError, OverflowError):
        raise DataError(f"{MANIFEST}: its price is not in the form of one.") from None


def _samples(config: Settings) -> int:
    """Return how many answers each item has; an algorithm's `samples` are its observations."""
    number = config.get("samples", 1) if "algorithm" not in config else 1
    if type(number) is not int or number < 1:
        raise DataError(f"{MANIFEST}: samples={number!r:.40} is no number of answers.")
    return number
