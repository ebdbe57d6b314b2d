"""Ask a model until enough is known of it: harness until width=5 model=… task=…, --help for all of it."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, fields
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from harness.cli import hydra_app, key_value
from harness.codec import user_path
from harness.errors import ConfigError, Interrupted
from harness.runtime import signals
from harness.runtime.signals import STOP
from harness.scoring.definitions import definition
from harness.storage.atomic_write import atomic_file, check
from harness.types import FINAL_FAILURES, Failure, Record
from harness_lab.sequences import ALPHA
from harness_lab.until import Looks, Order, OtherRun, Until, metric_of

if TYPE_CHECKING:
    from harness.prepare import Prepared

HELP = """\
Ask a model until enough is known of it, however often one looks.

  harness until width=10 metric=accuracy budget.usd=5 model=gpt4o task=corr2cause/fresh task.limit=2000
                        until the interval of the accuracy is at most 10 points wide, or $5 are spent
  harness until against=results/…/gpt4 budget.usd=5 model=gpt4o task=corr2cause
                        until it is better or worse than that run

Whole clusters of items are asked in random order, with a look after each. The interval that is printed is of the score
that all items of these settings would have, and holds with 95% at every look; a usual one would not. All answers stand
in the cache, so that a narrower width, or a run without `until`, goes on from there; no run is left in results. All
other settings are those of a run.

  width=5        points from one end of the interval to the other, 0.2 to 90
  against=       the folder of a finished run on the same items (a baseline's, such as of model=always_no, too)
  metric=        the number: f1 | accuracy | balanced_accuracy | pair_accuracy | precision | recall; by default the
                 task's first, and accuracy with against=, which is decided item by item
  out=           a .json file for what was found
"""


@dataclass(frozen=True)
class UntilSettings:
    """The command's own settings; HELP says what each one means."""

    width: Annotated[float, Field(ge=0.2, le=90)] | None = None
    against: str | None = None
    metric: str | None = None
    out: str | None = None


def main() -> int:
    """Carry out the command and return the exit code."""
    if {"-h", "--help"} & set(sys.argv[1:]):
        print(HELP)
        return 0
    names = "|".join(field.name for field in fields(UntilSettings))
    own = [argument for argument in sys.argv[1:] if re.match(rf"(?:{names})=", argument)]
    sys.argv[1:] = [argument for argument in sys.argv[1:] if argument not in own]
    signals.at_once(signals.sentence())
    return hydra_app.launch(partial(job, own), "config")


def job(own: Sequence[str], config: dict[str, Any]) -> int:
    """Ask, and print what was found; return the exit code."""
    from harness.prepare import prepare

    _, settings = key_value.parse_arguments(own, UntilSettings)
    if (settings.width is None) == (settings.against is None):
        raise ConfigError("say what is to be known: width=5, or against=FOLDER of a run.")
    if settings.out is not None:
        check(settings.out)
    prepared = prepare(config)
    _refuse(prepared)
    found = ask(prepared, until_of(prepared, settings))
    print(sentence(found))
    if settings.out is not None:
        with atomic_file(settings.out) as file:
            file.write(f"{json.dumps({**asdict(settings), **found}, ensure_ascii=False, indent=2)}\n")
    return 0


def _refuse(prepared: Prepared) -> None:
    """Raise ConfigError for settings that finish before anybody could look."""
    settings, service = prepared.settings, prepared.model.traits.service
    if settings.judge is not None or settings.dry_run:
        raise ConfigError("until looks at answers as they come: leave judge and dry_run out.")
    if service is not None and service.batch_window is not None:
        raise ConfigError("until looks at answers as they come: leave model.batch out.")


def until_of(prepared: Prepared, settings: UntilSettings) -> Until:
    """Return what the settings ask for. Raises ConfigError where it cannot be."""
    order = Order(prepared.task, prepared.settings.task.get("seed") or 0)
    against = None if settings.against is None else OtherRun(user_path(settings.against))
    metric, unreadable = metric_of(settings.metric, order, decides=against is not None)
    return Until(order, metric, unreadable, settings.width and settings.width / 100, against)


def ask(prepared: Prepared, until: Until) -> dict[str, Any]:
    """Ask until it is decided, or everything has been asked; return what was found.

    Raises RunStopped where something else has ended it: a budget, Ctrl-C, replies that hold no answer.
    """
    from harness.prepare import answering, opened_store
    from harness.prompting.fit import fitting
    from harness.run import ask, watched
    from harness.runtime.signals import interruptible
    from harness.scoring.replies import FirstReplies

    samples, prompt, progress = prepared.settings.samples, prepared.prompt, prepared.progress
    looks, failures = Looks(until, samples), list[str]()
    with interruptible(progress.say), opened_store(prepared) as store:
        model = answering(prepared, store, announced=False)
        answered = ask(looks.asked(), prompt, model, fitting(prompt, model), progress.say, samples)
        if not prepared.model.traits.instant:
            answered = watched(answered, FirstReplies(model, judged=False), progress.say)

        def landing() -> Generator[Record]:
            for record in progress.track(answered, until.order, samples):
                if isinstance(record.outcome, Failure) and record.outcome.kind not in FINAL_FAILURES:
                    failures.append(record.item)
                yield record

        try:
            with closing(landing()) as records:
                looks.follow(records)
        except Interrupted:
            if not looks.decision:
                raise
        finally:
            STOP.requested = STOP.requested and not looks.decision
    low, high = looks.estimate.interval
    return {
        "run": dict(prepared.folder.manifest.run),
        "metric": until.metric,
        "than": None if until.against is None else until.against.name,
        "decision": looks.decision or "not decided",
        "value": looks.estimate.value,
        "interval": [low, high],
        "level": 1 - ALPHA,
        "items": looks.items,
        "draws": looks.draws,
        "of_draws": len(until.order.draws),
        "failed_for_now": len(failures),
    }


def sentence(found: dict[str, Any]) -> str:
    """Return what was found, for people."""
    decision, than, number = str(found["decision"]), found["than"], definition(str(found["metric"])).title
    joined = {"better": f" than {than}", "worse": f" than {than}", "equal": f" to {than}"}.get(decision, "")
    low, high = (100 * end for end in found["interval"])
    value = "–" if found["value"] is None else f"{100 * found['value']:.2f}"
    again = f" {found['failed_for_now']:,} calls failed for now: the same command asks for them again."
    return (
        f"{decision.capitalize()}{joined} after {found['items']:,} items in "
        f"{found['draws']:,} of {found['of_draws']:,} clusters: "
        f"{f'difference of {number}' if than else number} {value} [{low:.2f}, {high:.2f}], "
        f"{100 * found['level']:g}% however often one looks.{again * bool(found['failed_for_now'])}"
    )


if __name__ == "__main__":
    sys.exit(main())
