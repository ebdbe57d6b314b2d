"""What `verdict`, `choice` and `entailment` read, and what they must leave unread."""

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.prompting.parsing import choice, entailment, verdict
from harness.types import Answer, Response


def read(text: str, finish_reason: str = "stop") -> int | None:
    return verdict(Response(text, finish_reason=finish_reason), statement="A directly causes B").label


SHORT = [
    ("Yes", 1),
    ("yes", 1),
    (" YES!", 1),
    ("Yes.", 1),
    ("Yes,", 1),
    ("Yes</s>", 1),
    ("**Yes**", 1),
    ("- Yes", 1),
    ("(Yes)", 1),
    ("\n\nYes.\n", 1),
    ("Yes, because B mediates the effect.", 1),
    ("Yes, we can deduct that A directly causes B.", 1),
    ("Yes! No other variable can explain the correlation.", 1),
    ("Answer: yes", 1),
    ("### Response:\nYes", 1),
    ("Assistant: Yes.", 1),
    ("The answer is yes because A and B have no common cause.", 1),
    ("No", 0),
    ("No.", 0),
    ("No,", 0),
    ("NO", 0),
    ('"No."', 0),
    ("“No.”", 0),
    ("'No'", 0),
    ("`No`", 0),
    ("__No__", 0),
    ("No</s>", 0),
    ("No (A and B are only correlated)", 0),
    ("No, we cannot.", 0),
    ("No - A and B may have a common cause.", 0),
    ("No — correlation is not causation.", 0),
    ("No\n\nExplanation: A and B could have a common cause.", 0),
    ("No because correlation does not imply causation", 0),
    ("No it does not", 0),
    ("Well, no.", 0),
    ("Answer: no", 0),
    ("Answer:No", 0),
    ("**Answer**: No", 0),
    ("**Answer:** No.", 0),
    ("Final answer: **No**", 0),
    ("My verdict would be: No.", 0),
    ("The answer is: No, it cannot be deduced.", 0),
    ("The answer is no in this case, as C may confound the two.", 0),
    (r"\boxed{No}", 0),
    (r"So we get $\boxed{\text{No}}$. The graph is not identified.", 0),
    ("## Answer\n\nNo\n\n## Explanation\n\nThe class of graphs holds more than one member.", 0),
]

CHAINS = [
    # Ends in the words themselves.
    ("A and B are correlated. No variable separates them. Hence, yes.", 1),
    ("Step 1: find the skeleton.\nStep 2: find the colliders.\n\nTherefore, the answer is yes.", 1),
    ("1. A – C – B is unshielded.\n2. C is not in the separating set.\n\n**Answer: Yes**", 1),
    ("## Analysis\n- A is independent of B\n- C depends on both\n\n## Conclusion\n\nYes, C is a collider.", 1),
    ("We look at the triples first. **Yes**\n\n---", 1),
    ("Is A adjacent to B? Yes. Is C a collider? No. So we can orient it.\n\nAnswer: Yes", 1),
    ("No variable is independent of D. We orient C → D.\nAnswer: Yes", 1),
    ("No, wait. Let me look at C again: it is a collider.\n\nAnswer: Yes", 1),
    ("If the answer is no, then C would not be a collider, but it is. The answer is yes.", 1),
    ("Yes, they are correlated, but that is not enough.\n\nAnswer: No", 0),
    ("First, A is correlated with B. Yes, there could be a path. Still, the direction is open. So, no.", 0),
    ("Some of the graphs have the edge, others do not. Thus, no, it cannot be deduced.", 0),
    ("There is no path from A to B. So the correct answer is No.", 0),
    ("It could be that the answer is yes, if C is a cause. But that is unknown. The answer is no.", 0),
    ("<b>Conclusion</b>: No, since the edge may be reversed.", 0),
    # Ends in a sentence that says it.
    ("A and D are dependent. Therefore, we cannot deduce that A directly causes B.", 0),
    ("Therefore, we cannot definitively conclude that A directly causes B.", 0),
    ("A – B can point either way, so we can't infer that A is a cause of B.", 0),
    ("Therefore, it cannot be deduced that A is a cause for B, but not a direct one.", 0),
    ("Thus it can not be inferred from the given information.", 0),
    ("Since A and B are not independent, we cannot conclude that A causes B.", 0),
    ("We cannot deduce that A directly causes B, as the relation is not directed.", 0),
    ("Hence it is not possible to deduce that A directly causes B.", 0),
    ("So the hypothesis is not necessarily true.", 0),
    ("Therefore the hypothesis is invalid.", 0),
    ("Therefore, the statement does not necessarily follow.", 0),
    ("Both graphs fit. The conclusion doesn’t follow.", 0),
    ("C is the only collider in every graph of the class, so the statement is valid.", 1),
    ("Therefore, we can deduce that A directly causes B.", 1),
    ("As C is not in the separating set, it can be deduced that C is a collider.", None),  # the hypothesis is another
    ("As C is not in the separating set, it can be deduced that A directly causes B.", 1),
    ("**Conclusion**\n\nThe hypothesis is therefore true.", 1),
    ("All graphs of the class agree, and the hypothesis holds.", 1),
    ("It is not true that this cannot be deduced.", 1),
    # Yes and no only on the way; the end concludes nothing.
    ("No variable is independent of the others.", None),
    ("No other variable explains the correlation between A and B.", None),
    ("No one knows.", None),
    ("Conclusion: No collider lies between A and B.", None),
    ("Is A correlated with B? Yes. Is that enough? We would have to look at C.", None),
    ("Yesterday I saw a graph like this.", None),
    ("If yes, then C would be a collider.", None),
    ("This is not a yes-or-no question.", None),
    ("The answer is not yes.", 0),
    ("I cannot give a clear yes.", None),
    ("The answer would be yes if there were no other variables.", None),
    ("So, can we deduce that A directly causes B?", None),
    ("So the question is: can we deduce that A directly causes B?", None),
    ("Correlation alone says nothing about direction.", None),
]

