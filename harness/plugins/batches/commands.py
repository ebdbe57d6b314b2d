"""`harness cache requests`, `cache batches`, and outputs of batches in `cache import`: what they take, do and print."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated

from pydantic import Field

from harness.cache import Store, open_store
from harness.cli.hydra_app import run_settings
from harness.cli.key_value import Choice
from harness.errors import ConfigError, DataError, RunStopped, unknown
from harness.models.api.endpoint import Endpoint
from harness.models.api.families import on_this_machine
from harness.models.api.server import EndpointServer
from harness.plugins.batches.drivers import Engine, run_and_answers
from harness.plugins.batches.exchange import BatchServer, Collecting, Sending
from harness.plugins.batches.forms import Files
from harness.plugins.batches.inline_forms import form_of
from harness.plugins.batches.journal import Batch, Journal, endpoint_from_settings
from harness.plugins.batches.parts import PartError, parts_of
from harness.plugins.batches.requests import Intake, is_output, note, outlet_for, write
from harness.runtime.console import clean
from harness.runtime.progress import Progress
from harness.settings import Main
from harness.tables import terminal
from harness.tables.table import Table

_CACHE = Path(".cache/answers.sqlite")
"""As in configs/cache/on.yaml."""
_OPENAI = "https://api.openai.com/v1"


@dataclass(frozen=True)
class RequestsSettings:
    """_REQUESTS_HELP says what each one means."""

    cache: Path = _CACHE
    lines: Annotated[int, Field(ge=1)] = 50_000
    megabytes: Annotated[float, Field(gt=0)] = 190.0
    driver: Engine | None = None
    run: tuple[str, ...] = ()


@dataclass(frozen=True)
class BatchesSettings:
    """_BATCHES_HELP says what each one means."""

    cache: Path = _CACHE
    base_url: str | None = None


_REQUESTS_HELP = """\
  harness cache requests FILE model=gpt4      write what that run would ask as lines of a batch, for vLLM's
                                              run-batch, a server's web form or somebody else's account; takes
                                              the settings of `harness`
  harness cache requests FOLDER/ model=gpt4   the same as Parquet parts (custom_id, body), for engines that
                                              read whole data sets
  harness cache import DONE                   take in the output of such a batch, too, or a folder of such
                                              outputs, JSON lines or Parquet (custom_id, response)

settings of requests
  lines=50000           at most in a file or part; more go into FILE-2, FILE-3, …
  megabytes=190         at most in a file
  driver=               of a folder: vllm or ray has a program written beside the requests that answers them,
                        with vLLM's run-batch or over Ray Data; it goes on where it was killed

settings of import
  model= task= prompt=  of a batch whose requests were written elsewhere: the run that they are of

examples:
  harness cache requests todo.jsonl model=openai model.model=my-model task=corr2cause
  vllm run-batch -i todo.jsonl -o done.jsonl --model path/to/my-model --served-model-name my-model
  harness cache import done.jsonl
  harness cache requests todo/ driver=ray model=openai model.model=my-model task=corr2cause
  python todo/driver.py --model path/to/my-model --engines 8 --gpus 1
  harness cache import todo/answers/
"""

_BATCHES_HELP = """\
  harness cache batches                       what is at servers (model.batch=true); `batches collect` takes
                                              in what has ended, `batches cancel DIGEST` ends one, and
                                              `batches forget DIGEST` gives one up that its server lost

settings of batches
  base_url=             where they are, if not at OpenAI: the key goes nowhere that a file alone names
