"""How the replies of a run are read: by today's rules, and by the judge if these find nothing."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.codec import request_digest
from harness.cost.ledger import Ledger
from harness.cost.price import costs_money
from harness.errors import DataError
from harness.judge import judge_prompt, number_of_choices, reading_of, recorded_prompt, request_to_judge
from harness.prompting.version import VERSION
from harness.scoring.audit import by_judge, read_by_rules, unread
from harness.storage.rebuild import model_of
from harness.storage.run_folder import MANIFEST, RESULT
from harness.types import Answer, Failure, Item, Record, Response

if TYPE_CHECKING:
    from harness.cost.price import Price
    from harness.prompting.prompts import Prompt
    from harness.protocols import Model
    from harness.storage.manifest import Manifest


class Readings:
    """The answers that records should have."""

    def __init__(self, prompt: Prompt | None, judge: JudgeCheck | None) -> None:
        """`prompt` reads the replies, `judge` those in which it finds nothing; each may be None."""
        self.as_recorded = False
        """Whether the records' own readings are taken, having been made by other rules than today's,"""
        self.read_otherwise = 0
        """and how many of them are others today."""
        self._prompt, self._judge = prompt, judge

    def answer(self, record: Record, response: Response, item: Item) -> Answer | None:
        """Return the answer of a record, by the rules or else by the judge; None where its response has none."""
        by_rules = self._by_rules(response, item)
        if self.as_recorded:
            recorded = Answer(label=None) if by_judge(record) else record.answer
            self.read_otherwise += _said(by_rules) != _said(recorded)
            by_rules = recorded
        return self._judge.answer(record, by_rules, item) if self._judge is not None else by_rules

    def problems(self, folder: Path, manifest: Manifest) -> Iterator[str]:
        """Yield that the replies were read by other rules than today's, where that makes a difference."""
        version, otherwise = (manifest.reading or {}).get("version", 0), self.read_otherwise
        if otherwise:
            yield (
                f"its replies were read by rules of version {version}, today's are of version {VERSION} and "
                f"{otherwise:,} read otherwise today: harness reread {folder} reads them again."
            )

    def _by_rules(self, response: Response, item: Item) -> Answer | None:
        """Return what the prompt reads; None for a kind of response that it cannot have had."""
        assert self._prompt is not None
        try:
            return self._prompt.parse(response, item.fields)
        except (KeyError, ValueError, ArithmeticError):
            return None


def _said(answer: Answer | None) -> tuple[int | None, float | None] | None:
    return None if answer is None else (answer.label, answer.probability)


class JudgeCheck:
    """The judge of a run, checked in one pass over its requests."""

    def __init__(self, manifest: Manifest, settings: Mapping[str, Any], price: Price | None) -> None:
        """`price` is that of the judge's answers, None where it is unknown. Raises DataError, ConfigError."""
        self.settings = settings
        self.model: Model | None = model_of(manifest, "judge")
        recorded = (manifest.configuration.get("judge") or {}).get("model")
        self.identity: Mapping[str, Any] = (
            self.model.identity if self.model else recorded if isinstance(recorded, dict) else {}
        )
        words = (manifest.judge or {}).get("words")
        if not isinstance(words, Mapping):
            raise DataError(f"{MANIFEST} does not hold the words in which the judge was asked: run its command again.")
        self.words: Prompt = recorded_prompt(words, manifest.configuration)
        self.ledger = Ledger(price, paid=True)

    @property
    def name(self) -> str:
        return self.model.name if self.model else str(self.settings.get("name"))

    def problems_of_words(self) -> Iterator[str]:
        """Yield the problem if the judge was asked in other words than today's."""
        if self.words.digest != judge_prompt(self.words.words.choices_from).digest:
            yield "the judge was asked in other words than today's."

    def answer(self, record: Record, by_rules: Answer | None, item: Item) -> Answer | None:
        """Return the answer that a record should have: by the rules, or where these read nothing, by the judge."""
        if record.judgement is None or by_rules is None or by_rules.label is not None:
            return by_rules
        return reading_of(record.judgement.outcome, number_of_choices(self.words, item.fields))

    def problems(self, record: Record, item: Item, *, complete: bool) -> Iterator[str]:
        """Yield where the judge was not asked about a reply, or asked something else."""
        if not unread(record) and not read_by_rules(record):
            if record.judgement is not None:
                yield "a judge was asked about a reply that is not in words"
            return
        if record.judgement is None:
            if complete and unread(record):
                yield "the judge was not asked about a reply that the rules cannot read"
            return
        assert isinstance(record.outcome, Response)
        expected = request_to_judge(self.words, item.fields, record.outcome.text)
        if request_digest(expected) != record.judgement.request:
            yield "the judge was asked something else than its prompt makes of the reply"
        if not isinstance(record.judgement.outcome, Failure):
            self.ledger.add(expected, record.judgement.outcome)

    def problems_of_cost(self, there: Mapping[str, Any], expected: dict[str, Any]) -> Iterator[str]:
        """Yield where the recorded cost contradicts the judge's settings, and add the cost to `expected`."""
        if self.model is not None and (costs_money(self.model.traits.service) or self.ledger.usd > 0) != (
            "cost" in there
        ):
            yield f"{RESULT}: the judge's answers have a cost and it is not there, or have none."
        if "cost" in there:
            cost = self.ledger.cost_json["cost"]
            usd, recorded = cost["usd"], there["cost"]["usd"]
            if usd is not None and isinstance(recorded, int | float) and math.isclose(usd, recorded, abs_tol=2e-9):
                cost["usd"] = recorded  # sums of cents are not exact
            expected["cost"] = cost
