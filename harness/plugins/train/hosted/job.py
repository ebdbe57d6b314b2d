"""A job on its way: its file goes up, it is made of it exactly once, and followed to its end."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from harness.errors import ConfigError, RunStopped
from harness.models.api.http_errors import RefusedError, status
from harness.models.api.replies import LostError
from harness.models.api.server import passes, rest
from harness.plugins.train.hosted import protocol
from harness.plugins.train.hosted.journal import Entry, Journal
from harness.plugins.train.hosted.protocol import ENDED, Job, TuningServer
from harness.plugins.train.hosted.recipe import HostedRecipe
from harness.runtime import signals

TRAIN, DEV = "train.jsonl", "dev.jsonl"
_SETTLES = 60.0
"""Seconds for which a job whose making was not heard of may take to show in the server's list."""
_NAMELESS = 20
"""Looks at a job that has succeeded and whose model has no name yet."""


@dataclass
class Hosted:
    """One job: what is known of it here, and its server."""

    recipe: HostedRecipe
    mark: str
    folder: Path
    """Where its files and its journal are."""
    server: TuningServer
    say: Callable[[str], None]
    _status: str = field(default="", init=False)
    _nameless: int = field(default=0, init=False)

    @property
    def journal(self) -> Journal:
        """Its steps."""
        return Journal(self.folder)

    def bring(self) -> str:
        """Return the server's name for the job, which is made from whatever step it is at. Raises RunStopped."""
        entry = self.journal.entry
        if entry.job:
            return entry.job
        if entry.step == "prepared" and not self._made_elsewhere():
            signals.say_instead("interrupted: there is no job yet; the same command goes on from there.")
            self._upload()
        if not self.journal.entry.job:
            self._create(unheard=entry.step == "creating")
        return self.journal.entry.job

    def follow(self, id: str) -> Job:
        """Return the job at its end, and tell what happens until then. Raises RunStopped where it comes to nothing."""
        signals.say_instead(
            f"interrupted: the job {id} goes on at {self.server.address}; the same command follows it, and cancel=true "
            "in the place of submit=true ends it."
        )
        tells = True
        while True:
            job = protocol.look(self.server, id, fresh=time.time() - self.journal.entry.since < _SETTLES)
            self._tell(job)
            if tells:
                tells = self._tell_events(job)
            if job.status in ENDED and not self._waits_for_name(job):
                return self._ended(job)
            rest(self.recipe.poll * random.uniform(0.9, 1.1))

    def cancel(self) -> str:
        """End the job, and return what has become of it. Raises ConfigError where there is none, RunStopped."""
        entry = self.journal.entry
        id = entry.job or (self.journal.entry.job if entry.step == "creating" and self._find(entry) else "")
        if not id:
            found = protocol.find(self.server, self.mark, entry.file)
            if found is None:
                raise ConfigError(f"{self.server.address} has no job of these settings: there is nothing to cancel.")
            id = found.id
        job = protocol.look(self.server, id)
        if job.status not in ENDED:
            job = protocol.cancel(self.server, id)
        while job.status not in ENDED:
            rest(min(self.recipe.poll, 5.0))
            job = protocol.look(self.server, id)
        return f"The job {id} has ended as {job.status}{'.' if job.status == 'cancelled' else ' before that.'}"

    def _made_elsewhere(self) -> bool:
        """Look for a job of this digest that another folder or machine has made; return whether there is one."""
        found = protocol.find(self.server, self.mark, "")
        if found is not None:
            self.say(f"the job {found.id} of these settings is there already: it is followed.")
            self.journal.note("created", job=found.id, file=found.file)
        return found is not None

    def _upload(self) -> None:
        """Send the files, and wait until the server has looked through them where it does so at once."""
        waiting = []
        names = {}
        for name, part in ((TRAIN, "file"), (DEV, "validation")):
            if (self.folder / name).exists():
                size = (self.folder / name).stat().st_size
                self.say(f"uploading {name}, {size / 1e6:,.1f} MB")
                with (self.folder / name).open("rb") as content:
                    sent = protocol.upload(self.server, content, f"harness-{self.mark[:12]}-{name}")
                names[part] = sent.id
                waiting += [sent.id] if sent.waiting else []
        for id in waiting:
            while protocol.look_at_file(self.server, id).waiting:
                rest(self.recipe.poll)
        self.journal.note("uploaded", **names)
        self.say(f"the training file is at {self.server.address} ({names['file']})")

    def _create(self, *, unheard: bool) -> None:
        """Make the job, or find it made: after a try without a reply nobody knows which. Raises RunStopped."""
        signals.say_instead(
            "interrupted: whether the job was made is not known; the same command finds it, or makes it."
        )
        entry = self.journal.entry
        body = protocol.order(self.recipe, self.mark, entry.file, entry.validation)
        for attempt in range(1, self.recipe.attempts + 1):
            if unheard and self._find(entry):
                return
            entry = self.journal.note("creating")
            try:
                job = protocol.create(self.server, body)
            except (RefusedError, LostError, TimeoutError) as error:
                number = status(error)
                # Turned away it was not made; a server's own error, or no reply, says nothing.
                unheard = number is None or number >= 500 or number in (408, 409)
                # A file that has just gone up may not be found for some seconds.
                if not passes(error, fresh=True) or attempt == self.recipe.attempts:
                    if not unheard:  # the file may be at fault, or gone: the next time another one goes up
                        self.journal.note("prepared", file="", validation="")
                    raise self.server.stopped(error) from None
                rest(self.server.pause(error, attempt))
            else:
                self.journal.note("created", job=job.id)
                self.say(f"the job {job.id} is made")
                return

    def _find(self, entry: Entry) -> bool:
        """Look for a job that was to be made, until it would have shown."""
        settles = min(_SETTLES, self.recipe.poll)
        while (job := protocol.find(self.server, self.mark, entry.file, entry.since)) is None:
            if time.time() - entry.since > settles:
                return False
            rest(settles / 4)
        self.journal.note("created", job=job.id)
        self.say(f"the job {job.id} was made unheard")
        return True

    def _tell(self, job: Job) -> None:
        """Tell where the job stands, where that has changed."""
        if job.status != self._status:
            self._status = job.status
            more = ""
            if job.status == "paused":
                more = ": it goes on once it is resumed at its provider"
            elif job.finish and (left := job.finish - time.time()) > 0:
                more = f", about {timedelta(seconds=round(left))} left"
            self.say(f"{job.id}: {job.status.replace('_', ' ') or 'without a status'}{more}")

    def _tell_events(self, job: Job) -> bool:
        """Tell what the server has told since; of measurements the last one. Return whether it tells anything.

        Nothing hangs on events: where they cannot be had now, they are asked for with the next look.
        """
        try:
            told = protocol.events(self.server, job.id, self.journal.entry.event)
        except (LostError, TimeoutError):
            return True
        except (RefusedError, RunStopped) as error:
            if passes(error) and status(error) != 501:
                return True
            self.say(f"{self.server.address} tells no events of its jobs.")
            return False
        last = next((event for event in reversed(told) if event.metrics), None)
        for event in told:
            if not event.metrics or event is last:
                warning = f"{event.level}: " if event.level in ("warn", "error") else ""
                self.say(f"{job.id}: {warning}{event.message}")
        if told:
            self.journal.note_event(told[-1].id)
        return True

    def _waits_for_name(self, job: Job) -> bool:
        self._nameless += job.status == "succeeded" and not job.model
        return job.status == "succeeded" and not job.model and self._nameless < _NAMELESS

    def _ended(self, job: Job) -> Job:
        """Return a job that has made a model. Raises RunStopped for any other."""
        another = f"recipe.job={self.recipe.job + 1} makes another one"
        if job.status == "failed":
            why = job.error.rstrip(".") or "it does not say why"
            raise RunStopped(f"{self.server.address} says that the job {job.id} has failed: {why}. {another}.")
        if job.status == "cancelled":
            raise RunStopped(f"the job {job.id} was cancelled: {another}.")
        if not job.model:
            raise RunStopped(f"the job {job.id} has succeeded, and {self.server.address} names no model of it.")
        return job
