"""Claims in replies: those judged by hand before there was a reader, sentences that say nothing, endless ones."""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.thinned import few

from harness.causal.statements import Kind, Statement
from harness.plugins.steps.traces import Step, circular, read
from harness.plugins.steps.wording import in_words

DATA = Path(__file__).parents[2] / "data"
CASES, BLIND = (
    [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]
    for name in ("traces.jsonl", "traces_blind.jsonl")
)
SHORT = re.compile(
    r"(?P<open>\?)?(?P<no>!)?(?P<a>\w+?)(?P<sign>>>|>|<|/|-|~|_\|_)(?P<b>[^\W_]\w*)(?:<(?P<c>\w+))?"
    r"(?:\|(?P<given>\S+))?(?: \[(?P<basis>.*)\])?"
)


def names_of(case):
    return case["names"].split() if " " in case["names"] else list(case["names"])


def claim(text, names):
    """Return (statement, basis) of a claim in the short form of the file: A-B, A/B, A_|_B|C, A~B, A>M<B, A>B, A>>B."""
    match = SHORT.fullmatch(text)
    assert match, text
    a, b = names.index(match["a"]), names.index(match["b"])
    basis = match["basis"] if match["basis"] is None else tuple(match["basis"].replace(" ", "").split(","))
    denied, opened = bool(match["no"]), bool(match["open"])
    if match["c"]:
        return Statement.of(Kind.COLLIDER, (a, b, names.index(match["c"])), denied=denied), basis
    given = [names.index(name) for name in match["given"].split(",")] if match["given"] else []
    kind, denies = {
        "-": (Kind.ADJACENT, False),
        "/": (Kind.ADJACENT, True),
        "_|_": (Kind.INDEPENDENT, False),
        "~": (Kind.INDEPENDENT, True),
        ">": (Kind.PARENT, denied),
        ">>": (Kind.CAUSE, denied),
    }[match["sign"]]
    return Statement.of(kind, (a, b), given, denied=denies, open=opened), basis


def basis_of(step):
    if step.rests_on is None:
        return ("",)
    return (*map(str, step.rests_on), *(["p"] if step.on_premise else []))


def differences(case):
    """Return (claims missed, claims read otherwise) of a reply."""
    names = names_of(case)
    steps = read(case["reply"], names).steps
    if case["form"] == "trace":
        found = Counter((step.statement, basis_of(step)) for step in steps)
        wanted = Counter(claim(text, names) for text in case["claims"])
    else:
        found = Counter({(step.statement, None): 1 for step in steps})
        wanted = Counter({claim(text, names): 1 for text in case["claims"]})
    also = {claim(text, names) for text in case["also"]}
    return list((wanted - found).elements()), [one for one in (found - wanted).elements() if one not in also]


def test_replies_judged_by_hand():
    results = [differences(case) for case in CASES]
    assert [case["reply"] for case, (_, wrong) in zip(CASES, results, strict=True) if wrong] == []
    assert sum(len(missed) for missed, _ in results) <= 2  # a quotation of two sentences
    assert len(CASES) == 60


def test_replies_of_somebody_who_has_not_read_the_reader():
    """No claim is read that is taken back, supposed, asked or denied there; what is not read is no error."""
    missed, wanted = 0, 0
    for case in BLIND:
        names = names_of(case)
        steps = read(case["reply"], names).steps
        claims = {claim(text, names)[0] for text in case["claims"]}
        assert {step.statement for step in steps} <= claims | {claim(text, names)[0] for text in case["also"]}, case
        missed += len(claims - {step.statement for step in steps})
        wanted += len(claims)
    assert (len(BLIND), wanted) == (120, 472) and missed <= 124


