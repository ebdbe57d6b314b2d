"""Natural stories: read back, checked by rule, asked about; twelve ship."""

from __future__ import annotations

import json
import re

import pytest
from harness_papers.stories import builtin, check_story, claims, story, story_in
from harness_papers.story_text import read
from support.openai_server import KEY, chat_reply

from harness.config_files import prompt_files
from harness.errors import DataError
from harness.prompting.prompts import load
from harness.settings import build
from harness.types import ChatRequest, Response

# Table 7 of the paper, both stories.
ICE_CREAM = (
    "Suppose there is a closed system of 2 variables, ice cream sales and swimming pool attendance. All the "
    "statistical relations among these 2 variables are as follows: ice cream sales correlate with swimming pool "
    "attendance."
)
JUNK_FOOD = (
    "Let's consider three factors: eating junk food (A), obesity (C), and watching television (B). There is a "
    "correlation between eating junk food and obesity, and between watching television and obesity. However, eating "
    "junk food and watching television are independent from each other."
)
CLOSED = f"{JUNK_FOOD} There are no other factors."
REPLY = f"""Sure!

**Premise:** {JUNK_FOOD}

**Hypothesis:** Eating junk food directly affects obesity.

**Relation between the promise and hypothesis:** The premise provides the necessary conditions for the hypothesis."""


def task(kind, **settings):
    name = f"corr2cause/{'writing' if kind == 'StoryWriting' else 'stories'}"
    prompts = ["story"] if kind == "StoryWriting" else ["plain", "pair"]
    return build({"_target_": f"harness_papers.stories.{kind}", "name": name, "prompts": prompts, **settings}, "task")


def test_the_three_parts_of_a_reply_are_read():
    parts = story_in(story(Response(REPLY)))
    assert parts.premise == JUNK_FOOD and parts.hypothesis == "Eating junk food directly affects obesity."
    assert parts.explanation.startswith("The premise provides")
    assert story(Response(REPLY, finish_reason="length")).label is None
    assert story_in(story(Response("Premise: x\nHypothesis: y"))) is None


def test_the_papers_own_stories_pass_the_check():
    assert check_story(
        claims()["n2-g1-parent-A-B"], ICE_CREAM, "Ice cream sales directly affect swimming pool attendance."
    ).holds
    # The second leaves out that there is nothing else, and without that it does not follow: obesity and either of the
    # other two may have a hidden common cause.
    hypothesis = "Eating junk food directly affects obesity."
    assert check_story(claims()["n3-g6-parent-A-C"], JUNK_FOOD, hypothesis).problems == ["closed"]
    assert check_story(claims()["n3-g6-parent-A-C"], CLOSED, hypothesis).holds
    assert read(JUNK_FOOD).names == ("eating junk food", "watching television", "obesity")


@pytest.mark.parametrize(
    ("premise", "hypothesis", "problems"),
    [
        (CLOSED.replace("However, eating junk food and watching television are independent from each other.", ""),
         "Eating junk food directly affects obesity.", ["independences"]),
        (CLOSED.replace(", and between watching television and obesity", ""),
         "Eating junk food directly affects obesity.", ["correlations"]),
        (CLOSED, "Poverty directly affects obesity.", ["hypothesis", "read"]),
        (CLOSED, "Eating junk food might directly affect obesity.", ["hypothesis", "read"]),
        (f"{CLOSED} People like both.", "Eating junk food directly affects obesity.", ["read"]),
        ("People who watch television are obese.", "It causes obesity.",
         ["named", "correlations", "independences", "hypothesis", "closed", "read"]),
    ],
)  # fmt: skip
def test_what_a_story_leaves_out_is_told(premise, hypothesis, problems):
    assert check_story(claims()["n3-g6-parent-A-C"], premise, hypothesis).problems == problems


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("Rain, wet streets and haze are all correlated with one another.", 3),
        ("Rain is correlated with wet streets and haze.", 2),
        ("There is a strong link between rain and haze, and between haze and wet streets.", 2),
        ("Given haze, rain is correlated with wet streets.", 0),  # says nothing of the pair as such
    ],
)
def test_pairs_are_counted_in_many_ways_of_saying_them(text, pairs):
    assert len(read(f"There are three things: rain, haze and wet streets. {text}").correlated) == pairs


