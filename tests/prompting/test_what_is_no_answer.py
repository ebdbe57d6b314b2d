"""What a reply holds beside its answer: thoughts left open, JSON cut off, options judged, the next question."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.prompting.parsing import verdict
from harness.prompting.reading import read
from harness.types import Response, ended

STATEMENT = "A directly causes B"
FORMS = ("", "Answer: {answer}", "{answer}")
NEXT = ("Can we deduct the following", "Let there be three variables")


def labels(reply: str, choices: tuple[str, ...] = (), cut_off: bool = False) -> set[int | None]:
    """The reading by each form that a prompt may ask for."""
    about = {"statement": STATEMENT, "next_words": NEXT, "choices": choices, "cut_off": cut_off}
    return {read(reply, form=form, **about).label for form in FORMS}


def mirrored(reply: str) -> str:
    swap = {"Yes": "No", "No": "Yes", "yes": "no", "no": "yes"}
    return " ".join(swap.get(word, word) for word in reply.split(" "))


THOUGHTS = {
    "<think>": "</think>",
    "<reasoning>": "</reasoning>",
    "[THINK]": "[/THINK]",
    "◁think▷": "◁/think▷",
    "<seed:think>": "</seed:think>",
    "<|begin_of_thought|>": "<|end_of_thought|>",
    "<|channel|>analysis<|message|>": "<|end|><|start|>assistant<|channel|>final<|message|>",
    "<|channel|>analysis": "<|channel|>final ",
    "<|channel>thought\n": "<channel|>",
    "<unused94>thought\n": "<unused95>",
    "&lt;think&gt;": "&lt;/think&gt;",
    "Thinking...\n": "\n...done thinking.\n",
    "analysis": "assistantfinal",
    "<think\n": "</think>\n",
    "think>\n": "</think>",
    "[THINK\n": "[/THINK]\n",
    "<seed:think\n": "</seed:think>",
}
IN_THOUGHT = ("Yes, A causes B.", "So it is yes.", "Is A a cause? Yes. Then no.", "**Yes**", "I would say Yes.")
AFTER = ("No.", "Answer: No", "**Answer:** No", "The answer is No.", "")


@given(st.sampled_from(list(THOUGHTS)), st.sampled_from(IN_THOUGHT), st.sampled_from(AFTER))
@settings(max_examples=60)
def test_nothing_is_read_from_thoughts_whatever_marks_them(mark, thought, after):
    assert labels(f"{mark}{thought}") == {None}
    assert labels(f"{mark}{thought}{THOUGHTS[mark]}{after}") == {0 if after else None}


@pytest.mark.parametrize("name", ["answer", "final_answer", "verdict", "conclusion"])
@pytest.mark.parametrize(
    "before",
    [
        '{"steps": ["Is A a cause? Yes."], ',
        '{"reasoning": "The answer is yes", ',
        '```json\n{"thoughts": "Answer: Yes", ',
        '{"steps": [{"question": "Is A adjacent?", "answer": "Yes"}], ',
        '{"steps": {"1": {"answer": "Yes"}}, ',
        '"reasoning": "Yes", ',
        "{'reasoning': 'Yes', ",
    ],
)
def test_json_without_the_value_of_its_answer_is_none(before, name):
    quote = "'" if "'" in before else '"'
    key = f"{quote}{name}{quote}"
    for rest in ("", quote, key[:-1], key, f"{key}: ", f"{key}: {quote}", f"{key}: {quote}N", f"{key}: null"):
        assert labels(before + rest) == labels(before + rest, cut_off=True) == {None}, rest
    for end in ("", "}"):
        assert labels(f"{before}{key}: {quote}No{quote}{end}") == {0}


@pytest.mark.parametrize("right", range(3))
@pytest.mark.parametrize(
    ("form", "wrong_word", "right_word"),
    [
        ("{letter}: {word}.", "wrong", "right"),
        ("{letter} - {word}", "incorrect", "correct"),
        ("Option {letter}: {word}.", "not correct", "correct"),
        ("**{letter}**: {word}", "implausible", "plausible"),
        ("{letter}. {word}, because of the cold.", "Wrong", "Right"),
        ("| {letter} | {word} |", "unlikely", "likely"),
        ("{letter}) {word}.", "No", "Yes"),
        ("({letter}) {word};", "less likely", "most likely"),
    ],
)
def test_of_options_that_are_judged_the_one_called_right_is_taken(form, wrong_word, right_word, right):
    choices = ("It rained", "It snowed", "It froze")

    def reply(*words: str) -> str:
        return "\n".join(form.format(letter=letter, word=word) for letter, word in zip("ABC", words, strict=True))

    words = [right_word if place == right else wrong_word for place in range(3)]
    assert labels(reply(*words), choices) == {right}
    assert labels(reply(*[wrong_word] * 3), choices) == labels(reply(*[right_word] * 3), choices) == {None}


@pytest.mark.parametrize("own", ["No", " No.", "Answer: No", "Reasons first.\nAnswer: No", "**Answer:** No."])
@pytest.mark.parametrize(
    "frame",
    [
        "\n\nQuestion: {q}\nAnswer: {a}",
        "\n\nPremise: {q}\nHypothesis: B causes A.\nAnswer: {a}",
        "\nHypothesis: {q}\nAnswer: {a}",
        "\n\nQ: {q}\nA: {a}",
        "\n\n### Question\n{q}\n### Answer\nAnswer: {a}",
        "\n\nUser: {q}\nAssistant: Answer: {a}",
        "\n\n2. Question: {q}\nAnswer: {a}",
        "\n\nExample 2:\nPremise: {q}\nAnswer: {a}",
        "\n\n**Question:** {q}\n**Answer:** {a}",
        "\n\n{q}\nCan we deduct the following: {q}\nAnswer: {a}",
        " Question: {q} Answer: {a}",
    ],
)
def test_a_base_model_that_goes_on_is_read_up_to_its_own_answer(own, frame):
    for again in ("Yes", "No"):
        reply = own + frame.format(q="Let there be three variables.", a=again)
        assert labels(reply) == labels(reply + frame.format(q="And four?", a="Yes")) == {0}, reply


@pytest.mark.parametrize(
    ("reason", "means"),
    [
        *((reason, "complete") for reason in ("", None, "stop", "STOP", "end_turn", "stop_sequence", "eos")),
        *((reason, "cut off") for reason in ("length", "max_tokens", "MAX_TOKENS", "pause_turn", "new_reason")),
        *((reason, "refused") for reason in ("content_filter", "refusal", "SAFETY")),
        *((reason, "tool call") for reason in ("tool_calls", "tool_use")),
    ],
)
def test_a_reply_is_complete_or_it_is_not(reason, means):
    assert ended(reason) == means
    said = [verdict(Response(text, finish_reason=reason or "")).label for text in ("So A causes B. Yes", "Answer: Yes")]
    complete, announced = means == "complete", means != "refused"
    assert said == [1 if complete else None, 1 if announced else None]
