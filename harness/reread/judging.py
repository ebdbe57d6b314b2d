"""Who reads what the rules cannot in a run that is read again: a model that is asked now, or the judge that it had."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from harness.cache import CachedModel, Store
from harness.codec import request_digest
from harness.cost.budget import Budget
from harness.cost.ledger import Ledger, Metered
from harness.cost.price import from_json
from harness.cost.spending import Spending
from harness.errors import RunStopped
from harness.judge import AUDITED, Judge, judge_of, prompt_of, recorded_prompt
from harness.prompting.prompts import Prompt
from harness.protocols import Model, Outcomes, Traits
from harness.settings import Main
from harness.storage.configuration import of_judge
from harness.storage.runs import Run
from harness.types import JSON, ChatRequest, Failure, Request, Response


@dataclass(frozen=True)
class Judging:
    """A judge at work on one run."""

    judge: Judge
    ledger: Ledger
    about: Mapping[str, JSON]
    """What the manifest says of it."""


class _Recalling:
    """A judge whose outcomes in a run's records are given again; new requests go to `model`, where there is one."""

    accepts = (ChatRequest,)

    def __init__(
        self, name: str, identity: Mapping[str, Any], outcomes: Mapping[str, Response | Failure], model: Model | None
    ) -> None:
        self.name, self.identity = name, identity
        self.traits = Traits(role="model") if model is None else model.traits
        self._outcomes, self._model = outcomes, model

    def respond(self, requests: Iterable[Request]) -> Generator[Outcomes]:
        """Yield the outcomes of then, then new ones. Raises RunStopped where these have nobody to go to."""
        others = []
        for request in requests:
            outcome = self._outcomes.get(request_digest(request))
            if outcome is None:
                others.append(request)
            else:
                yield [(request, outcome)]
        if others and self._model is None:
            raise RunStopped(
                f"{len(others):,} of the replies that today's rules cannot read were never before its judge: add "
                "judge=… with the settings of the run's judge."
            )
        if others and self._model is not None:
            yield from self._model.respond(others)


def _outcomes(run: Run) -> dict[str, Response | Failure]:
    """Return the outcome of each request to the judge of a run, by the request's digest."""
    judgements = (record.judgement for record in run.records())
    return {one.request: one.outcome for one in judgements if one is not None}


def own_judge(run: Run) -> Judging:
    """Return the judge that a run had, which answers the same requests again, from the run's records."""
    part, about = run.configuration["judge"], run.manifest.judge or {}
    price = about.get("price")
    ledger = Ledger(None if price is None else from_json(price), paid="cost" in run.result_json["judge"])
    recalling = _Recalling(part["name"], part["model"], _outcomes(run), None)
    return Judging(Judge(Metered(recalling, ledger), recorded_prompt(about["words"], run.configuration)), ledger, about)


@dataclass(frozen=True)
class NewJudge:
    """A judge that was chosen on the command line."""

    settings: Main
    """Of the command, of which judge, cache and budget count."""
    model: Model

    @classmethod
    def of(cls, settings: Main, *, asks: bool) -> NewJudge:
        assert settings.judge is not None
        return cls(settings, judge_of(settings.judge, asks=asks and settings.cache.mode != "frozen"))

    def configuration(self, asked: Prompt) -> dict[str, Any]:
        """Return the part of a run's configuration that says who reads what the rules cannot."""
        return of_judge(self.model.name, self.model.identity, prompt_of(self.model, asked))

    @contextmanager
    def judging(self, run: Run, asked: Prompt, manifest: Path, *, asks: bool) -> Iterator[Judging]:
        """Yield it inside of budget, Ctrl-C, cache, its replies in the run, and ledger; it is asked where `asks`.

        Raises ConfigError for a limit that cannot be kept.
        """
        judge = Judge(self.model, prompt_of(self.model, asked), AUDITED)
        spending = Spending.of(self.model, Budget(self.settings.budget), manifest, "judge")
        spending.check()
        cache = self.settings.cache
        known = {} if cache.mode == "refresh" else _outcomes(run)
        replies = {digest: outcome for digest, outcome in known.items() if isinstance(outcome, Response)}
        with ExitStack() as stack:
            model: Model | None = spending.around(self.model, cache.mode) if asks else None
            if model is not None and cache.mode != "off":
                store = Store(Path(cache.path), readonly=cache.mode == "frozen")
                model = CachedModel(model, stack.enter_context(closing(store)), mode=cache.mode, task=run.task)
            recalling = _Recalling(self.model.name, self.model.identity, replies, model)
            about = {"words": judge.words.as_json, **spending.provenance}
            yield Judging(replace(judge, model=Metered(recalling, spending.ledger)), spending.ledger, about)