@pytest.mark.parametrize(
    ("reply", "claims"),
    [
        ("1. A -> B\n2. B -> C\nClaim 1 is wrong.", ["B>C"]),
        ("1. A -> B\n2. B -> C\nClaims 1 and 2 do not hold.", []),
        ("1. A -> B\n2. B -> C\n3. A and C are adjacent\nI withdraw 1-2.", ["A-C"]),
        ("1. A -> B\n2. B -> C\nClaim 1 is correct, claim 2 incorrect.", ["A>B"]),
        ("1. A -> B\nWait, no. 1. B -> A", ["B>A"]),
        ("1. A -> B\nActually, that is wrong.\n2. B -> A", ["B>A"]),
        ("1. A -> B\nActually, that settles it: so B -> C.\nNo, this needs no more.", ["A>B", "B>C"]),
        ("1. A -> B\n2. B -> C\nScratch that.\n2. C -> B", ["A>B", "C>B"]),
        ("1. A -> B\n2. B -> C\nThe previous line cannot be right.", ["A>B"]),
        ("1. A -> B\n2. B -> C\nAll of this is wrong. Let me start over.\n1. B -> A", ["B>A"]),
        ("1. A -> B [assumption]\n2. A causes C [1]\n3. B and C are adjacent [premise]", ["B-C"]),
        (
            "1. Suppose A -> B\n2. B -> C [1]\n3. A causes C [2]\n4. It is open whether A directly causes B [1]",
            ["?A>B"],
        ),
        ("1. Suppose A -> B.\n2. Then B -> C.\n3. So A causes C.\n4. A and C are adjacent [premise]", ["A-C"]),
        ("1. Case 1: A -> B. Then B -> C.\n2. A and C are not adjacent [premise]", ["A/C"]),
        ("Suppose A -> B.\n1. B -> C\n\n2. A and C are not adjacent", ["A/C"]),
        ("The following are false:\n1. A -> B\n2. B -> C", []),
        ("1. Goal: A -> B\n2. B -> C", ["B>C"]),
        ("```\n1. A -> B [premise]  # not B -> A\n# 2. B -> C\n```", ["A>B"]),
        ("[1] A -> B [premise]\n[2] B -> C [1]", ["A>B", "B>C"]),
        ("1. A -> B [premise] 2. B -> C [1] Answer: Yes", ["A>B", "B>C"]),
        ("1. Node A directly causes node 'B'", ["A>B"]),
        ("<ol><li>A -> B [premise]</li>\n<li>B -> C</li></ol>", ["A>B", "B>C"]),
        ("$A \\not\\perp\\!\\!\\!\\perp C$ and $A \\perp C \\mid \\{B\\}$", ["A~C", "A_|_C|B"]),
        ("A ⟂̸ C\nA ⫫ B", ["A~C", "A_|_B"]),
    ],
)
def test_what_is_taken_back_or_supposed_is_no_claim(reply, claims):
    statements = [step.statement for step in read(reply, "ABC").steps]
    assert statements == [claim(text, list("ABC"))[0] for text in claims]


def test_a_range_of_numbers_names_all_of_it():
    (step,) = read("9. A -> B [rests on: claims 2, 4-6 and the premise]", "ABC").steps
    assert (step.rests_on, step.on_premise) == ((2, 4, 5, 6), True)


@pytest.mark.parametrize(
    "sentence",
    [
        "If A and B are adjacent, C is a collider between A and B.",
        "Suppose A directly causes B. Then A and B are adjacent.",
        "Does A directly cause B?",
        "A directly causes B or B directly causes A.",
        "It is false that A and B are adjacent.",
        "Nothing says that A causes B.",
        "In one of these graphs, A directly causes B.",
        "In graph 2, A -> B.",
        "Case 1: A -> B -> C",
        "Option (a): A directly causes B",
        "Hypothesis: A directly causes B",
        "A might cause B, or B causes A.",
        "Then A directly causes B, which is impossible.",
        "Then A and B are adjacent, which contradicts the premise.",
        "It does not follow that A directly causes B.",
        "We cannot deduce that A causes B.",
        "Without knowing C, A directly causes B.",
        "A and B are adjacent only in the first graph.",
        'The statement "A directly causes B" is what has to be shown.',
        "The possible structures are:\n- A -> B -> C\n- A <- B <- C",
        "There are three graphs:\n\n1. A -> B -> C\n2. A <- B -> C\n3. A <- B <- C",
        "For example, A directly causes B.",
        "Perhaps A and B are adjacent.",
        "We need to prove that A directly causes B.",
        "Whether A directly causes B is unclear.",
        "Not all graphs have A -> B.",
        "Given A, B and C are independent in some graphs.",
        "To test: A and B are independent.",
        "Answer: A directly causes B",
    ],
)
def test_what_says_nothing(sentence):
    assert read(sentence, "ABC").steps == ()