# "We can conclude" and "we cannot conclude" decide only where they are about what was asked.
OTHER_CONCLUSIONS = [
    "We can conclude that there is no direct effect of A on B.",
    "From this, we can deduce nothing about A and B.",
    "Nothing can be deduced from this.",
    "We can conclude that there is insufficient information.",
    "We can conclude that A and B are correlated.",
    "We can conclude that A and C are independent given B.",
    "We can conclude that A may cause B.",
    "It can be deduced only if C is no collider.",
    "If A were adjacent to B, it could be deduced that A causes B.",
    "It is unclear whether it can be deduced.",
    "We cannot conclude that A does not cause B.",
    "We cannot conclude that the hypothesis is false.",
]

UNREADABLE = [
    "",
    " \n\t ",
    "…",
    "***",
    "Yes and no.",
    "Yes or no?",
    "Yes/No",
    "yes, no, yes, no",
    "Yes.\nNo.\nYes.\nNo.",
    "Yes\n- No",
    "No or yes",
    "Answer: Yes or No",
    "Answer: Yes and no.",
    "The answer is yes or no.",
    "Yes, but only if there are no hidden variables.",
    "It depends.",
    "It depends on the direction of the edge between A and C.",
    "Maybe",
    "Perhaps.",
    "Possibly, but more information is needed.",
    "I don't know.",
    "I'm sorry, I can't help with that.",
    "I'm sorry, but I cannot assist with this request.",
    "I cannot determine",
    "I cannot determine whether A causes B without more data.",
    "As an AI language model, I have no access to the data.",
    "Sure! Let me know if you have further questions.",
    'Just answer "Yes" or "No."',
    'Can we deduct the following: A directly causes B? Just answer "Yes" or "No."\n\nAnswer:',
    'End with a line that says "Answer: Yes" or "Answer: No".',
    "Please answer with a simple yes or no.",
    "A A A A A A A A",
    "A correlates with B. B correlates with C. However, A is independent of C.",
    "Nobody",
    "nope-ish",
    "Не знаю.",
    "这取决于变量之间的关系。",
    "Ich weiß es nicht.",
    "No sé qué decir sobre A y B.",
    "\ufffd\ufffd\x00 1 1 1",
]


@pytest.mark.parametrize(("text", "label"), SHORT)
def test_short_replies(text, label):
    assert read(text) == label


@pytest.mark.parametrize(("text", "label"), CHAINS)
def test_chains_of_thought(text, label):
    assert read(text) == label


