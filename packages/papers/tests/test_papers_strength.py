"""causalbench/strength: its questions, its truth, and what rankings are worth."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import fmean

import pytest
from harness_papers.mutual_information import Ranker
from harness_papers.ranking import named, ranking
from harness_papers.strength_scores import in_network, measures, others
from support.late import Late
from support.made_records import recorded
from support.openai_server import KEY, chat_reply
from support.thinned import few

from harness.prompting.prompts import load
from harness.settings import build
from harness.tasks.causalbench.networks import NETWORKS, meanings
from harness.tasks.causalbench.networks import load as load_network
from harness.types import ChatRequest, Failure, Response
from harness.verify import __main__ as verify

stats = Late("scipy.stats")


def strength(**settings):
    section = {"_target_": "harness_papers.strength.Strength", "name": "causalbench/strength", "prompts": ["closed"]}
    return build(section | settings, "task")


def asked(**settings):
    return {item.id: item for item in strength(**settings).items()}


def answered(item, reply):
    if isinstance(reply, Failure):
        return recorded(item, reply)
    return recorded(item, Response(reply), ranking(Response(reply)))


def worth(reply, question="asia/cause/dysp", **settings):
    return measures(answered(asked(networks="asia", **settings)[question], reply))


def test_two_questions_a_variable_in_the_words_of_figure_32():
    questions = asked(networks="all")
    assert len(questions) == 2 * 545 and {name.split("/")[0] for name in questions} == set(NETWORKS)
    prompt = load("causalbench/strength", "closed", ())
    request = prompt.render(questions["asia/cause/smoke"].fields, (), ChatRequest)
    assert request.max_tokens == 1000 and request.messages[1].content == (
        "Please answer the following question: Please rank the cause of smoke and please provide quantitatively the "
        "strength of each cause of smoke on a scale from 0 to 1."
    )


def test_a_closed_list_has_every_other_variable_in_an_order_that_tells_nothing():
    fields = asked(networks="asia", among="network", names="readable")["asia/effect/smoke"].fields
    listed = fields["candidates"].split("; ")
    assert len(listed) == 7 and "Smoking" not in listed and "Tuberculosis" in listed
    orders = [item.fields["candidates"] for item in asked(networks="asia", among="network").values()]
    assert len({tuple(order.split("; ")) for order in orders}) == len(orders)
    assert asked(networks="asia")["asia/cause/asia"].labels == {"our": 0}


def test_a_perfect_reply_has_every_measure_at_its_best():
    true = others("asia", "dysp", "cause")
    ranked = sorted(true, key=lambda name: -true[name])
    lines = [f"{place}. {name} ({true[name]:.6f})" for place, name in enumerate(ranked, start=1)]
    values = worth("\n".join(lines))
    assert values["ap_all"] == 1 == pytest.approx(values["spearman"])
    assert values["outside"] == 0 == values["mae_balanced"]


def test_a_reply_is_worth_what_a_hand_comes_to():
    # Direct: bronc, either. All: asia, tub, smoke, lung, bronc, either. xray is no cause, air pollution no variable.
    values = worth("1. Bronchitis (0.9)\n2. air pollution (0.7)\n3. EITHER (1.2)\n4. Chest X-ray (xray) (0.1)")
    assert values["ap_direct"] == pytest.approx((1 + 2 / 3) / 2)
    assert values["ap_all"] == pytest.approx((1 + 2 / 3) / 6) and values["outside"] == 0.25
    true = others("asia", "dysp", "cause")
    said = [{"bronc": 0.9, "either": 1.2}.get(name, 0) for name in true]
    assert values["spearman"] == pytest.approx(stats.spearmanr(list(true.values()), said).statistic)
    errors = [abs(strength - value) for strength, value in zip(true.values(), said, strict=True)]
    # The one other variable that is no cause, xray, is named with 0.1.
    assert values["mae_balanced"] == pytest.approx((sum(errors) / 6 + 0.1) / 2)


FORMS = {
    "the paper's": lambda names: [f"{k}. {x} (0.9): Reasons, as in 20% of cases (3 of 4).\n" for k, x in names],
    "bold": lambda names: [f"{k}. **{x}** (0.9) - because" for k, x in names],
    "after a dash": lambda names: [f"{k}. {x} - 0.9" for k, x in names],
    "dots": lambda names: [f"- {x}: 0.9" for _, x in names],
    "lines": lambda names: [f"{x}: 0.9" for _, x in names],
    "below": lambda names: [f"{k}. **{x}**\n   - Strength: 0.9" for k, x in names],
    "a table": lambda names: ["| Rank | Name | Strength |", "|--|--|--|", *(f"| {k} | {x} | 0.9 |" for k, x in names)],
    "JSON": lambda names: [json.dumps({x: 0.9 for _, x in names})],
}


@pytest.mark.parametrize("form", few(FORMS, 4))
def test_every_name_of_every_network_is_found_again(form):
    """They have commas, digits, clock times, hyphens and the words strength, with and or in them."""
    for network in NETWORKS:
        variables, words = load_network(network).variables, meanings(network).values()
        for names in (variables, [m.name for m in words], [m.within for m in words]):
            reply = "\n".join(FORMS[form](list(enumerate(names, start=1))))
            found = in_network(network, "", named(ranking(Response(reply))))
            assert found == [(variable, 0.9) for variable in variables], network


def test_what_a_reply_leaves_undefined_is_left_out_and_silence_is_not_rewarded():
    root = worth("1. smoke (0.9)", "asia/cause/asia")
    assert root["ap_all"] is root["spearman"] is root["mae_balanced"] is None
    empty = worth("None of them cause it.")
    assert empty["ap_all"] == empty["spearman"] == 0 and empty["outside"] is None
    # A constant tells nothing apart: 0, and not out of the mean.
    assert worth("\n".join(f"- {name}: 0.5" for name in others("asia", "dysp", "cause")))["spearman"] == 0


def test_scores_are_means_with_intervals_over_networks_and_over_variables_within_one():
    task = strength(scale="small")
    questions = list(task.items())
    replies = ["1. smoke (0.9)\n2. nothing else (0.1)", "?", Failure("timeout", "late"), "None."]
    records = [answered(item, replies[k % 4]) for k, item in enumerate(questions)]
    result = task.summarize(records)
    overall, asia = result.overall, result.scores["our"]["network"]["asia"]
    assert (overall.items, overall.clusters, overall.failed, overall.unreadable) == (70, 5, 17, 18)
    assert overall.metric("ap_all").no_interval == "fewer than 6 clusters"
    assert (asia.clusters, asia.unit) == (8, "variable") and asia.metric("ap_all").interval is not None
    values = [measures(record)["ap_all"] for record in records if record.answer is not None]
    defined = [value for value in values if value is not None]
    assert overall["ap_all"] == pytest.approx(sum(defined) / len(defined))
    assert "this project's" in result.notes[0]
    assert task.summarize(reversed(records)) == result


RUN = ("task=causalbench/strength", "task.networks=[asia,cancer]", "task.among=network", "cache.mode=off")


@pytest.mark.slow
def test_a_run_is_verified_and_ranked(harness, serve, tmp_path):
    server = serve(lambda path, body, number: chat_reply("1. smoke (0.9): x\n2. xray (0.4): y\n3. Stress (0.2): z"))
    model = ("model=openai", "model.model=gpt4", f"model.base_url={server.url}")
    assert harness(*RUN, *model, OPENAI_API_KEY=KEY).returncode == 0
    assert len(server.calls) == 26
    baseline = harness(*RUN, "model=mutual_information")
    assert baseline.returncode == 0 and "AP all" in baseline.stdout and "this project's" in baseline.stdout
    place = tmp_path / "results/causalbench/strength/among=network,networks=asia+cancer/closed"
    record = json.loads((place / "gpt4/records.jsonl").read_text().splitlines()[0])
    assert json.loads(record["answer"]["span"]) == [["smoke", 0.9], ["xray", 0.4], ["Stress", 0.2]]
    manifest = json.loads((place / "gpt4/manifest.json").read_text())
    assert "strengths" in json.dumps(manifest["configuration"])
    assert "2 of 2 runs hold" in harness("results", module="harness.verify").stdout
    board = harness("results", "out=-", module="harness.leaderboard").stdout
    assert "Best AP all first" in board and board.index("mutual_information") < board.index("| gpt4")


def ranked(items, *, among="network"):
    """Return what the baseline says to each item."""
    prompt = load("causalbench/strength", "closed", (), format=among)
    requests = [prompt.render(item.fields, (), ChatRequest) for item in items]
    return [outcome.text for outcomes in Ranker("information").respond(requests) for _, outcome in outcomes]


def test_the_baseline_ranks_every_other_variable_of_the_list_and_silence_does_not_beat_its_balanced_error():
    questions = asked(networks=["asia", "sachs", "child"], among="network")
    replies = dict(zip(questions, ranked(questions.values()), strict=True))
    # Of 500 observations: dyspnoea goes with bronchitis.
    first, *rest = named(ranking(Response(replies["asia/cause/dysp"])))
    assert first.name == "bronc" and len(rest) == 6

    def error(said):
        values = [measures(answered(item, said(name)))["mae_balanced"] for name, item in questions.items()]
        return fmean(value for value in values if value is not None)

    assert error(replies.get) < error(lambda name: "None of them.")
    # Without a list the question names the network where two have such a variable; the baseline has nothing to rank.
    question = asked(networks="child")["child/cause/Age"]
    assert "(in the network Child)" in str(question.fields["variable"])
    assert ranking(Response(*ranked([question], among=""))).label is None


SHIPPED = Path("causalbench/strength/among=network/closed/mutual_information")
RESULTS = Path(__file__).parents[1] / "results"


def test_the_run_that_ships_holds_as_far_as_it_can_be_said_without_its_records(capsys):
    verify.main([str(RESULTS)])
    assert f"{SHIPPED}: settings, items and prompt hold; no records" in capsys.readouterr().out


@pytest.mark.slow
def test_its_scores_are_made_again_and_means_over_items_are_not_compared(harness, tmp_path):
    model = ("task=causalbench/strength", "task.among=network", "model=mutual_information")
    assert harness(*model).returncode == 0
    again, shipped = (
        json.loads((place / SHIPPED / "result.json").read_text()) for place in (tmp_path / "results", RESULTS)
    )
    assert again["scores"] == shipped["scores"]
    assert harness(*model, "model.seed=1", "results=other").returncode == 0
    folders = sorted(str(file.parent) for file in tmp_path.rglob("records.jsonl"))
    refused = harness(*folders, module="harness.compare")
    assert refused.returncode == 1 and "scores that are means over items" in refused.stderr
