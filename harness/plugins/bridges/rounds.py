"""Questions in rounds until a rule is met (until=width:5), for frameworks that ask for more while they run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.cost.until import Order, Rule, Until
from harness.cost.watch import FIRST_ROUND
from harness.errors import ConfigError
from harness.tasks.base import TaskBase
from harness.tasks.question import Question, QuestionWriter, ScoredAnswer, record
from harness.types import Item

_FAILED = ScoredAnswer(None, "", False, "refused")
"""A call without a reply counts as one whose reply was withheld: in no metric."""


class Rounds:
    """The questions of a task in random order, whole draws at a time, as a run with `until=` asks them."""

    def __init__(self, writer: QuestionWriter, rule: str, metric: str = "accuracy") -> None:
        """Take the rule's words. Raises ConfigError for others than width:POINTS."""
        task = writer.task
        if not isinstance(task, TaskBase) or (parsed := Rule.of(rule)).kind != "width":
            raise ConfigError(f"until={rule}: here it is width:POINTS, such as width:5, for a task with a seed.")
        order = Order(task, task.seed if type(task.seed) is int else 0)
        self._writer = writer
        self._estimate = Until(parsed, metric, order, task.unreadable).estimate()
        self._draws: Iterator[Sequence[Item]] = order.draws()
        self._asked: list[Sequence[Item]] = []
        self._metadata: dict[str, dict[str, object]] = {}
        self.answers: dict[str, ScoredAnswer | None] = {}
        """What was read, by the question's id; None where a call has failed."""

    @property
    def interval(self) -> tuple[float, float]:
        """What the answers so far say of the metric, at all times at once."""
        return self._estimate.interval

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
