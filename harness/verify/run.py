"""The checks of one run: which parts of its folder do not follow from the others."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.codec import content_digest, digest
from harness.cost.ledger import Ledger
from harness.cost.price import Price, costs_money, from_json, own_price, price_of, table
from harness.errors import DataError, HarnessError, NotHereError
from harness.judge import judge_prompt, recorded_prompt
from harness.prompting.fit import fitting
from harness.prompting.reading import VERSION
from harness.storage import rebuild, runs
from harness.storage.atomic_write import format_json
from harness.storage.configuration import of_algorithm, of_answerer, of_judge, of_model
from harness.storage.files import inside, read_bytes
from harness.storage.manifest import SEALS, Manifest, TracedItems
from harness.storage.records import sealed
from harness.storage.run_folder import MANIFEST, RESULT, records_in
from harness.types import Role
from harness.verify.records import JudgeCheck, RecordCheck
from harness.verify.scores import differences, problems_of_scores

if TYPE_CHECKING:
    from harness.prompting.prompts import Prompt
    from harness.protocols import Model, Task
    from harness.storage.runs import Run

HOLDS, WRONG, UNKNOWN = "holds", "DOES NOT HOLD", "settings, items and prompt hold; no records"
NOT_CHECKED = "NOT CHECKED"
MOST_ITEMS = 1_000_000
"""Items that are made again beyond those that there are records of: a manifest may claim any number."""
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
_BY_MACHINE = ("dtype",)
"""Parts of a checkpoint's identity that its settings leave to the machine (auto)."""


def verdict_on(folder: Path, *, of_reading: bool = True, data: Sequence[str] = ()) -> tuple[str, list[str]]:
    """Return the verdict on a run and what does not hold. Whatever a folder holds, nothing is raised."""
    problems: list[str] = []
    try:
        problems.extend(problems_of(folder, of_reading=of_reading, data=data))
        return WRONG if problems else HOLDS if records_in(folder) else UNKNOWN, problems
    except (NotHereError, ModuleNotFoundError) as error:
        return WRONG if problems else NOT_CHECKED, [*problems, str(error)]
    except HarnessError as error:
        return WRONG, [*problems, str(error)]
    except Exception as error:  # what somebody has put into a folder must not end the check of the rest
        return WRONG, [*problems, f"it cannot be checked ({type(error).__name__}: {error})."]


def problems_of(folder: Path, *, of_reading: bool = True, data: Sequence[str] = ()) -> Iterator[str]:
    """Yield a sentence for each thing in a run's folder that does not hold.

    `data` are files of items that may be those of the run. A run whose replies were read by other rules than today's
    has to hold in all else; one sentence says so, unless `of_reading` is false. Raises NotHereError where the run needs
    what is not here, DataError where a file cannot be read.
    """
    run = runs.load(folder)
    if run.manifest_error:
        raise run.manifest_error
    result, manifest, path = run.result_json, run.manifest, run.records_file
    if missing := [name for name in _REQUIRED if run.manifest_json.get(name) is None]:
        yield f"{MANIFEST} does not say {', '.join(missing)}: the run has not ended, or somebody has taken it out."
        return
    lines = yield from problems_of_files(run)
    task = rebuild.task_of(manifest, data)
    samples = 1 if run.learned else (manifest.config or {}).get("samples") or 1
    prompt = None if run.learned else rebuild.prompt_of(task, manifest)
    model = None if run.learned else rebuild.model_of(manifest)
    ledger, judge = _ledger(model, manifest.price, result), judge_of_run(run)
    yield from _of_settings(run, task, prompt, model, judge, samples)
    yield from _of_price(manifest, model, ledger.price)
    # As many as were asked; of a complete run one more, to see that there are no others.
    most = min(((manifest.items or {}).get("count") or 0) + result["complete"], (lines or 0) + MOST_ITEMS)
    traced = TracedItems(islice(rebuild.items_of(task, manifest, path), most))
    check = RecordCheck(run, samples, {item.id: item for item in traced}, prompt, model, judge, ledger)
    if path is not None:
        yield from check.problems(path, task.headline)
    if traced.summary != manifest.items:
        yield f"the task's items are others today: {traced.summary} instead of {manifest.items}."
    if check.read_otherwise and of_reading:
        yield (
            f"its replies were read by rules of version {(manifest.reading or {}).get('version', 0)}, today's are of "
            f"version {VERSION} and {check.read_otherwise:,} read otherwise today: harness reread {folder} reads them "
            "again."
        )
    if path is not None:
        asked = None if prompt is None or manifest.recorded else ledger
        exact = result["complete"] and not (prompt and prompt.words.opening)
        of_judge = None if judge is None else judge.ledger
        yield from problems_of_scores(run, path, task, samples, asked, of_judge, exact=exact)


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


