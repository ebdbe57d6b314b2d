"""task=cladder/steps: what is asked, how replies to each step are read and judged, where each baseline breaks."""

from __future__ import annotations

import json
import time

import pytest
from support.openai_server import KEY, chat_reply
from support.thinned import few

from harness import evaluate
from harness.errors import ConfigError
from harness.plugins.cladder.metrics import STEPS
from harness.plugins.cladder.step_models import LadderArguer
from harness.plugins.cladder.step_questions import Case
from harness.plugins.cladder.step_reading import last_answer, worth
from harness.settings import build
from harness.types import Response
from harness.verify import __main__ as verify


def task(**settings):
    shipped = {"_target_": "harness.plugins.cladder.step_task.CLadderSteps", "name": "cladder/steps"}
    return build(shipped | {"prompts": ["asked"]} | settings, "task")


@pytest.fixture(scope="module")
def case():
    """Confounding, ATE: V1 = "gender", X = "treatment"; whole percents."""
    (item, *_) = task(graphs=["confounding"], queries=["ate"], limit=1).items()
    return Case.read(item.fields["text"])


def judged(step, reply, case, right=1):
    return worth(step, last_answer(Response(reply)), case, right)


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        ("Answer: X -> Y; V1 -> Y", "X -> Y; V1 -> Y"),
        ("So.\n\n**Answer:** P(Y=1)*P(X=1)", "P(Y=1)*P(X=1)"),
        ("Answer: 1\n\nNo, once more.\nFinal answer: 2", "2"),
        ("Answer:\n- X -> Y\n- V1 -> Y", "X -> Y; V1 -> Y"),
        ("the result is 2", ""),
        ("Answer:", ""),
        ("", ""),
    ],
)
def test_the_line_of_the_answer_is_read_whole(reply, words):
    assert last_answer(Response(reply)).span == words
    assert last_answer(Response(reply, finish_reason="length")).label is None


@pytest.mark.parametrize("perturbation", ["none", "letters"])
def test_right_replies_are_right_and_no_answer_stands_in_a_question(perturbation):
    items = list(task(limit=60, perturbation=perturbation).items())
    assert [item.fields["step"] for item in items] == [*STEPS] * 60 and len({item.id for item in items}) == 420
    for item in items:
        place = STEPS.index(item.fields["step"])
        assert len(item.fields["earlier"]) == place == item.fields["answered"].count("\nAnswer: ")
        assert "Answer: " not in item.fields["question"].replace('"Answer: ', "")
        case = Case.read(item.fields["text"])
        right = item.labels["stated"]
        assert worth(item.fields["step"], last_answer(Response(case.reply(item.fields["step"]))), case, right).exact
    assert {item.groups["query"] for item in items} >= {"average treatment effect", "natural indirect effect"}


def test_edges_are_a_set_by_letters_or_names(case):
    names = case.names
    for reply in (
        "V1 -> X; V1 -> Y; X -> Y",
        "X → Y, Y ← V1, V1 → X",
        f"{names['V1']} -> X; V1 -> {names['Y']}; x -> y",
    ):
        assert judged("graph", f"Answer: {reply}", case) == (True, 1.0)
    assert judged("graph", "Answer: V1 -> X; V1 -> Y; Y -> X", case) == (False, pytest.approx(2 / 3))
    assert judged("graph", "Answer: V1 -> X; V1 -> Y; X -> Y; X -> Z", case) == (False, pytest.approx(6 / 7))
    assert judged("graph", "no idea", case) == (False, 0.0)


@pytest.mark.parametrize(
    ("step", "reply", "right"),
    [
        ("kind", "Average Treatment Effect (ATE).", True),
        ("kind", "ATE", True),
        ("kind", "effect of the treatment on the treated", False),
        ("kind", "average treatment effect or natural direct effect", False),
        ("formal", "E[Y|do(X=1)] - E[Y|do(X=0)]", True),
        ("formal", "ATE = P(Y_{X=1}=1) - P(Y_{X=0}=1)".removeprefix("ATE = "), True),
        ("formal", "P(Y=1|X=1) - P(Y=1|X=0)", False),
        ("estimand", r"$\sum_{V1} P(V1) [P(Y=1|X=1,V1) - P(Y=1|X=0,V1)]$", True),
        ("estimand", "P(Y=1|do(X=1)) - P(Y=1|do(X=0)) = Σ_v P(V1=v) [P(Y=1|X=1,V1=v) − P(Y=1|X=0,V1=v)] = 0.2", True),
        ("estimand", r"\sum_{V1} P(Y=1,X=1,V1)/P(X=1|V1) - \sum_{V1} P(Y=1,X=0,V1)/P(X=0|V1)", True),
        ("estimand", "E[Y|do(X=1)] - E[Y|do(X=0)]", False),
        ("estimand", "P(Y=1|X=1) - P(Y=1|X=0)", False),
        ("estimand", "the back-door formula", False),
    ],
)
def test_kinds_and_expressions(step, reply, right, case):
    assert judged(step, f"Answer: {reply}", case).exact is right


def test_data_and_number_are_right_within_the_printed_rounding(case):
    right = case.reply("data")
    first, *others = right.removeprefix("Answer: ").split("; ")
    left, number = first.rsplit(" = ", 1)
    as_percent = f"{left} = {100 * float(number):.0f}%"
    other_side = f"{left.replace('=1', '=0', 1)} = {1 - float(number):.2f}"
    for entry in (as_percent, other_side):
        assert judged("data", "Answer: " + "; ".join([entry, *others]), case) == (True, 1.0)
    assert not judged("data", "Answer: " + "; ".join(others), case).exact
    assert not judged("data", right + "; P(X=1) = 0.5", case).exact
    assert judged("data", right.replace(number, f"{float(number) + 0.02:.2f}", 1), case).f1 < 1
    for off, within in ((0, True), (0.004, True), (0.2, False), (-2 * case.value - 0.1, False)):
        assert judged("number", f"Answer: {case.value + off:.4f}", case).exact is within
    assert judged("number", f"Answer: about {100 * case.value:.1f} %", case).exact


