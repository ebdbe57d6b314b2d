"""The fine-tuning API that OpenAI has, and others after it: files go up, jobs are made of them and looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import IO, Any
from urllib.parse import quote

from harness.codec import token_count
from harness.errors import RunStopped
from harness.models.api.endpoint import Endpoint
from harness.models.api.http_errors import in_words, status
from harness.models.api.replies import one_line
from harness.models.api.server import Server, object_of, passes
from harness.plugins.train.hosted.recipe import HostedRecipe
from harness.types import JSON

MARK = "harness"
"""The pair of a job's metadata that holds its digest."""
JOBS = "/fine_tuning/jobs"
_PAGES = 200
"""Pages of a list that are looked through, at most."""
EARLIER = 3600.0
"""Seconds by which the clocks of a server and of this machine may differ."""
ENDED = frozenset({"succeeded", "failed", "cancelled"})
_WAITING = frozenset({"pending", "running", "notrunning"})
"""What Microsoft Foundry says of a file that it still looks through: no job can be made of it yet."""


class TuningServer(Server):
    """The server of a recipe, asked for files and jobs."""

    subject = "fine-tuning"

    def __init__(self, endpoint: Endpoint, headers: Mapping[str, str], say: Callable[[str], None]) -> None:
        """Prepare; `say` shows a line where a call is tried again."""
        super().__init__(endpoint, headers)
        self._say = say

    def pause(self, error: Exception, attempt: int) -> float:
        """Return the seconds to wait after a failed try, and say what is waited for."""
        seconds = super().pause(error, attempt)
        if passes(error) and 2 <= attempt < self.endpoint.attempts:
            self._say(f"{self.address}: {in_words(error)}; try {attempt + 1} in {seconds:.1f} s")
        return seconds

    def stopped(self, error: Exception) -> RunStopped:
        """Return what the command stops with where a call has failed for good."""
        number, words = status(error), in_words(error).rstrip(".")
        if number in (401, 403):
            variable = self.endpoint.api_key_env or "the key"
            return RunStopped(f"{self.address} refuses access ({words}): check {variable}, and what it may fine-tune.")
        if number == 404:
            return RunStopped(
                f"{self.address} does not know what it is asked for ({words}): check recipe.base_url, recipe.model and "
                "the account; a job that is gone there is made anew with another recipe.job."
            )
        if passes(error):
            return super().stopped(error)
        return RunStopped(f"{self.address} refuses the call ({words}).")


@dataclass(frozen=True)
class File:
    """A file at the server."""

    id: str
    waiting: bool
    """Whether the server still looks through it."""


@dataclass(frozen=True)
class Job:
    """A job as its server describes it."""

    id: str
    status: str
    model: str
    """The fine-tuned model; "" before there is one."""
    mark: str
    """The digest that it was made with; "" where the server keeps none."""
    file: str
    made: float | None
    """Seconds since 1970 by the server's clock; None where it tells none."""
    finish: float | None
    """When it will have ended, as the server reckons."""
    tokens: int | None
    """Those that were trained on, in all passes: what is billed."""
    error: str
    """What the server says of its failure."""
    hyperparameters: Mapping[str, JSON]


@dataclass(frozen=True)
class Event:
    """What a server tells of a job."""

    id: str
    message: str
    level: str
    metrics: bool


def upload(server: Server, file: IO[bytes], name: str) -> File:
    """Return a file that has gone up. Raises RunStopped."""
    return _file(object_of(server.upload("/files", file, name, {"purpose": "fine-tune"})))


def look_at_file(server: Server, id: str) -> File:
    """Return a file at the server. Raises RunStopped where the server cannot use it."""
    return _file(object_of(server.json("GET", f"/files/{quote(id, safe='')}", fresh=True)))


def order(recipe: HostedRecipe, mark: str, file: str, validation: str) -> dict[str, JSON]:
    """Return the body that makes a job."""
    method = {"type": "supervised", "supervised": {"hyperparameters": recipe.hyperparameters}}
    suffix = {"suffix": recipe.suffix} if recipe.suffix else {}
    dev = {"validation_file": validation} if validation else {}
    body = {"model": recipe.model, "training_file": file, **dev, **suffix, "seed": recipe.seed}
    return body | {"method": method, "metadata": {MARK: mark}}


def create(server: Server, body: Mapping[str, JSON]) -> Job:
    """Make a job, in a single try. Raises as Server.once does."""
    return job_of(object_of(server.once("POST", JOBS, body)))


