"""The judges of a run that is read again: a model that is asked now, or the judge that the run had."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from harness.cache import CachedModel, Store
from harness.codec import request_digest
from harness.cost.budget import Budget
from harness.cost.ledger import Ledger, Metered
from harness.cost.price import from_json
from harness.cost.spending import JudgeSpending
from harness.errors import RunStopped
from harness.judge import Judge, judge_of, prompt_of, recorded_prompt
from harness.prompting.prompts import Prompt
from harness.protocols import Model, Outcomes, Traits, Wrapper
from harness.runtime.interrupt import Stoppable
from harness.settings import Main, build_main
from harness.storage.configuration import of_judge
from harness.storage.runs import Run
from harness.types import ChatRequest, Failure, Request, Response


@dataclass(frozen=True)
class NewJudge:
    """A judge that was chosen on the command line."""

    settings: Main
    """Of the command, of which judge, cache and budget count."""
    model: Model

    @classmethod
    def of(cls, config: Mapping[str, Any], *, asks: bool) -> NewJudge:
        settings = build_main(config)
        assert settings.judge is not None
        return cls(settings, judge_of(settings.judge, asks=asks and settings.cache.mode != "frozen"))

    @property
    def recalls(self) -> bool:
        return self.settings.cache.mode != "refresh"

    def configuration(self, asked: Prompt) -> dict[str, Any]:
        """Return the part of a run's configuration that says who reads what the rules cannot."""
        return of_judge(self.model.name, self.model.identity, prompt_of(self.model, asked))

    def spending(self, manifest: Path, asked: Prompt) -> JudgeSpending:
        """Return the account of its calls for one run. Raises ConfigError for a limit that cannot be kept."""
        judge = Judge(self.model, prompt_of(self.model, asked), self.settings.judge_sample)
        spending = JudgeSpending.of(judge, Budget(**self.settings.budget.amounts), None, manifest)
        spending.budget.needs(spending.price, self.model.traits.service, "judge")
        return spending

    @contextmanager
    def answering(self, spending: JudgeSpending, task: str, run: Run) -> Iterator[Judge]:
        """Yield the judge inside of budget, Ctrl-C, cache, its replies in the run, and ledger."""
        outcomes = replies_of_judge(run) if self.recalls else {}
        mode = self.settings.cache.mode
        limited = Stoppable(spending.within_rest(), mode)
        if mode == "off":
            yield replace(spending.judge, model=spending.metered(_Recalling(limited, outcomes)))
            return
        cache = self.settings.cache
        with closing(Store(Path(cache.path), readonly=mode == "frozen", shared=cache.shared)) as store:
            cached = CachedModel(limited, store, mode=mode, task=task)
            yield replace(spending.judge, model=spending.metered(_Recalling(cached, outcomes)))


def outcomes_of_judge(run: Run) -> dict[str, Response | Failure]:
    """Return the outcome of each request to the judge of a run, by the request's digest."""
    judgements = (record.judgement for record in run.records())
    return {one.request: one.outcome for one in judgements if one is not None}


def replies_of_judge(run: Run) -> dict[str, Response | Failure]:
    """Return the judge's successful replies, by the request's digest."""
    return {digest: one for digest, one in outcomes_of_judge(run).items() if isinstance(one, Response)}


def never_judged(requests: int) -> RunStopped:
    """Return the error for a run whose own judge was not asked all that today's rules leave to it."""
    return RunStopped(
        f"{requests:,} of the replies that today's rules cannot read were never before its judge: add judge=… with the "
        "settings of the run's judge."
    )


class _Recalling(Wrapper):
    """A judge whose stored replies are reused."""

    def __init__(self, model: Model, outcomes: Mapping[str, Response | Failure]) -> None:
        super().__init__(model)
        self._outcomes = outcomes

    def respond(self, requests: Iterable[Request]) -> Generator[Outcomes]:
        """Yield its stored replies, then new ones to the remaining requests."""
        others = []
        for request in requests:
            outcome = self._outcomes.get(request_digest(request))
            if outcome is None:
                others.append(request)
            else:
                yield [(request, outcome)]
        if others:
            yield from self.model.respond(others)


class OldJudge:
    """The judge that a run had, which answers the same requests again, from the run's records."""

    accepts = (ChatRequest,)
    traits = Traits(role="model")

    def __init__(self, run: Run) -> None:
        part = run.configuration["judge"]
        self.name: str = part["name"]
        self.identity: Mapping[str, Any] = part["model"]
        judge = run.manifest.judge or {}
        self._words = recorded_prompt(judge["words"], run.configuration)
        self._outcomes = outcomes_of_judge(run)
        price = judge.get("price")
        self.ledger = Ledger(None if price is None else from_json(price), paid="cost" in run.result_json["judge"])

    @property
    def judge(self) -> Judge:
        return Judge(Metered(self, self.ledger), self._words)

    def respond(self, requests: Iterable[Request]) -> Generator[Outcomes]:
        """Yield the replies of then. Raises RunStopped after them if some requests are new."""
        missing = 0
        for request in requests:
            outcome = self._outcomes.get(request_digest(request))
            missing += outcome is None
            if outcome is not None:
                yield [(request, outcome)]
        if missing:
            raise never_judged(missing)