def test_of_independent_variables_zero_is_right_and_so_is_what_the_percents_come_to():
    for item in task(graphs=["collision"], queries=["correlation"], limit=12).items():
        case = Case.read(item.fields["text"])
        assert judged("number", "Answer: 0", case).exact and judged("estimand", "Answer: 0", case).exact
        (x,), (without, both) = case.printed.values()
        assert judged("number", f"Answer: {both / x - without / (100 - x):.2f}", case).exact


@pytest.mark.parametrize(
    "words",
    few(
        [
            "",
            "(" * 50_000,
            "X -> Y; " * 12_000,
            "P(Y=1|X=1) = 0.5; " * 5_000,
            "= " * 40_000,
            "\x00{}[]",
            "P(" * 9,
            "1e999",
        ],
        4,
    ),
)
def test_no_reply_is_a_crash_or_takes_long(words, case):
    begun = time.process_time()
    for step in STEPS:
        assert judged(step, f"Answer: {words}", case) is not None
    assert time.process_time() - begun < 2


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    results = str(tmp_path_factory.mktemp("steps"))
    return {
        model: evaluate(model=model, task="cladder/steps", given=given, limit=50, results=results)
        for model, given in (("steps_right", "own"), ("adjusts_for_nothing", "truth"))
    }


@pytest.mark.slow
def test_each_baseline_breaks_where_it_should(runs):
    right = runs["steps_right"].result.scores["stated"]
    assert right["overall"]["all"]["ladder_exact"] == right["overall"]["all"]["ladder_first_nowhere"] == 1
    assert right["step"]["answer"]["ladder_own"] == 1
    scores = runs["adjusts_for_nothing"].result.scores["stated"]
    assert {step: scores["step"][step]["ladder_exact"] for step in STEPS if step != "estimand"} == {
        step: 1 for step in STEPS if step != "estimand"
    }
    assert 0 < scores["step"]["estimand"]["ladder_exact"] < 1
    assert scores["step"]["answer"]["ladder_own"] is None  # no reply saw its own number
    for graph, wrong in (("chain", 0), ("fork", 0), ("confounding", 1)):  # what there is to adjust for
        found = scores["graph"][graph]["ladder_first_estimand"]
        assert (found > 0) is bool(wrong)
    assert scores["query"]["natural direct effect"]["ladder_first_estimand"] == 1
    assert scores["rung"]["1"]["ladder_first_nowhere"] == 1
    assert (
        scores["rung_step"]["rung 3, estimand"]["ladder_exact"]
        < 1
        == scores["rung_step"]["rung 3, data"]["ladder_exact"]
    )
    assert scores["query_step"]["natural direct effect, estimand"]["ladder_exact"] == 0


@pytest.mark.slow
def test_a_run_is_verified_as_its_parser_is_that_of_a_plug_in(runs):
    assert verify.main([str(runs["adjusts_for_nothing"].folder)]) == 0


def test_a_chain_goes_on_from_its_own_replies_and_a_failed_call_breaks_it(serve, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    arguer, bodies = LadderArguer("adjusts_for_nothing", "any"), []

    def reply(path, body, number):
        bodies.append(body)
        users = [message["content"] for message in body["messages"] if message["role"] == "user"]
        return chat_reply("I cannot say." if "Step 6" in users[-1] else arguer.answer("\n\n".join(users)))

    run = evaluate(
        model="gpt4", task="cladder/steps", limit=3, results=str(tmp_path), graphs="chain",
        **{"model.base_url": serve(reply).url, "cache.path": str(tmp_path / "answers.sqlite")},
    )  # fmt: skip
    assert len(bodies) == 21 == len({json.dumps(body["messages"]) for body in bodies})
    longest = max(bodies, key=lambda body: len(body["messages"]))["messages"]
    assert [message["role"] for message in longest] == ["user", "assistant"] * 6 + ["user"]
    scores = run.result.scores["stated"]
    assert scores["step"]["number"].unreadable == 3 and scores["overall"]["all"]["ladder_first_number"] == 1


@pytest.mark.parametrize(("number", "own"), few([(-0.3, 0), (0.3, 1), (0.004, None), ("none", None)], 2))
def test_the_last_answer_is_held_against_the_number_before_it(number, own, serve, tmp_path, monkeypatch):
    """An effect's number is turned round before a question whose answer is Yes: who says Yes all the same is caught."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    arguer = LadderArguer("steps_right", "any")

    def reply(path, body, _):
        words = "\n\n".join(message["content"] for message in body["messages"] if message["role"] == "user")
        if "Step 7" in words or "Step 6" not in words:
            return chat_reply(arguer.answer(words))
        value = Case.read(words).value
        return chat_reply(f"Answer: {number if number == 'none' else number * (1 if value > 0 else -1)}")

    run = evaluate(
        model="gpt4", task="cladder/steps", limit=3, results=str(tmp_path), queries="ate",
        **{"model.base_url": serve(reply).url, "cache.path": str(tmp_path / "answers.sqlite")},
    )  # fmt: skip
    assert run.result.scores["stated"]["step"]["answer"]["ladder_own"] == own


def test_settings_that_mean_nothing_are_refused():
    for settings in ({"queries": ["backadj"]}, {"labels": "exact"}, {"split": "balanced1000"}):
        with pytest.raises(ConfigError):
            task(**settings)