@pytest.mark.parametrize("text", OTHER_CONCLUSIONS)
def test_a_conclusion_about_something_else_is_no_verdict(text):
    assert read(text) is None


@pytest.mark.parametrize("text", UNREADABLE)
def test_what_cannot_be_read_is_none(text):
    assert read(text) is None


@pytest.mark.parametrize("text", ["Not necessarily.", "Not necessarily. A and B may have a common cause."])
def test_not_necessarily_is_no(text):
    # The question is whether the statement can be deduced, that is, whether it follows of necessity. To deny
    # just that is to say No; "maybe" and "it depends" are not, for they may stand for "I did not work it out".
    assert read(text) == 0


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("<think>Yes? No. The answer is yes.</think>No", 0),
        ("<think>\nThe answer is no.\n</think>\n\nYes, it follows.", 1),
        ("<THINK>the answer is no</THINK>\nYes", 1),
        # Chat templates that put the opening tag into the prompt.
        ("so the answer is no\n</think>\n\n**Yes**", 1),
        ("<think>The answer is yes.</think>", None),
        ("<think>The answer is yes.", None),
        ("<think>\nOkay, so the answer is no. Wait", None),
        ("<think>a</think>Hmm.<think>Answer: yes", None),
    ],
)
def test_reasoning_is_not_the_reply(text, label):
    assert read(text) == label


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Yes, because A and B are correlated and there is no", 1),
        ("No, we cannot. Let us look at the", 0),
        ("Answer: No\nExplanation: Since A and B can", 0),
        # Prompts with max_tokens: 1 cut every reply here; reading only the Yes of them would bias the score.
        ("No", 0),
        ("Yes", 1),
        ("Let us see. A causes B. So, yes", None),
        ("A is a collider. Therefore, we cannot deduce", None),
        ("A and B are adjacent. The hypothesis is true", None),
        ("Let's think step by step. First, no variable", None),
        ("No variable", None),
    ],
)
def test_a_reply_cut_off_at_its_token_limit(text, label):
    assert read(text, finish_reason="length") == label


def test_the_cut_alone_makes_the_last_sentence_unreadable():
    assert read("A is a parent. So, yes") == 1
    assert read("A is a parent. So, yes", finish_reason="length") is None


@pytest.mark.parametrize(
    ("text", "label"),
    [
        (" No.\n\nQuestion: Suppose there are 3 variables. Can we deduct it?\n\nAnswer: Yes", 0),
        (" Yes\n\nQ: What is A?\nA: no", 1),
        (" Answer: No\n\nQuestion 2: the next\n\nAnswer: Yes", 0),
        # An instructed model that restates the question before it answers.
        ('Question: Can we deduct it? Just answer "Yes" or "No."\n\nAnswer: No', 0),
        # Questions that a chain of thought asks on its way.
        ("Let us see.\nQuestion: is A a cause? Answer: No.\nQuestion: is B a cause?\nAnswer: Yes", 1),
    ],
)
def test_the_next_question_of_a_base_model_is_not_ours(text, label):
    assert read(text) == label


def test_the_deciding_words_are_kept():
    assert verdict(Response("A – B is open.\n**Final answer:** No")) == Answer(0, span="answer: no", rule="announced")
    assert verdict(Response("So we cannot deduce it.")).span == "we cannot deduce it"


@given(st.text(), st.sampled_from(["", "stop", "length"]))
def test_any_text_is_read_without_an_error(text, finish_reason):
    assert read(text, finish_reason) in (0, 1, None)


SYLLABLES = ["yes", "no", " ", "\n", ".", "?", "answer", ":", " is", " if the", "not a", "or ", "\\boxed{", "**"]


# Unclosed reasoning swallows what follows, and so does the next question after an answer: other tests, above.
@given(st.one_of(st.text(), st.lists(st.sampled_from(SYLLABLES)).map("".join)), st.sampled_from(["stop", "length"]))
@example("is it so if the", "stop")
@example("yes or", "stop")
@example("not a", "length")
def test_an_announced_last_line_decides_whatever_stands_before(text, finish_reason):
    assert read(f"{text}\nAnswer: Yes", finish_reason) == 1
    assert read(f"{text}\nAnswer: No", finish_reason) == 0