"""


def run_of(arguments: Sequence[str]) -> Main:
    """Return the settings of a run from its arguments. Raises ConfigError if they name no model."""
    if not any(argument.startswith("model=") for argument in arguments):
        raise ConfigError("say whose requests are meant, as for a run: model=… task=…, and whatever else it sets.")
    return run_settings(arguments)


def write_requests(cache: Path, out: str, run: Main, lines: int, megabytes: float, engine: Engine | None = None) -> int:
    """Write the requests of a run as lines of a batch; print what the files hold and what to do next."""
    outlet = outlet_for(out, lines, megabytes, engine)
    outlet.check()
    source = write(cache, run, outlet)
    name, stream = source.endpoint.name, sys.stderr if out == "-" else sys.stdout
    written = sum(count for _, count, _ in outlet.files)
    for path, count, size in outlet.files:
        print(f"{clean(path)}: {count:,} request{'s' * (count != 1)} to {name}, {size / 1e6:,.1f} MB", file=stream)
    counts = {
        f"{source.answered:,} answered in {cache} already": source.answered,
        f"{source.under_way:,} in a batch at the server, which model.batch=true collects": source.under_way,
    }
    if rest := [text for text, count in counts.items() if count]:
        print(f"Not written: {'; '.join(rest)}.", file=stream)
    if not written:
        print("Nothing is left to be written: no file was made.", file=stream)
    elif source.turns:
        print(
            f"{source.turns:,} of them are turns that the model writes before the question: with their answers "
            "imported, the same command writes what comes next.",
            file=stream,
        )
    if written:
        answers = "OUTPUT.jsonl"
        if engine is not None:
            program, answers = run_and_answers(engine, out)
            print(f"To have them answered: {program}", file=stream)
        print(f"Answers: harness cache import {answers} cache={cache}", file=stream)
    return 0


def take_in(store: Store, files: Sequence[Path], run: Sequence[str]) -> list[Path]:
    """Store the answers of those files that are outputs of batches; return the others.

    run: settings of the run that the answers belong to, where its requests were not written here.
    """
    if run:
        note(store, run_of(run))
    left = []
    for path in files:
        parts, others = _outputs(parts_of(path) if path.is_dir() else [path])
        left += others
        if parts:
            _take_in(store, path, parts)
    return left


def _outputs(files: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """Return the files that are outputs of batches, damaged ones included, and the others."""
    outputs: list[Path] = []
    others: list[Path] = []
    for path in files:
        try:
            (outputs if is_output(path) else others).append(path)
        except PartError:  # the whole parts first
            outputs.append(path)
    return outputs, others


def _take_in(store: Store, path: Path, files: Sequence[Path]) -> None:
    """Store the answers in outputs of batches, one file or the parts in a folder, and print what they held."""
    progress, intake = Progress(f"import {clean(str(path))}"), Intake(store)
    for number in progress.watch(intake.files(files), ()):
        progress.done = number
    suffix = f", {len(files):,} part{'s' * (len(files) != 1)}" if path.is_dir() else ""
    parts = [f"{clean(str(path))}{suffix}: {intake.new:,} new, {intake.known:,} known already"]
    if intake.failures:
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in sorted(intake.failures.items()))
        parts.append(f"{intake.failures.total():,} failed ({kinds}) and are not stored: `requests` writes them again")
    if intake.set_apart:
        parts.append(
            f"{intake.set_apart:,} answer nothing that was written here and are set apart: with the settings of "
            "their run (import … model=… task=…) they are taken"
        )
    if intake.unreadable:
        parts.append(f"{intake.unreadable:,} lines are none of a batch")
    print("; ".join(parts))
    before = intake.new
    intake.strays()
    if intake.new > before:
        print(f"{intake.new - before:,} more of what was set apart before")
    if intake.damaged:
        raise DataError(
            f"{len(intake.damaged):,} of {len(files):,} files are damaged, the rest is stored: {intake.damaged[0]}"
        )


def batches(cache: Path, words: Sequence[str], base_url: str | None) -> int:
    """Show the batches of a cache, or `collect`, `cancel` or `forget` those named; return the exit code."""
    action, *names = words or ("show",)
    if action not in (choices := ("show", "collect", "cancel", "forget")):
        raise ConfigError(unknown("command", f"batches {action}", (f"batches {name}" for name in choices)))
    if action in ("cancel", "forget") and not names:
        raise ConfigError(f"batches {action} takes the digests of batches, or all: `batches` shows them.")
    with closing(open_store(cache, readonly=action == "show")) as store:
        journal = Journal(store)
        rows = journal.batches() if journal.there else []
        if action == "show":
            return _show(journal, rows)
        chosen = _chosen(rows, names)
        if not chosen:
            print("no batch is under way.")
        models = journal.models() if chosen else {}
        for batch in chosen:
            if action == "forget":
                journal.drop(batch.digest, "forgotten")
                print(f"{batch.digest[:8]}: forgotten; the run asks for its {batch.size:,} requests again.")
                continue
            endpoint = endpoint_from_settings(models.get(batch.model, ("", "{}"))[1])
            _refuse_stranger(endpoint, base_url)
            endpoint.check_key()
            form = form_of(endpoint)
            with closing(BatchServer(endpoint, form.headers(endpoint.key))) as server:
                act = _collect if action == "collect" else _cancel
                print(f"{batch.digest[:8]}: {clean(act(journal, server, form, batch))}")
    return 0


def _chosen(rows: Sequence[Batch], names: Sequence[str]) -> list[Batch]:
    if not names or "all" in names:
        return list(rows)
    chosen = [batch for batch in rows if any(batch.digest.startswith(name) for name in names)]
    for name in names:
        if not any(batch.digest.startswith(name) for batch in rows):
            raise ConfigError(unknown("batch", name, [batch.digest[:8] for batch in rows]))
    return chosen


def _refuse_stranger(endpoint: Endpoint, base_url: str | None) -> None:
    """Refuse to send a key to an address that only the cache file names: the file may be somebody else's."""
    own = endpoint.base_url in (_OPENAI, os.environ.get("OPENAI_BASE_URL")) and endpoint.api_key_env == "OPENAI_API_KEY"
    if not (own or endpoint.base_url == base_url or on_this_machine(endpoint.base_url)):
        raise ConfigError(
            f"the cache's file says that a batch is at {endpoint.base_url}, to be asked with the key in "
            f"{endpoint.api_key_env}: if that is so, add base_url={endpoint.base_url}."
        )


