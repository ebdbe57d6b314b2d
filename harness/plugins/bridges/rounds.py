"""Questions in rounds until a rule is met (until=width:5, decided), for frameworks that ask for more while they run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.cost.until import Against, Order, Rule, Until
from harness.cost.watch import FIRST_ROUND
from harness.errors import ConfigError
from harness.tasks.base import TaskBase
from harness.tasks.question import Question, QuestionWriter, ScoredAnswer, record
from harness.types import Item, Record

_FAILED = ScoredAnswer(None, "", False, "refused")
"""A call without a reply counts as one whose reply was withheld: in no metric."""
_NO = ScoredAnswer(0, "No", False, "")


class Rounds:
    """The questions of a task in random order, whole draws at a time, as a run with `until=` asks them."""

    def __init__(self, writer: QuestionWriter, rule: str, metric: str = "accuracy") -> None:
        """Take the rule's words: width:POINTS, or decided, which is better or worse than No to every question."""
        task = writer.task
        if not isinstance(task, TaskBase):
            raise ConfigError(f"until={rule} is for a task with a seed.")
        order = Order(task, task.seed if type(task.seed) is int else 0)
        self._writer = writer
        parsed = Rule.of(rule)
        floor = Against("always_no", {}, self._saying_no) if parsed.kind == "decided" else None
        self._estimate = Until(parsed, metric, order, task.unreadable, floor).estimate()
        self._draws: Iterator[Sequence[Item]] = order.draws()
        self._asked: list[Sequence[Item]] = []
        self._metadata: dict[str, dict[str, object]] = {}
        self.answers: dict[str, ScoredAnswer | None] = {}
        """What was read, by the question's id; None where a call has failed."""

    @property
    def interval(self) -> tuple[float, float]:
        """What the answers so far say of the metric, at all times at once; with decided, of what it is above No."""
        return self._estimate.interval

    @property
    def decision(self) -> str:
        """What is known: "narrow enough", "better", "worse", "equal", or "" as long as nothing is."""
        return self._estimate.decision

    def _saying_no(self, draw: Sequence[Item]) -> list[Record]:
        return [record(self._writer.question(item).metadata, _NO) for item in draw]

    def following(self) -> list[Question]:
        """Return the next round's questions, once the last one's answers are there; [] when enough is known."""
        for draw in self._asked:
            records = [record(self._metadata[item.id], self.answers.pop(item.id, None) or _FAILED) for item in draw]
            self._estimate.add(draw, records)
        self._asked, made = [], list[Question]()
        while not self._estimate.decision and len(made) < FIRST_ROUND:
            if not (draw := next(self._draws, ())):
                break
            self._asked.append(draw)
            made += map(self._writer.question, draw)
        self._metadata = {question.id: question.metadata for question in made}
        return made