def test_twelve_stories_ship_and_hold():
    stories = list(builtin())
    assert len(stories) == 12 and len({story["premise"] for story in stories}) == 12
    test_split = {item.id for item in task("StoryWriting", num_nodes=[2, 3, 4, 5, 6]).items()}
    for told_story in stories:
        assert told_story["item"] in test_split
        assert check_story(claims()[told_story["item"]], told_story["premise"], told_story["hypothesis"]).holds
    items = task("Stories").items()
    assert sum(item.labels["published"] for item in items) == 4 and sum(item.labels["audited"] for item in items) == 5
    assert task("Stories").headline == "audited"
    assert {item.cluster for item in items} == {"n2-g1", "n3-g3", "n3-g6", "n3-g7", "n4-g31"}
    assert items[3].groups == {"relation": "parent", "num_nodes": "3"}


def test_the_query_is_the_papers_and_a_prompt_of_writing_alone():
    item = next(item for item in task("StoryWriting").items() if item.id == "n2-g1-parent-A-B")
    text = load("corr2cause/writing", "story", ()).render(item.fields, (), ChatRequest).messages[0].content
    assert text.startswith(
        "Here is a causal inference rule: Premise: Suppose there is a closed system of 2 variables, A"
    )
    assert "Hypothesis: A directly affects B. Relation between the promise and hypothesis: The premise does not" in text
    assert text.endswith(
        'Format it also as "Premise:", "Hypothesis:", and "Relation between the promise and hypothesis:."'
    )
    assert "story" in prompt_files("corr2cause/writing") and "plain" in prompt_files("corr2cause/stories")
    assert not [name for name in prompt_files("corr2cause") if "story" in name]


def test_a_file_has_to_be_of_stories(tmp_path):
    for row, said in (
        ({"item": "n9"}, "has no premise"),
        ({"item": "n9", "premise": "x", "hypothesis": "y"}, "no item"),
    ):
        (tmp_path / "s.jsonl").write_text(json.dumps(row))
        with pytest.raises(DataError, match=said):
            task("Stories", path=str(tmp_path / "s.jsonl")).items()


def storyteller(path, body, number):
    """Tell the rule's own premise with other names, or, of every third, something else."""
    rule = body["messages"][0]["content"]
    premise, hypothesis = re.search(r"Premise: (.*?) Hypothesis: (.*?) Relation", rule).groups()
    for letter, name in zip("ABCD", ("rain", "haze", "wind", "snow"), strict=True):
        premise, hypothesis = (re.sub(rf"\b{letter}\b", name, text) for text in (premise, hypothesis))
    premise = "Once upon a time it rained." if number % 3 == 2 else premise
    return chat_reply(f"Premise: {premise}\nHypothesis: {hypothesis}\nRelation between the promise and hypothesis: So.")


@pytest.mark.slow
def test_stories_are_written_and_asked_about(harness, serve, tmp_path):
    server = serve(storyteller)
    model = ("model=openai", "model.model=gpt4", f"model.base_url={server.url}")
    done = harness("task=corr2cause/writing", *model, "task.limit=9", OPENAI_API_KEY=KEY)
    assert done.returncode == 0 and "66.67" in done.stdout and len(server.calls) == 9, done.stdout + done.stderr
    (records,) = tmp_path.glob("results/corr2cause/writing/**/records.jsonl")
    asked = harness("task=corr2cause/stories", f"task.path={records.relative_to(tmp_path)}", "model=always_no")
    assert asked.returncode == 0 and "3 of 9 stories do not hold" in asked.stdout + asked.stderr
    assert "2 of 2 runs hold" in harness("results", module="harness.verify").stdout
