"""CLadder's words mean their labels: questions in other words of the same meaning have the same answer."""

from __future__ import annotations

import csv
import re
from importlib import resources

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from support.cladder_help import sample_questions

from harness.tasks.cladder.models import rounds
from harness.tasks.cladder.parse_text import read_question
from harness.tasks.cladder.stated import stated_answer
from harness.tasks.cladder.stories import every_words, invented, invented_names, orientations
from harness.tasks.text_models import UnreadableText

TURNED = {"positively": "negatively", "negatively": "positively"}

CONDITION = re.compile(r"(?:For|If we look at) [^.?]+?, (?:the|would|does) ")
SENTENCE = re.compile(r"We observed [^.]+\.|Would .+? if ")
FEW = settings(max_examples=6, phases=[Phase.generate])
"""A case has hundreds of questions: no smaller one is looked for."""


def directions():
    return {name: way for (name, _, _), way in orientations().items()}


def translated(question):
    """A question in invented words, phrase by phrase: a value's words by that value, a name by what it points to.

    None where a name by which a direction is asked for points nowhere.
    """
    story = question.model.story
    text = question.whole
    nouns, conditions, sentences, ways = {}, {}, {}, directions()
    for node, word in zip(story.graph.nodes, invented_names(), strict=False):
        mine, theirs = story.words[node], invented(word)
        nouns[mine.name.lower()] = word
        for phrases, part in (
            (conditions, "partial"),
            (conditions, "where"),
            (sentences, "sentence"),
            (nouns, "noun"),
        ):
            phrases |= {
                phrase.lower(): said for phrase, said in zip(getattr(mine, part), getattr(theirs, part), strict=True)
            }
        if mine.condition[0]:
            without, said = (words.condition[0].partition(" instead of ")[0] for words in (mine, theirs))
            nouns[without.lower()] = said
    text = "".join(
        _replaced(part, conditions if CONDITION.match(part) else sentences if SENTENCE.match(part) else nouns)
        for part in re.split(f"({CONDITION.pattern}|{SENTENCE.pattern})", text)
    )
    if re.search(r"(posi|nega)tively affect", text):
        pointing = {ways.get(story.words[node].name, "up") for node in "XY"}
        if "none" in pointing:
            return None
        if "down" in pointing:
            text = re.sub("|".join(TURNED), lambda match: TURNED[match[0]], text)
    return text


def _replaced(text, phrases):
    pattern = "|".join(map(re.escape, sorted(filter(None, phrases), key=len, reverse=True)))
    return re.sub(rf"\b(?:{pattern})\b", lambda match: phrases[match[0].lower()], text, flags=re.IGNORECASE)


def answer(text):
    """The answer to a text in invented words."""
    said = stated_answer(read_question(text))
    return None if said is None else int(said)


def assert_means_its_label(question):
    if question.ask.query == "ett" and question.stated is None:
        return  # where the words say what they should not, they are left as they are
    text = translated(question)
    if text is None:
        assert question.stated is None, question.text
    else:
        try:
            assert question.stated in (None, answer(text)), (question.text, text)
        except UnreadableText:  # one of the two values has no words of its own
            assert question.stated is None


@pytest.mark.slow
@FEW
@given(st.integers(0, 10**6), st.sampled_from(["commonsense", "hard", "anticommonsense", "nonsense"]))
def test_a_fresh_question_in_invented_words_of_the_same_meaning_has_the_same_answer(seed, variant):
    for model in next(rounds((variant,), seed)):
        for question in model.questions():
            assert_means_its_label(question)


def test_so_have_the_questions_of_the_authors():
    compared = 0
    for question in sample_questions()[::3]:
        assert_means_its_label(question)
        compared += question.stated is not None
    assert compared > 1200


@FEW
@given(st.integers(0, 10**6))
def test_fresh_questions_name_values_where_names_point_nowhere_and_so_none_is_left_open(seed):
    for model in next(rounds(("commonsense", "anticommonsense"), seed)):
        for question in model.questions():
            if question.ask.query in ("nie", "nde"):
                ways = {directions()[question.model.story.words[node].name] for node in "XY"}
                assert ("affect" not in question.text) == (ways != {"up"}) and not question.misleading


def test_penguins_whose_survival_is_their_death():
    found = {one.name: one for one in sample_questions() if one.name.startswith("penguin-mediation-n")}
    assert {question.stated for question in found.values()} == {None} and len(found) == 24
    model = next(one for one in next(rounds(("commonsense",), 0)) if one.cluster.startswith("penguin-mediation"))
    questions = {question.name.rpartition("0-")[2]: question for question in model.questions()}
    assert questions["nie-q0"].text == (
        "Does taking the elevator instead of taking the stairs make penguin death more likely through penguin mood?"
    )
    assert questions["nie-q0"].stated == int(questions["nie-q0"].value > 0)


def test_a_gender_or_a_captain_is_not_more_or_less_of_one():
    ways = directions()
    assert {ways[name] for name in ("gender", "my decision", "gene", "season", "husband", "the captain")} == {"none"}
    asked = read_question(
        "Imagine a world: Gender has a direct effect on occupation. Occupation has a direct effect on salary. For "
        "individuals who are not male, the probability of high salary is 50%. For individuals who are male, the "
        "probability of high salary is 70%. Does gender positively affect salary through occupation?"
    )
    assert asked.unclear == "'gender' does not tell which value is more" and stated_answer(asked) is None


def test_every_variable_of_a_story_is_judged_by_its_words_with_a_reason():
    shipped = {(words.name, *words.noun) for words in every_words() if words.name not in invented_names()}
    assert shipped == set(orientations()) and set(orientations().values()) == {"up", "down", "none"}
    assert len(directions()) == len({(name, way) for (name, _, _), way in orientations().items()})
    file = resources.files("harness") / "data" / "cladder" / "orientation.csv"
    assert all(row["reason"] for row in csv.DictReader(file.read_text().splitlines()))