@given(st.floats(-50, 0), st.floats(-50, 0))
@example(-1e-17, 0.0)  # as shares they are equal
def test_choice_takes_the_likelier_one(yes, no):
    answer = choice(Response("", logprobs={"Yes": yes, "No": no}), ("Yes", "No"))
    assert answer.label == (None if yes == no else int(yes > no))
    assert answer.probability == pytest.approx(math.exp(yes) / (math.exp(yes) + math.exp(no)))
    assert answer.span == {None: "Yes = No", 1: "Yes", 0: "No"}[answer.label]


def test_choice_says_yes_with_its_first_choice_whatever_its_words():
    response = Response("", logprobs={"No": math.log(0.1), "Yes": math.log(0.3)})
    assert choice(response, ("No", "Yes")) == Answer(0, pytest.approx(0.25), "Yes")


def test_choice_of_three():
    response = Response("", logprobs={"Yes": math.log(0.2), "No": math.log(0.1), "Unknown": math.log(0.1)})
    assert choice(response, ("Yes", "No", "Unknown")) == Answer(1, pytest.approx(0.5), "Yes")


def test_choice_of_very_unlikely_words_does_not_underflow():
    answer = choice(Response("", logprobs={"Yes": -2000.0, "No": -2001.0}), ("Yes", "No"))
    assert answer == Answer(1, pytest.approx(1 / (1 + math.exp(-1))), "Yes")


def test_choice_with_an_impossible_one():
    answer = choice(Response("", logprobs={"Yes": -math.inf, "No": -1.0}), ("Yes", "No"))
    assert answer == Answer(0, 0.0, "No")


@pytest.mark.parametrize(
    "logprobs",
    [
        None,
        {},
        {"Yes": -1.0},
        {"Yes": -1.0, "no": -2.0},
        {"Yes": math.nan, "No": -1.0},
        {"Yes": -1.0, "No": math.nan},
        {"Yes": -math.inf, "No": -math.inf},
    ],
)
def test_choice_without_all_its_numbers_is_unread(logprobs):
    assert choice(Response("Yes", logprobs=logprobs), ("Yes", "No")) == Answer(None)


@pytest.mark.parametrize(
    ("shares", "label", "best"),
    [
        ({"entailment": 0.5, "neutral": 0.3, "contradiction": 0.2}, 1, "entailment"),
        ({"contradiction": 0.1, "entailment": 0.4, "neutral": 0.5}, 0, "neutral"),
        ({"contradiction": 0.6, "entailment": 0.3, "neutral": 0.1}, 0, "contradiction"),
        ({"entailment": 0.6, "not_entailment": 0.4}, 1, "entailment"),
    ],
)
def test_entailment_is_the_likeliest_class(shares, label, best):
    answer = entailment(Response("", logprobs={name: math.log(share) for name, share in shares.items()}))
    assert answer == Answer(label, pytest.approx(shares["entailment"]), best)


def test_entailment_is_never_more_than_certain():
    answer = entailment(Response("", logprobs={"entailment": 1e-7, "neutral": -20.0, "contradiction": -20.0}))
    assert answer.probability == 1.0


@pytest.mark.parametrize(
    "logprobs",
    [
        None,
        {},
        {"entailment": -0.5},
        {"neutral": -0.1, "contradiction": -3.0},
        {"entailment": math.nan, "neutral": -0.1, "contradiction": -3.0},
        {"entailment": -0.9, "neutral": math.nan, "contradiction": -3.0},
        {"entailment": -math.inf, "neutral": -math.inf, "contradiction": -math.inf},
    ],
)
def test_entailment_without_all_its_numbers_is_unread(logprobs):
    assert entailment(Response("", logprobs=logprobs)) == Answer(None)


@given(st.one_of(st.sampled_from([text for text, _ in SHORT]), st.text()))
@example("<think> not closed")
@example("Yes.\nQuestion: is it so? No")
def test_no_beginning_of_a_reply_settles_its_verdict(beginning):
    # Which is why no model ends a reply once a verdict can be read: what comes later may announce another one, and
    # whatever stands before the end of its reasoning is none of it.
    assert read(f"{beginning}\n</think>\nAnswer: Yes") == 1
    assert read(f"{beginning}\n</think>\nAnswer: No") == 0