@pytest.mark.parametrize(
    ("sentence", "claims"),
    [
        ("So A and B are adjacent.", ["A-B"]),
        ("Because A -> B and C -> B, B is a collider between A and C.", ["A>B", "C>B", "A>B<C"]),
        ("A → B ← C", ["A>B<C"]),
        ("$A \\rightarrow B \\rightarrow C$", ["A>B", "B>C"]),
        ("B is a child of A; C isn't.", ["A>B"]),
        ("A ⊥⊥ C | B", ["A_|_C|B"]),
        ("A and C are not independent given B.", ["A~C|B"]),
        ("The direction of the edge between A and B is undetermined.", ["?A>B"]),
        ("It remains open whether B is a parent of C.", ["?B>C"]),
        ("C is a descendant of A.", ["A>>C"]),
        ("The options were listed above.\nA directly causes B.", ["A>B"]),
        (
            "The possible graphs are:\n- A -> B\n\nThe right one has no edge between A and C. No edge between A and C.",
            ["A/C"],
        ),
    ],
)
def test_other_plain_words(sentence, claims):
    statements = list(dict.fromkeys(step.statement for step in read(sentence, "ABC").steps))
    assert statements == [claim(text, list("ABC"))[0] for text in claims]


def test_the_grammar_is_read_as_it_is_written():
    names = ("Vobadi", "Kegalu", "Zimori", "W")
    for kind, nodes, condition in [
        (Kind.ADJACENT, (0, 1), ()),
        (Kind.INDEPENDENT, (0, 2), ()),
        (Kind.INDEPENDENT, (0, 2), (1, 3)),
        (Kind.COLLIDER, (0, 1, 3), ()),
        (Kind.PARENT, (2, 0), ()),
        (Kind.CAUSE, (3, 0), ()),
    ]:
        for how in ({}, {"denied": True}, {"open": True}):
            statement = Statement.of(kind, nodes, condition, **how)
            line = f"3. {in_words(statement, names)} [1, 2, premise]"
            assert read(line, names).steps == (Step(statement, 3, (1, 2), True),), line


def test_what_cannot_be_read_is_counted():
    lines = ("A and B are adjacent [premise]", "The data are Gaussian [premise]", "A and F are adjacent [1]",
             "A and A are adjacent [1]")  # fmt: skip
    reply = "\n".join(f"{number}. {line}" for number, line in enumerate(lines, start=1))
    trace = read(reply, "ABC")
    assert (len(trace.steps), trace.numbered, trace.unread, trace.unknown) == (1, 4, 3, 2)
    assert read("", "ABC") == read("Yes", "ABC")


TOKENS = st.sampled_from(
    [*"ABCF\n(*²|", "←", "⊥", " and ", " are ", "adjacent", "independent", " given ", ", ", " -> ", "1. ", ". ",
     "[1, premise]", "[2]", "is a collider between ", "directly causes ", "It is open whether ", "not ", "| 1 |"]
)  # fmt: skip


@given(st.lists(TOKENS | st.text(max_size=6), max_size=60).map("".join))
def test_any_text_is_read_and_what_is_read_is_said_in_the_grammar(text):
    for step in read(text, "ABC").steps:
        assert [again.statement for again in read(in_words(step.statement, "ABC"), "ABC").steps] == [step.statement]


def test_circles():
    steps = [Step(Statement(Kind.ADJACENT, (0, 1)), k, rests) for k, rests in
             enumerate([(), (3,), (2,), (3,), (5,), (1, 9)], start=1)]  # fmt: skip
    assert circular(steps) == {2, 3, 4, 5}
    assert circular([Step(Statement(Kind.ADJACENT, (0, 1)), k, (k - 1,)) for k in range(20_000)]) == frozenset()


@pytest.mark.parametrize(
    "unit",
    few(["A and B and ", "-", "1. A [1, , , 2", "1. A and B are adjacent [premise]\n", "A->B->", "((((", "so, thus, ",
     "A and B are independent given C, D and ", "|1|A and B are adjacent|1|\n", "⊥ ", "since A and B are adjacent, ",
     "Wait, no. 1. A and B are adjacent [premise]\n", "Claims 1-99 are wrong. ", "1. A -> B\nClaim 1 is wrong\n",
     "I withdraw 1, ", "<li", "1. A -> B [1]"], 3),
)  # fmt: skip
def test_time_grows_with_the_length(unit):
    def seconds(length):
        reply = (unit * length)[:length]
        start = time.process_time()
        read(reply, "ABCD")
        return time.process_time() - start

    assert seconds(100_000) < 12 * max(seconds(20_000), 0.01)
