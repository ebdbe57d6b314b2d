"""A fine-tuning job at a server with OpenAI's API: a file goes up, a job is made of it, followed and recorded.

Making a job may cost money, so none is made twice: before the call that makes it, and once its id is known, both are
noted in `<digest>.work/job.json`. Where a process ended between the two, or the reply is no job, the user is asked.
After a refusal the server's list of jobs is looked at first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from harness.codec import token_count
from harness.config_files import own_files
from harness.errors import ConfigError, Interrupted, RunStopped, StoreError
from harness.models.api.endpoint import Endpoint
from harness.models.api.faults import RefusedError, in_words, status
from harness.models.api.replies import LostError, one_line
from harness.models.api.server import BusyError, EndpointServer, object_of, passes, rest
from harness.plugins.train.hosted import MARK, Tuning, cost_of, last_lines, plan_lines, tuning_of
from harness.plugins.train.recipe import MANIFEST, FinetuneSettings, alone, room
from harness.runtime import signals
from harness.runtime.progress import Progress
from harness.settings import validated
from harness.storage import atomic_write
from harness.storage.atomic_write import atomic_file, check
from harness.storage.manifest import provenance
from harness.types import JSON

TRAIN, JOURNAL = "train.jsonl", "job.json"
JOBS = "/fine_tuning/jobs"
ENDED = frozenset({"succeeded", "failed", "cancelled"})
UNDER_WAY = frozenset({"validating_files", "queued", "running", "paused", "pending", "notrunning", "created"})
POLL, MOST_UNKNOWN = 30.0, 2880
"""Seconds between two looks at a file or a job, and looks at a job in a state of no known name: a day of them."""
_PAGES = 100
"""Pages of the list of jobs that are looked through."""
_CHECKING = frozenset({"pending", "running", "notrunning"})
"""States of a file that Microsoft Foundry still checks: no job can be made of it yet."""


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
    about = {**provenance(dict(config)), **({"own_files": own} if own else {})}
    carry_out(tuning, plan, about)
    return last_lines(tuning)


def carry_out(tuning: Tuning, plan: Iterable[str], about: Mapping[str, Any]) -> None:
    """Make the job unless there is one, follow it to its end and record it. Raises HarnessError."""
    recipe, say = tuning.recipe, Progress(tuning.folder.name).say
    with alone(tuning.work), room(tuning.settings.out), closing(TuningServer(recipe.endpoint)) as server:
        for line in plan:
            say(line)
        job = _JobSteps(tuning, server, say).finished_job()
        record = {
            "id": job.id,
            "server": recipe.base_url,
            "mark": tuning.mark,
            "training_file": job.file,
            "hyperparameters": job.hyperparameters,
            "trained_tokens": job.tokens,
        }
        why = "the model that the server names at the end of the job"
        training = {**tuning.facts, "job": record, "chosen": {"model": job.model, "why": why}, **about}
        training |= cost_of(recipe, job.tokens)
        atomic_write.write(tuning.work / MANIFEST, training)
        tuning.work.replace(tuning.folder)


@dataclass(frozen=True)
class _JobSteps:
    """The steps of one job (upload, make, follow), begun at whichever one the journal has reached."""

    tuning: Tuning
    server: TuningServer
    say: Callable[[str], None]

    @property
    def _journal(self) -> Path:
        return self.tuning.work / JOURNAL

    def finished_job(self) -> TuningJob:
        return self._follow(self._known_id() or self._make())

    def _known_id(self) -> str:
        """Return the id from submit= or from the journal; "" if no job was made yet.

        Raises RunStopped where a job may have been made whose id never arrived.
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
        """Upload the file unless the server has it, make the job and return its id. Raises RunStopped."""
        signals.say_instead("interrupted: there is no job yet; the same command goes on from there.")
        file = str(atomic_write.object_in(self._journal).get("file") or "") or self._upload()
        signals.say_instead(f"interrupted: {self._unheard(file)}")

        def create() -> str:
            self._note(step="creating", file=file)
            try:
                return self.server.create(self.tuning.job_body(file)).id
            except RunStopped:  # the reply is no job
                raise self._unheard(file) from None
            except (RefusedError, LostError, TimeoutError) as error:
                if may_exist(error):
                    raise self._unheard(file) from None
                if id := self._listed(file, error):
                    return id
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

    def _listed(self, file: str, error: Exception) -> str:
        """Return the id of the job that was made all the same, "" where the server lists none. Raises RunStopped."""
        try:
            return self.server.job_of(file, self.tuning.mark)
        except Interrupted:
            raise
        except RunStopped:
            raise RunStopped(f"{self.server.stopped(error)} And {self._unheard(file)}") from None

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
        """Return the job once it has made a model, printing each change of state. Raises RunStopped if it fails."""
        address = self.server.address
        signals.say_instead(
            f"interrupted: the job {id} goes on at {address}, which alone can end it; the same command follows it."
        )
        job, last, unknown = self._look(id, fresh=True), "", 0
        while True:
            if job.status != last:
                resumed = ": it goes on once it is resumed at its provider" * (job.status == "paused")
                self.say(f"{id}: {job.status.replace('_', ' ')}{resumed}")
            # A state of another name has ended where it has made a model.
            if job.status in ENDED or (job.model and job.status not in UNDER_WAY):
                break
            unknown = 0 if job.status in UNDER_WAY else unknown + 1
            if unknown > MOST_UNKNOWN:
                raise RunStopped(
                    f"{address} says {job.status or 'nothing'!r} of the job {id} again and again, and names no model: "
                    "the same command looks again."
                )
            rest(POLL)
            last, job = job.status, self._look(id)
        another = f"recipe.job={self.tuning.recipe.job + 1} makes another one"
        if job.status == "failed":
            why = job.error.rstrip(".") or "it does not say why"
            raise RunStopped(f"{address} says that the job {id} has failed: {why}. {another}.")
        if job.status == "cancelled":
            raise RunStopped(f"the job {id} was cancelled: {another}.")
        if not job.model:
            raise RunStopped(f"the job {id} has succeeded, and {address} names no model of it yet: ask again later.")
        return job

    def _look(self, id: str, *, fresh: bool = False) -> TuningJob:
        """Return the job, however long the server refuses to be asked for it so often: it goes on meanwhile."""
        while True:
            with suppress(BusyError):
                return self.server.look(id, fresh=fresh)
            rest(POLL)

    def _unheard(self, file: str) -> RunStopped:
        return RunStopped(
            f"whether {self.server.address} has made the job is not known. Look through its list of fine-tuning jobs "
            f"for one of the file {file} (its metadata say {MARK}: {self.tuning.mark}): submit=ITS_ID goes on with "
            f"it. If it is not in the list, recipe.job={self.tuning.recipe.job + 1} makes one."
        )

    def _note(self, **known: str) -> None:
        """Write the step to the journal. Raises StoreError, before the step itself is taken."""
        try:
            atomic_write.write(self._journal, known)
        except OSError as error:
            under_way = f" submit={known['job']} goes on with the job that was made." if "job" in known else ""
            raise StoreError(
                f"{self._journal} cannot be written ({error.strerror}), and without it a job could be made twice: make "
                f"room, or choose another out=.{under_way}"
            ) from error


