"""A judge audits the rules, reads questions with choices, is held to its words and never sees thoughts."""

from __future__ import annotations

import json

import pytest
from support.judge_help import JUDGED, VAGUE, command, judges, replies, words
from support.made_records import made
from support.openai_server import KEY, chat_reply

from harness.scoring.audit import audit_note, audited_sample, verdict
from harness.scoring.samples import summarize
from harness.storage.result_json import result_from_json, result_json
from harness.storage.runs import load
from harness.tables.results import judge_notes
from harness.tasks.corr2cause import Corr2Cause
from harness.types import Answer, Failure, Judgement, Response

PLACE = "results/corr2cause/limit=60,judge=careful/plain/gpt4"
SECRET = "the thought that nobody is to see"


def readings(asked: str):
    """The judge reads most of what the rules read as No as it is, and every third statement as Yes."""
    known = next((JUDGED[text] for text in JUDGED if text in asked), None)
    return chat_reply(json.dumps({"answer": known or ("yes" if sum(asked.encode()) % 3 else "no")}))


def thinking(path, body, number):
    if judges(body):
        return readings(words(body))
    reply = replies()(path, body, number)
    message = reply["choices"][0]["message"]
    message["content"] = f"<think>{SECRET}</think>{message['content']}"
    return reply


@pytest.mark.slow
def test_a_sample_of_what_the_rules_read_is_audited_and_scores_stay(harness, serve, tmp_path):
    server = serve(thinking)
    planned = harness(*command(server, "dry_run=true"), OPENAI_API_KEY=KEY)
    assert "those in which no answer is read, and 50 of the others" in planned.stdout, planned.stderr
    done = harness(*command(server), OPENAI_API_KEY=KEY)
    assert done.returncode == 0, done.stderr
    to_judge = [call for call in server.calls if judges(call)]
    assert not any(SECRET in json.dumps(call) for call in to_judge)
    assert all("response_format" in call for call in to_judge)
    run = load(tmp_path / PLACE)
    audited = [r for r in run.records() if r.judge is not None and r.answer.rule != "judge" and r.answer.span]
    count = 60 - run.result.judge.replies
    assert sum(run.result.judge.audit.values()) == len(audited) == count
    assert {(r.item, r.sample) for r in audited} == audited_sample(run.records(), 50)
    assert all(r.answer.label == 0 for r in audited)  # as the rules have it
    wrong = sum(json.loads(r.judge.outcome.text)["answer"] == "yes" for r in audited)
    shown = " ".join(done.stdout.split())
    assert wrong and f"the judge careful reads {wrong} otherwise: an error rate of {wrong / count:.1%} [" in shown
    assert f"Its errors lean to No: {wrong} wrong No, 0 wrong Yes." in shown
    assert run.result.judge.without.unreadable == run.result.judge.replies
    asked = len(server.calls)
    assert harness(*command(server), OPENAI_API_KEY=KEY).returncode == 0 and len(server.calls) == asked
    verified = harness(PLACE, module="harness.verify")
    assert verified.returncode == 0, verified.stdout


@pytest.mark.slow
def test_a_judge_reads_questions_with_choices(harness, serve, tmp_path):
    rows = [{"question": f"What made it {n}?", "choices": ["Rain.", "Sun."], "label": 1} for n in range(6)]
    (tmp_path / "mine.jsonl").write_text("\n".join(map(json.dumps, rows)))

    def reply(path, body, number):
        if judges(body):
            return chat_reply("B" if VAGUE in words(body) else "A and B")
        return chat_reply(VAGUE if "0?" in words(body) or "1?" in words(body) else "It depends.")

    server = serve(reply)
    settings = [part for part in command(server) if part != "task.limit=60"]
    done = harness(*settings, "task=questions", "task.path=mine.jsonl", "prompt=choices", OPENAI_API_KEY=KEY)
    assert done.returncode == 0, done.stderr
    asked = words(next(call for call in server.calls if judges(call)))
    assert "A. Rain." in asked and "B. Sun." in asked and "What made it" in asked
    (place,) = tmp_path.rglob("result.json")
    result = load(place.parent).result
    assert (result.judge.yes, result.judge.unreadable, result.judge.not_words) == (2, 4, 4)
    assert result.overall["accuracy"] == pytest.approx(2 / 6) and result.grades == {"judged": 2}
    assert "4 of them as its own reply is none of its words" in " ".join(done.stdout.split())
    verified = harness(str(place.parent), module="harness.verify")
    assert verified.returncode == 0, verified.stdout


@pytest.mark.parametrize(
    ("text", "choices", "label", "known"),
    [
        ('{"answer": "yes"}', 0, 1, True),
        ("<think>no</think>**No**.", 0, 0, True),
        ("unreadable", 0, None, True),
        ("it says yes", 0, None, False),
        ("(b)", 3, 1, True),
        ("D", 3, None, False),
        ('{"answer": "none"}', 3, None, True),
    ],
)
def test_what_a_judge_says_is_one_of_its_words_or_nothing(text, choices, label, known):
    assert verdict(Response(text), choices) == (label, known)


def test_the_sample_is_the_same_in_any_order_and_of_replies_in_words_alone():
    records = [made(str(n), "c", {}, {"l": 1}, "r", Response("Yes"), Answer(1, rule="opening")) for n in range(30)]
    others = [made("a", "c", {}, {"l": 1}, "r", Response("?"), Answer(None))]
    others += [made("b", "c", {}, {"l": 1}, "r", Response("", {"Yes": 0.0}), Answer(1))]
    sample = audited_sample([*others, *records], 5)
    assert len(sample) == 5 and sample == audited_sample([*reversed(records), *others], 5)
    assert audited_sample([*records, *others], 99) == {(r.item, 0) for r in records}


def test_errors_count_what_tells_something_and_lean_where_they_lean():
    audit = {"1/1": 30, "1/0": 4, "1/nothing": 1, "0/0": 14, "0/1": 1, "0/failed": 2, "1/not a word": 3}
    note = audit_note(audit, "the judge j", choices=False)
    assert "Of 50 replies" in note and "reads 6 otherwise" in note
    assert "12.0% [5.6%, 23.8%]" in note and "lean to Yes: 5 wrong Yes, 1 wrong No" in note
    assert "lean" not in audit_note(audit, "the judge j", choices=True) and not audit_note({}, "j", choices=False)
    assert note.endswith(
        "2 had no reading, as the call failed, 3 had a reading that is none of its words: they count as neither."
    )
    assert "2 had no reading" in audit_note({"1/failed": 2}, "the judge j", choices=False)


def test_a_failed_call_of_the_audit_is_told_by_its_kind():
    judgement = Judgement("j", failure=Failure("timeout", ""))
    answer = Answer(1, rule="opening")
    one = made("1", "c", {}, {"published": 1}, "r", Response("Yes"), answer, judge=judgement)
    task = Corr2Cause(name="corr2cause", prompts=("plain",), limit=4)
    result = summarize(task, lambda: [one], 1, "careful")
    assert result.judge.audit_failures == {"timeout": 1} and not result.judge.failures
    assert result_from_json(json.loads(json.dumps(result_json(result)))).judge == result.judge
    assert any("1 had no reading, as the call failed" in note for note in judge_notes(result))
