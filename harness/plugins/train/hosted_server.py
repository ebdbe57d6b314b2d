"""The fine-tuning API that OpenAI has, and others after it: a file goes up, and a job is made of it and looked at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from harness.codec import token_count
from harness.errors import RunStopped
from harness.models.api.endpoint import Endpoint
from harness.models.api.faults import in_words, status
from harness.models.api.replies import LostError, one_line
from harness.models.api.server import EndpointServer, object_of, passes, rest
from harness.types import JSON

JOBS = "/fine_tuning/jobs"
ENDED = frozenset({"succeeded", "failed", "cancelled"})
MARK = "harness"
"""The key of a job's metadata that holds the digest of what was asked for."""
POLL = 30.0
"""Seconds between two looks at a file or a job."""
_CHECKING = frozenset({"pending", "running", "notrunning"})
"""What Microsoft Foundry says of a file that it still looks through: no job can be made of it yet."""


@dataclass(frozen=True)
class TuningJob:
    """A job as its server describes it."""

    id: str
    status: str
    model: str
    """The fine-tuned model; "" before there is one."""
    mark: str
    """What its metadata say under MARK; "" where the server keeps none."""
    file: str
    tokens: int | None
    """Those that were trained on, in all passes: what is billed."""
    error: str
    hyperparameters: Mapping[str, JSON]


class TuningServer(EndpointServer):
    """The server of a recipe, asked for files and jobs."""

    subject = "fine-tuning"

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__(endpoint, {"Authorization": f"Bearer {endpoint.key}"})

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

    def send_file(self, file: Path, name: str) -> str:
        """Upload a training file and wait until jobs can be made of it; return the server's name for it.

        Raises RunStopped where the server cannot use it.
        """
        with file.open("rb") as content:
            reply = object_of(self.upload("/files", content, name, {"purpose": "fine-tune"}))
        id = _id(reply)
        while (state := _text(reply.get("status")).lower()) in _CHECKING:
            rest(POLL)
            reply = object_of(self.json("GET", f"/files/{quote(id, safe='')}", fresh=True))
        if state == "error":
            why = one_line(_text(reply.get("status_details"))) or "it does not say why"
            raise RunStopped(f"the server cannot use the training file: {why.rstrip('.')}.")
        return id

    def create(self, body: Mapping[str, JSON]) -> TuningJob:
        """Make a job, in a single try. Raises as Server.once does."""
        return _job(object_of(self.once("POST", JOBS, body)))

    def look(self, id: str, *, fresh: bool = False) -> TuningJob:
        """Return a job. `fresh`: it has just been made, and may not be found yet. Raises RunStopped."""
        return _job(object_of(self.json("GET", f"{JOBS}/{quote(id, safe='')}", fresh=fresh)))


def may_have_been_made(error: Exception) -> bool:
    """Test whether a job may exist whose making failed so: turned away it does not, unheard of it may."""
    number = status(error)
    if number is None:
        return not (isinstance(error, LostError) and not error.connected)
    return number >= 500 or number in (408, 409)


def _job(reply: Mapping[str, Any]) -> TuningJob:
    """Return a reply as a job. Raises RunStopped if it has no id."""
    error, metadata, method = (_object(reply.get(name)) for name in ("error", "metadata", "method"))
    used = _object(_object(method.get("supervised")).get("hyperparameters")) or _object(reply.get("hyperparameters"))
    state = _text(reply.get("status")).lower()
    reasons = [_text(error.get(name)) for name in ("code", "param")]
    beside = ", ".join(filter(None, reasons))
    message = one_line(_text(error.get("message"))).rstrip(".")
    return TuningJob(
        id=_id(reply),
        status={"canceled": "cancelled"}.get(state, state),
        model=_text(reply.get("fine_tuned_model")),
        mark=_text(metadata.get(MARK)),
        file=_text(reply.get("training_file")),
        tokens=token_count(reply.get("trained_tokens")),
        error=f"{message} ({beside})" if message and beside else message or beside,
        hyperparameters={str(k): v for k, v in used.items() if isinstance(v, int | float | str)},
    )


def _id(reply: Mapping[str, Any]) -> str:
    if not (id := _text(reply.get("id"))):
        raise RunStopped("the server answers without an id where a file or a job was asked for.")
    return id


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