@dataclass(frozen=True)
class TuningJob:
    """A job as its server describes it."""

    id: str
    status: str
    model: str
    """The fine-tuned model; "" until the job has succeeded."""
    mark: str
    """Its metadata under MARK; "" where the server keeps no metadata."""
    file: str
    tokens: int | None
    """Tokens trained on, in all passes: what is billed."""
    error: str
    hyperparameters: Mapping[str, JSON]


class TuningServer(EndpointServer):
    """The server of a recipe, asked for files and jobs."""

    subject = "fine-tuning"

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__(endpoint, {"Authorization": f"Bearer {endpoint.key}"})

    def stopped(self, error: Exception) -> RunStopped:
        """Return the RunStopped for a call that has failed for good, with what the user can check."""
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
        """Upload a training file, wait until the server has checked it and return its id there. Raises RunStopped."""
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
        """Make a job, in a single try. Raises as Server.once does, and RunStopped if the reply is no job."""
        job = _job(object_of(self.once("POST", JOBS, body)))
        if job.error and not job.status:
            raise RunStopped("the reply is an error.")
        return job

    def job_of(self, file: str, mark: str) -> str:
        """Return the id of the job that the server lists for a training file; "" for none.

        Raises RunStopped where the list cannot tell.
        """
        after = ""
        for _ in range(_PAGES):
            reply = object_of(self.json("GET", f"{JOBS}?limit=100{after}"))
            if not isinstance(rows := reply.get("data"), list):
                raise RunStopped("the server's list of jobs is none.")
            for job in map(_job, map(object_of, rows)):
                if job.file == file or (not job.file and job.mark == mark):
                    return job.id
                if not (job.file or job.mark):
                    raise RunStopped("the server's list of jobs does not say whose they are.")
            if not rows or not reply.get("has_more"):
                return ""
            after = f"&after={quote(_id(rows[-1]), safe='')}"
        raise RunStopped("the server's list of jobs has no end.")

    def look(self, id: str, *, fresh: bool = False) -> TuningJob:
        """Return a job. `fresh`: it was made a moment ago, so that a 404 is tried again. Raises RunStopped."""
        return _job({**object_of(self.json("GET", f"{JOBS}/{quote(id, safe='')}", fresh=fresh)), "id": id})


def may_exist(error: Exception) -> bool:
    """Return whether a job may exist although the call for it failed: a refusal rules it out, silence does not."""
    number = status(error)
    if number is None:
        return not (isinstance(error, LostError) and not error.connected)
    return number >= 500 or number in (408, 409)


def _job(reply: Mapping[str, Any]) -> TuningJob:
    """Return a reply as a job, whatever fields its server leaves out. Raises RunStopped if it has no id."""
    error, metadata, method = (_object(reply.get(name)) for name in ("error", "metadata", "method"))
    used = _object(_object(method.get("supervised")).get("hyperparameters")) or _object(reply.get("hyperparameters"))
    reasons = ", ".join(filter(None, (_text(error.get(name)) for name in ("code", "param"))))
    message = one_line(_text(error.get("message"))).rstrip(".")
    return TuningJob(
        id=_id(reply),
        status=_text(reply.get("status")).lower().replace("canceled", "cancelled"),
        model=_text(reply.get("fine_tuned_model")),
        mark=_text(metadata.get(MARK)),
        file=_text(reply.get("training_file")),
        tokens=token_count(reply.get("trained_tokens")),
        error=f"{message} ({reasons})" if message and reasons else message or reasons,
        hyperparameters={str(k): v for k, v in used.items() if isinstance(v, int | float | str)},
    )


def _id(reply: Mapping[str, Any]) -> str:
    if not 0 < len(id := _text(reply.get("id"))) <= 1000:
        raise RunStopped("the server answers without an id where a file or a job was asked for.")
    return id


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
