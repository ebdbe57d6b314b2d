"""What a judge has read: its part of the settings, of each record and of the result."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from harness.codec import request_digest
from harness.cost.ledger import Ledger
from harness.cost.price import costs_money
from harness.errors import DataError
from harness.judge import question
from harness.scoring.samples import unread
from harness.storage.rebuild import model_of
from harness.storage.run_folder import MANIFEST, RESULT
from harness.types import Answer, Failure, Item, Record, Response

if TYPE_CHECKING:
    from harness.cost.price import Price
    from harness.prompting.prompts import Prompt
    from harness.protocols import Model


class JudgeCheck:
    """The judge of a run, and one pass over what it was asked."""

    def __init__(self, manifest: Mapping[str, Any], price: Price | None) -> None:
        """`price` is that of the judge's answers, None where nobody knows it. Raises DataError, ConfigError."""
        self.settings: Mapping[str, Any] = manifest["config"]["judge"]
        self.model: Model | None = model_of(manifest, "judge")
        told = (manifest["configuration"].get("judge") or {}).get("model")
        self.identity: Mapping[str, Any] = self.model.identity if self.model else told if isinstance(told, dict) else {}
        words = (manifest.get("judge") or {}).get("words")
        if not isinstance(words, Mapping):
            raise DataError(f"{MANIFEST} does not hold the words in which the judge was asked: run its command again.")
        self.words: Prompt = question.recorded(words)
        self.ledger = Ledger(price, paid=True)

    @property
    def name(self) -> str:
        """Return what the judge's readings are shown under."""
        return self.model.name if self.model else str(self.settings.get("name"))

    def problems_of_words(self) -> Iterator[str]:
        """Yield where the judge was asked in other words than today's."""
        if self.words.digest != question.prompt().digest:
            yield "the judge was asked in other words than today's."

    def answer(self, record: Record, by_rules: Answer | None) -> Answer | None:
        """Return the answer that a record should have: the judge's where the rules have none, and it was asked."""
        if record.judgement is None or by_rules is None or by_rules.label is not None:
            return by_rules
        return question.reading(record.judgement.outcome)

    def problems(self, record: Record, item: Item, *, complete: bool) -> Iterator[str]:
        """Yield where the judge was not asked about a reply, or asked something else."""
        if not unread(record):
            if record.judgement is not None:
                yield "a judge was asked about a reply that is none in words"
            return
        if record.judgement is None:
            if complete:
                yield "the judge was not asked about a reply that the rules cannot read"
            return
        assert isinstance(record.outcome, Response)
        asked = question.question(self.words, question.statement(item.fields), record.outcome.text)
        if request_digest(asked) != record.judgement.request:
            yield "the judge was asked something else than its prompt makes of the reply"
        if not isinstance(record.judgement.outcome, Failure):
            self.ledger.add(asked, record.judgement.outcome)

    def problems_of_cost(self, there: Mapping[str, Any], expected: dict[str, Any]) -> Iterator[str]:
        """Yield where what is said of costs contradicts the judge's settings; put the cost into what is expected."""
        if self.model is not None and (costs_money(self.model.traits.service) or self.ledger.usd > 0) != (
            "cost" in there
        ):
            yield f"{RESULT}: the judge's answers have a cost and it is not there, or have none."
        if "cost" in there:
            cost = self.ledger.cost_json["cost"]
            usd, told = cost["usd"], there["cost"]["usd"]
            if usd is not None and isinstance(told, int | float) and math.isclose(usd, told, abs_tol=2e-9):
                cost["usd"] = told  # sums of cents are not exact
            expected["cost"] = cost
