"""harness show: a run's answers, ten at a time."""

import random
import re

import pytest
from support.compared_runs import put, record

from harness.show.__main__ import KINDS, main
from harness.types import Failure


@pytest.fixture
def shown(capsys):
    def call(*arguments, code=0):
        assert main(list(map(str, arguments))) == code
        output = capsys.readouterr()
        return output.out if code == 0 else output.err

    return call


@pytest.mark.parametrize("unreadable", ["wrong", "no"])
@pytest.mark.parametrize("seed", range(3))
def test_the_pages_of_a_kind_have_each_of_its_answers_once(tmp_path, shown, seed, unreadable):
    draw = random.Random(seed)
    answers = [draw.choice([0, 1, None, Failure("timeout", "late")]) for _ in range(40)]
    gold = [draw.randint(0, 1) for _ in answers]
    records = [record(n, answer, gold=gold[n]) for n, answer in enumerate(answers)]
    folder = put(tmp_path / "run", records, unreadable=unreadable)
    scored = [
        0 if answer is None and unreadable == "no" and not gold[n] else answer for n, answer in enumerate(answers)
    ]
    kinds = {
        "failed": [n for n, answer in enumerate(answers) if isinstance(answer, Failure)],
        "unreadable": [n for n, answer in enumerate(answers) if answer is None],
        "right": [n for n, answer in enumerate(scored) if answer == gold[n]],
        "all": [*range(40)],
    }
    kinds["wrong"] = [n for n in kinds["all"] if n not in kinds["right"] + kinds["failed"]]
    assert kinds.keys() == KINDS.keys()
    for kind, numbers in kinds.items():
        pages = [shown(folder, kind, f"page={page}") for page in range(1, 6)]
        found = re.findall(r"^\d+\. i(\d+) ", "".join(pages), flags=re.MULTILINE)
        assert list(map(int, found)) == numbers
        if numbers:
            assert f"of {len(numbers)} " in pages[0] and ("page=2 shows more" in pages[0]) == (len(numbers) > 10)


def test_an_answer_has_question_truth_reading_and_reply(harness, tmp_path):
    harness("model=always_yes", "task.limit=20", f"results={tmp_path}")
    (folder,) = tmp_path.glob("corr2cause/*/*/always_yes")
    text = harness(str(folder), "wrong", module="harness.show").stdout
    assert "Can we deduct the following:" in text and "right: No; read: Yes, in the form" in text and "reply: " in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "wrnog"], "run has no item 'wrnog' (did you mean 'wrong'?): say wrong, right"),
        ([], "give the folder of one run, and which answers"),
        ([".", "wrong"], "holds 2 runs: give the folder of one, such as"),
        (["nowhere", "wrong"], "there is no folder nowhere"),
        (["run", "i0x"], "run has no item 'i0x' (did you mean 'i0'?)"),
        (["run", "wrong", "page=0"], "page=0"),
    ],
)
def test_mistakes_are_one_sentence(tmp_path, monkeypatch, shown, arguments, message):
    monkeypatch.chdir(tmp_path)
    for name in ("run", "other"):
        put(tmp_path / name, [record(n, 1) for n in range(3)])
    error = shown(*arguments, code=1)
    assert message in error and error.count("\n") == 1
