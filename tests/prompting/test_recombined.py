"""Replies put together from parts that each are read right: the truth is known by construction, whatever the parts."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from harness.prompting.reading import read

STATEMENTS = (
    "A directly causes B",
    "A is a cause for B, but not a direct one",
    "There exists at least one collider (i.e., common effect) of A and B",
    "There exists at least one confounder (i.e., common cause) of C and E",
    "D causes something else which causes A",
)
NEXT = ("Can we deduct the following", "Suppose there is a closed")
"""What the prompt says between its fields."""
OPENINGS = (
    "Let's go through the premise step by step.",
    "To decide this, we look at which graphs fit the relations.",
    "Okay, so I need to work this out.",
    "First, the given relations.",
    "Here is my analysis of the problem.",
    "Sure, let me think about it.",
    "**Analysis**",
)
RESTATED = (
    "We need to evaluate the hypothesis: {s}.",
    "The hypothesis is: {s}. More has to be looked at.",
    "There are two possibilities: {s}, or the reverse holds.",
    "({s})",
    "Hypothesis: {s}",
    "Let us check the claim: {s}.",
    'The claim in question is "{s}".',
    "The statement says that {s}.",
    "We are asked whether {s}.",
    "- Claim to test: {s}",
)
SECTIONS = (
    "## Premise\nA correlates with B, which is given.",
    "## Question\nWhich directions are settled?",
    "**Example**: smoke and fire correlate.",
    "Problem: the direction of the edge.",
    "Question 1: is correlation enough? It is not by itself.",
    "Suppose there is a closed system in which B causes A: this fits the relations.",
    "Step 1: list the independences. They hold for all pairs.",
    "Step 2: find the colliders. This is valid by faithfulness.",
    "Instruction recap: one word at the end.",
    "1. A and C are independent given B.\n2. B correlates with C.",
    "| pair | correlated |\n|---|---|\n| A, B | x |",
    "Is an edge between A and C needed? No.",
    "Is the skeleton settled? Yes.",
)
ASIDES = (
    "One shouldn't say {x} by default.",
    "At first glance one might say {x}.",
    'A naive reader would answer "{x}".',
    "It is tempting to answer {x} here.",
)
SAID = (
    ("Answer: {v}", "Yes", "No"),
    ("**Answer:** {v}", "Yes", "No"),
    ("Answer: **{v}**.", "Yes", "No"),
    ("### Answer\n{v}", "Yes", "No"),
    ("The final answer is {v}.", "Yes", "No"),
    ("So the answer is **{v}**.", "yes", "no"),
    ("<answer>{v}</answer>", "Yes", "No"),
    ('{{"answer": "{v}"}}', "Yes", "No"),
    ("\\boxed{{\\text{{{v}}}}}", "Yes", "No"),
    ("Antwort: {v}", "Ja", "Nein"),
    ("Respuesta: {v}.", "Sí", "No"),
    ("Réponse : {v}", "Oui", "Non"),
    ("Risposta: {v}", "Sì", "No"),
    ("Resposta: {v}", "Sim", "Não"),
    ("Ответ: {v}", "Да", "Нет"),
    ("答案:{v}", "是", "否"),
)
AFTERWARDS = (
    "",
    "",
    "Hope this helps!",
    "Let me know if you would like a longer explanation.",
    "Note: with another premise this might differ.",
    "(Causality is tricky.)",
)


CASES = (str, str, str.upper, str.lower)
FORM = "Answer: {answer}"


def drawn(draw: random.Random) -> tuple[dict[int | None, str], str]:
    """Return a statement and the reply about it by what it answers: Yes and its mirror, or nothing."""
    statement, case = draw.choice(STATEMENTS), draw.choice(CASES)
    asides = draw.sample(ASIDES, draw.choice((0, 0, 1)))
    middle = [draw.choice(RESTATED), *draw.sample(SECTIONS, draw.randint(0, 5)), *asides]
    draw.shuffle(middle)
    parts = [draw.choice(OPENINGS), *(part.replace("{s}", statement) for part in middle)]
    first, between = draw.choice((0, 1)), draw.choice(("\n\n", "\n"))
    words, yes, no = draw.choice(SAID) if draw.random() < 0.7 else ("", "", "")
    case = str if "\\" in words else case  # LaTeX has no capitals
    afterwards = draw.choice(AFTERWARDS) if words else ""
    replies = {}
    for label, verdict, aside in ((1, yes, first), (0, no, 1 - first)):
        said = [*parts, words.replace("{v}", verdict).replace("{{", "{").replace("}}", "}"), afterwards]
        reply = case(between.join(said).strip().replace("{x}", ("no", "yes")[aside]))
        replies[label if words else None] = reply
    return replies, statement


def misread(seed: int, draws: int) -> Iterator[tuple[int | None, int | None, str, str]]:
    """Yield what is read otherwise than it was put together, with the rule that read it, with and without a form."""
    draw = random.Random(seed)
    for _ in range(draws):
        replies, statement = drawn(draw)
        for truth, reply in replies.items():
            for form in ("", FORM):
                answer = read(reply, statement=statement, next_words=NEXT, form=form)
                if answer.label != truth:
                    yield truth, answer.label, answer.rule, reply


@pytest.mark.parametrize("seed", range(3))
def test_parts_in_any_order_are_read_as_they_were_put_together(seed):
    assert list(misread(seed, 200))[:3] == []


CHOICES = (
    ("A dog barked at night", "The alarm was set off", "Nothing happened", "A burglar came in"),
    ("yes", "no"),
    ("It rained.", "It snowed.", "The sun shone."),
    ("the stock fell because rates rose", "an election", "a strike, as planned", "I do not know", "none of these"),
)
BEFORE = (
    "Let us think about it. The options are:\n(A) {0}\n(B) {1}\n",
    "Option A is possible but less likely. Option B would need more.",
    "A is wrong because it came later.",
    "First, consider A: {0}. Then B: {1}.",
    "<think>The answer is A.</think>",
)
TAKEN = (
    "Answer: {l}",
    "<Answer>{l}</Answer>",
    "The answer is ({l}).",
    "Therefore, the correct answer is {l}.",
    "Final answer: {l}) {t}",
    '{{"answer": "{l}"}}',
    "So the best choice is {l}.",
    "I'd go with {l}.",
    "{l} is the correct answer.",
    "Answer: {t}",
    "Respuesta: {l}",
    "答案是{l}",
)
NEXT_ONE = ("", "", "\n\nHope this helps!", "\n\nQuestion: what then?\n(A) x\n(B) y\nAnswer: A")


@pytest.mark.parametrize("seed", range(3))
def test_a_choice_is_read_as_it_was_put_together_in_any_case(seed):
    draw = random.Random(seed)
    for _ in range(400):
        texts = draw.choice(CHOICES)
        place = draw.randrange(len(texts))
        before = [part.format(*texts) for part in draw.sample(BEFORE, draw.randint(0, 2))]
        line = draw.choice(TAKEN).format(l="ABCDE"[place], t=texts[place])
        reply = draw.choice((str, str.upper, str.lower))("\n".join([*before, line]) + draw.choice(NEXT_ONE))
        assert read(reply, choices=texts).label == place, reply


@pytest.mark.parametrize(
    "reply",
    [
        "Option {l} is less likely.",
        "Option {l} is not correct.",
        "{l} is wrong.",
        "The answer is not {l}.",
        "{l} or {m}",
        "Either {l} or {m}.",
        "{l}? {m}?",
        "The options are {l} and {m}.",
        "({l}) one. ({m}) another. I cannot tell.",
        "This leaves {l} as possible, but {m} too.",
        "Nothing happened is more likely than {l}, but less likely than {m}.",
        "So let us consider whether nothing happened.",
    ],
)
def test_what_takes_no_choice_is_none(reply):
    for letter, other in (("A", "B"), ("C", "A"), ("B", "D")):
        assert read(reply.format(l=letter, m=other), choices=CHOICES[0]).label is None


@pytest.mark.parametrize(
    ("reply", "place"),
    [
        ("Options A, B and D can be ruled out, which leaves C.", 2),
        ("It rained? No.\nA dog? Hardly.\n\nSo what is left is that the alarm was set off.", 1),
        ("It is more plausible that a burglar came in than that nothing happened.", 3),
        ("The alarm was set off (not a burglar came in).", 1),
    ],
)
def test_the_choice_that_is_left_or_concluded_is_taken(reply, place):
    assert read(reply, choices=CHOICES[0]).label == place


@pytest.mark.parametrize("marks", ["✗✓", "✘✔", "❌✅", "✖☑"])
@pytest.mark.parametrize("form", ["{w} {m}", "{m} {w}", "{w}: {m}", "{m} **{w}**", "- {w} {m}"])
@pytest.mark.parametrize("between", [" ", "\n", "; "])
def test_of_a_marked_list_the_ticked_one_is_read(marks, form, between):
    for words, asked in (
        (("Yes", "No"), {}),
        (("No", "Yes"), {}),
        (("A", "B"), {"choices": ("It rained", "A dog barked")}),
    ):
        for ticked in range(2):
            reply = between.join(form.format(w=word, m=marks[place == ticked]) for place, word in enumerate(words))
            expected = ticked if asked else int(words[ticked] == "Yes")
            assert read(reply, statement=STATEMENTS[0], **asked).label == expected, reply