def _show(journal: Journal, rows: Sequence[Batch]) -> int:
    if not rows:
        print("no batch is under way.")
        return 0
    names = journal.models()
    now = time.time()
    lines = [
        [
            batch.digest[:8],
            clean(names.get(batch.model, ("–", ""))[0]),
            clean(batch.id) or "–",
            clean(batch.status or ("not sent yet" if batch.step in ("prepared", "uploaded") else batch.step)),
            f"{batch.size:,}",
            f"{batch.done:,}",
            f"{(now - batch.created) / 3600:.1f} h",
            f"{datetime.fromtimestamp(batch.created):%Y-%m-%d %H:%M}",
        ]
        for batch in rows
    ]
    header = ["batch", "model", "at the server", "status", "requests", "answered", "age", "made"]
    terminal.show([Table.of(header, lines, text_columns=4, spare=("made", "at the server"))])
    print("\nThe command of its run collects a batch, or `batches collect`. Servers keep results for about 30 days.")
    return 0


def _collect(journal: Journal, server: EndpointServer, form: Files, batch: Batch) -> str:
    """Store the answers of a batch that has ended; return the line to print."""
    if not batch.id and not (batch.step == "creating" and Sending(journal, server, form).adopt(batch)):
        return "not sent yet: the command of its run sends it."
    batch = journal.batch(batch.digest) or batch
    remote = form.look(server, batch.id)
    journal.note_status(batch.digest, remote.status, remote.done)
    if remote.state == "under way":
        return f"{remote.status}, {remote.done:,} of {batch.size:,} answered."
    if remote.state == "failed":
        journal.drop(batch.digest, "failed whole")
        return f"failed as a whole ({remote.words}): nothing of it was answered; the run asks again."
    collecting = Collecting(journal, server, form, server.endpoint, {})
    for _ in collecting.collect(batch, remote):
        continue
    rest = f"; {collecting.failed:,} have none, and the run asks for them again" * (collecting.failed > 0)
    unread = f" ({collecting.unread})" * bool(collecting.unread)
    return f"{remote.status}, {collecting.stored:,} answers stored{rest}{unread}. {collecting.missing}".rstrip()


def _cancel(journal: Journal, server: EndpointServer, form: Files, batch: Batch) -> str:
    """Ask the server to end a batch; return the line to print."""
    sending = Sending(journal, server, form)
    if not batch.id and not (batch.step == "creating" and sending.appears(batch, server.endpoint)):
        journal.drop(batch.digest, "unlisted" if batch.step == "creating" else "unsent")
        return "was not sent yet, and will not be."
    batch = journal.batch(batch.digest) or batch
    try:
        remote = form.look(server, batch.id)
        if remote.state != "under way":
            return f"has ended ({remote.status}): `batches collect` takes in what it has."
        remote = form.cancel(server, batch.id)
    except RunStopped as reason:
        raise RunStopped(f"{reason} (`batches forget {batch.digest[:8]}` gives it up.)") from None
    journal.note_status(batch.digest, remote.status, remote.done)
    return f"{remote.status}: what is done by then, and billed, `batches collect` or its run takes in."


def _requests(names: list[str], settings: RequestsSettings) -> int:
    if len(names) != 1:
        raise ConfigError("requests takes one file to write, and the settings of a run: requests out.jsonl model=gpt4")
    run = run_of(settings.run)
    return write_requests(settings.cache, names[0], run, settings.lines, settings.megabytes, settings.driver)


def _batches(names: list[str], settings: BatchesSettings) -> int:
    return batches(settings.cache, names, settings.base_url)


REQUESTS = Choice(RequestsSettings, _requests, composed=True, help=_REQUESTS_HELP)
BATCHES = Choice(BatchesSettings, _batches, help=_BATCHES_HELP)