def look(server: Server, id: str, *, fresh: bool = False) -> Job:
    """Return a job. `fresh`: it has just been made, and may not be found yet. Raises RunStopped."""
    return job_of(object_of(server.json("GET", f"{JOBS}/{quote(id, safe='')}", fresh=fresh)))


def cancel(server: Server, id: str) -> Job:
    """Have a job ended. Raises RunStopped."""
    return job_of(object_of(server.json("POST", f"{JOBS}/{quote(id, safe='')}/cancel")))


def find(server: Server, mark: str, file: str, since: float = 0.0) -> Job | None:
    """Return the job that was made with this mark, or of this file; None where there is none since then."""
    for row in _rows(server.json, JOBS):
        job = job_of(row)
        if job.mark == mark or (file and job.file == file):
            return job
        if job.made is not None and job.made < since - EARLIER:
            return None
    return None


def events(server: Server, id: str, after: str) -> list[Event]:
    """Return what the server has told of a job since an event, the oldest first. Raises as Server.once does."""
    told: list[Event] = []
    for row in _rows(server.once, f"{JOBS}/{quote(id, safe='')}/events"):  # the latest first
        measured = row.get("type") == "metrics"
        event = Event(_text(row.get("id")), one_line(_text(row.get("message"))), _text(row.get("level")), measured)
        if after and event.id == after:
            break
        told.append(event)
    return told[::-1]


def checkpoints(server: Server, id: str) -> list[dict[str, JSON]]:
    """Return the steps at which the server has measured a job, the first one first. Raises RunStopped."""
    curve: list[dict[str, JSON]] = []
    for row in _rows(server.json, f"{JOBS}/{quote(id, safe='')}/checkpoints"):
        metrics = row.get("metrics")
        numbers = {
            str(name): value
            for name, value in (metrics if isinstance(metrics, dict) else {}).items()
            if isinstance(value, int | float) and not isinstance(value, bool) and name != "step"
        }
        step = token_count(row.get("step_number")) or 0
        curve.append({"step": step, "model": _text(row.get("fine_tuned_model_checkpoint")), **numbers})
    return sorted(curve, key=lambda entry: str(entry["step"]).zfill(12))


def job_of(reply: Mapping[str, Any]) -> Job:
    """Return what a reply says of a job. Raises RunStopped where it is none."""
    if not (id := _text(reply.get("id"))):
        raise RunStopped("the server answers without the id of a job where one was asked for.")
    error, metadata = reply.get("error"), reply.get("metadata")
    method = reply.get("method")
    supervised = method.get("supervised") if isinstance(method, dict) else None
    used = (supervised if isinstance(supervised, dict) else reply).get("hyperparameters")
    used = used if isinstance(used, dict) else {}
    named = _text(reply.get("status")).lower()
    return Job(
        id=id,
        status={"canceled": "cancelled"}.get(named, named),
        model=_text(reply.get("fine_tuned_model")),
        mark=_text(metadata.get(MARK)) if isinstance(metadata, dict) else "",
        file=_text(reply.get("training_file")),
        made=_moment(reply.get("created_at")),
        finish=_moment(reply.get("estimated_finish")),
        tokens=token_count(reply.get("trained_tokens")),
        error=_failure(error) if isinstance(error, dict) else "",
        hyperparameters={str(k): v for k, v in used.items() if isinstance(v, int | float | str)},
    )


def _failure(error: Mapping[str, Any]) -> str:
    message = one_line(_text(error.get("message"))).rstrip(".")
    names = [_text(error.get(name)) for name in ("code", "param")]
    beside = ", ".join(filter(None, names))
    return f"{message} ({beside})" if message and beside else message or beside


def _rows(call: Callable[[str, str], Any], path: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a list, page by page. Raises as `call` does, and RunStopped."""
    after = ""
    for _ in range(_PAGES):
        reply = object_of(call("GET", f"{path}?limit=100{after}"))
        data = reply.get("data")
        rows = [row for row in data if isinstance(row, dict)] if isinstance(data, list) else []
        yield from rows
        last = _text(rows[-1].get("id")) if rows else ""
        if not last or not reply.get("has_more"):
            return
        after = f"&after={quote(last, safe='')}"


def _file(reply: Mapping[str, Any]) -> File:
    if not (id := _text(reply.get("id"))):
        raise RunStopped("the server answers without the id of a file where one was asked for.")
    state = _text(reply.get("status")).lower()
    if state == "error":
        why = one_line(_text(reply.get("status_details"))) or "it does not say why"
        raise RunStopped(f"the server cannot use the training file: {why.rstrip('.')}.")
    return File(id, state in _WAITING)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _moment(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and value > 0 else None
