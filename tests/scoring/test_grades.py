"""How firm answers are: a grade for each, and scores if only the firm ones count."""

from __future__ import annotations

import json

import pytest
from support.made_records import made

from harness.codec import as_json
from harness.report.items import Answers
from harness.scoring.grades import ANNOUNCED, FORM, JUDGED, SAID, UNKNOWN, firm_only, grade_of
from harness.scoring.means import MeanRow, scores_of_means
from harness.scoring.samples import summarize
from harness.storage.columns import reply_columns
from harness.storage.result_json import result_from_json, result_json
from harness.tables.results import grade_notes, reading_notes
from harness.tasks.corr2cause import Corr2Cause
from harness.tasks.questions import Questions
from harness.types import IN_FORM, JUDGE, NOT_IN_FORM, Answer, Failure, Line, Record, Response, replace

TASK = Corr2Cause(name="corr2cause", prompts=("plain",), limit=4)


def record(number: int, gold: int, answer: Answer | None) -> Record:
    outcome = Failure("timeout", "") if answer is None else Response("words")
    return made(str(number), str(number), {}, {"published": gold}, "r", outcome, answer)


@pytest.mark.parametrize(
    ("rule", "grade"),
    [
        (IN_FORM, FORM),
        ("", FORM),
        ("a ranking", FORM),
        ("opening", ANNOUNCED),
        ("corrected", ANNOUNCED),
        ("said", SAID),
        (f"{NOT_IN_FORM}, said", SAID),
        (NOT_IN_FORM, UNKNOWN),
        (JUDGE, JUDGED),
        ("concluded", UNKNOWN),
        ("choice stated", UNKNOWN),
    ],
)
def test_the_grade_of_an_answer_follows_from_its_rule(rule, grade):
    assert grade_of(Answer(1, rule=rule)) == grade
    assert grade_of(Answer(None, rule=rule)) == grade_of(None) == ""
    firm = firm_only(record(1, 1, Answer(1, rule=rule)))
    assert (firm.answer == Answer(None)) == (grade in (SAID, JUDGED, UNKNOWN))


def test_scores_move_by_what_is_not_firm_and_by_what_is_lost():
    """Three right in form, one wrong and announced, two right and one wrong in other words, one failed."""
    rules = [(1, 1, IN_FORM), (1, 1, IN_FORM), (0, 0, IN_FORM), (0, 1, "opening")]
    rules += [(1, 1, "said"), (0, 0, "said"), (1, 0, "said")]
    records = [record(n, gold, Answer(label, rule=rule)) for n, (gold, label, rule) in enumerate(rules)]
    result = summarize(TASK, lambda: [*records, record(9, 1, None)], 1, None)
    assert result.grades == {FORM: 3, ANNOUNCED: 1, SAID: 3}
    assert result.overall["accuracy"] == pytest.approx(5 / 7)
    assert result.overall.metric("accuracy").firm == pytest.approx((3 / 8, 7 / 8))
    (note,) = grade_notes(result)
    assert note.startswith("Answers by grade: 42.9% in the form, 14.3% announced, 42.9% said in other words.")
    assert "accuracy 37.50 to 87.50" in note and note in reading_notes(result)
    assert result_from_json(json.loads(json.dumps(result_json(result)))).scores == result.scores


def test_each_row_of_a_breakdown_has_bounds_where_it_has_answers_that_are_not_firm():
    rules = [("parent", 1, "said"), ("parent", 0, IN_FORM), ("child", 1, IN_FORM), ("child", 1, "opening")]
    records = [
        replace(record(n, 1, Answer(label, rule=rule)), groups={"relation": group})
        for n, (group, label, rule) in enumerate(rules)
    ]
    rows = summarize(TASK, lambda: records, 1, None).scores["published"]["relation"]
    assert rows["parent"].metric("accuracy").firm == (0, 0.5) and rows["child"].metric("accuracy").firm is None


def test_means_have_the_bounds_of_the_worst_and_the_best_answers():
    def bounds(states: str, measure: str):
        rows = [
            MeanRow(str(n), "", (("of", str(n % 2)),), True, STATES[s], {measure: 0.5}) for n, s in enumerate(states)
        ]
        scores = scores_of_means(rows, [measure], {"of": ("0", "1")})
        return scores["overall"]["all"].metric(measure).bounds, scores["of"]["1"].metric(measure).bounds

    assert bounds("rrrr", "accuracy") == (None, None)
    assert bounds("rrur", "accuracy") == ((0.375, 0.625), None)
    assert bounds("rrrf", "brier") == ((0.625, 0.375), (0.75, 0.25))  # the less, the better


STATES = {"r": "read", "u": "unreadable", "f": "failed"}


def test_where_all_answers_are_firm_the_table_says_nothing_of_bounds():
    announced = summarize(TASK, lambda: [record(1, 1, Answer(1, rule="announced"))], 1, None)
    assert announced.grades == {ANNOUNCED: 1} and announced.overall.metric("accuracy").firm is None
    assert grade_notes(announced) == ["Answers by grade: 100.0% announced."] and not reading_notes(announced)
    in_form = summarize(TASK, lambda: [record(1, 1, Answer(1, rule=IN_FORM))], 1, None)
    assert in_form.grades == {} and not grade_notes(in_form) and "grades" not in result_json(in_form)
    assert "firm" not in json.dumps(result_json(in_form))


def test_questions_with_choices_have_the_same_bounds(tmp_path):
    rows = [{"question": f"Which, {n}?", "choices": ["a", "b", "c"], "label": 0} for n in range(4)]
    (tmp_path / "mine.jsonl").write_text("\n".join(map(json.dumps, rows)))
    task = Questions(name="mine", path=str(tmp_path / "mine.jsonl"))
    items = list(task.items())
    answers = [Answer(0, rule=IN_FORM), Answer(0, rule="said"), Answer(2, rule="said"), Answer(1, rule="announced")]
    records = [
        made(item.id, item.cluster, item.groups, item.labels, "r", Response("words"), answer)
        for item, answer in zip(items, answers, strict=True)
    ]
    result = summarize(task, lambda: records, 1, None)
    assert result.overall["accuracy"] == 0.5 and result.overall.metric("accuracy").firm == (0.25, 0.75)


def test_the_grade_is_a_column_of_every_record_and_none_is_stored():
    line = Line.of_record(record(1, 1, Answer(1, rule="said")), "published", None)
    assert "grade" not in json.dumps(as_json(line)) and reply_columns(line)["grade"] == SAID
    page = Answers()
    page.add(0, line, True)
    assert page.json()["grade"] == [SAID]