def judge_of_run(run: Run) -> JudgeCheck | None:
    """Return the judge that the settings of a run name. Raises DataError, ConfigError where it cannot be made again."""
    if not (run.manifest.config or {}).get("judge"):
        return None
    about, recorded = run.manifest.judge or {}, run.configuration.get("judge") or {}
    model = rebuild.model_of(run.manifest, "judge")
    if not isinstance(words := about.get("words"), Mapping):
        raise DataError(f"{MANIFEST} does not hold the words in which the judge was asked: run its command again.")
    ledger = _ledger(model, about.get("price"), run.result_json.get("judge") or {})
    name, identity = (model.name, model.identity) if model else (str(recorded.get("name")), recorded.get("model") or {})
    return JudgeCheck(name, identity, recorded_prompt(words, run.configuration), ledger)


def _ledger(model: Model | None, price: Mapping[str, Any] | None, result: Mapping[str, Any]) -> Ledger:
    """Return an account with a recorded price; whether a model that cannot be made again costs money says the run."""
    paid = "cost" in result if model is None else costs_money(model.traits.service)
    return Ledger(None if price is None else from_json(price), paid=paid)


def _of_settings(
    run: Run, task: Task, prompt: Prompt | None, model: Model | None, judge: JudgeCheck | None, samples: int
) -> Iterator[str]:
    """Yield the contradictions between place or configuration and the settings that started the run."""
    manifest, result = run.manifest, run.result_json
    config, answerer = manifest.config or {}, manifest.configuration["model"]
    role: Role | None = manifest.role if model is None else model.traits.role
    if prompt is None:
        algorithm = rebuild.algorithm_of(manifest)
        role = algorithm.role
        place, made = of_algorithm(task, algorithm, config["samples"] or 0, config["seed"] or 0)
        # The version of a library is the machine's: the run says its own.
        made["model"] |= {name: value for name, value in answerer.items() if name == algorithm.library}
    else:
        yield from _of_prompt(prompt, config.get("prompt"), task)
        settings = config["model"] or {}
        if model is not None:
            answerer = of_answerer(model, prompt, fitting(prompt, model))
        else:
            yield from _of_checkpoint(settings, answerer, prompt)
        name = str(settings.get("name")) if model is None else model.name
        part = None if judge is None else of_judge(judge.name, judge.identity, judge.words)
        place, made = of_model(task, prompt, name, answerer, samples, part)
    if judge is not None and judge.words.digest != judge_prompt(judge.words.words.choices_from).digest:
        yield "the judge was asked in other words than today's."
    found = {name: getattr(manifest, name) for name in ("run", "configuration", "role", "complete")}
    expected = json.loads(json.dumps({"run": place, "configuration": made, "role": role}))
    expected["complete"] = result["complete"]
    source = "from its settings and today's data"
    yield from differences(found, expected, MANIFEST, source)
    yield from differences(result["run"], expected["run"], f"{RESULT}: run", source)


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


def _of_price(manifest: Manifest, model: Model | None, price: Price | None) -> Iterator[str]:
    """Yield where the recorded price contradicts the model's settings or the price table that it names."""
    service = None if model is None else model.traits.service
    if service is None or not costs_money(service):
        return
    today = price is not None and price.source.startswith(f"{table()},")
    if (today or own_price(service)) and price_of(service, manifest.started) != price:
        yield f"{MANIFEST}: the price is not the one that the model's settings, or its table, say."
