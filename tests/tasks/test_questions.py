"""Questions of one's own from a file: what its columns are, what its labels say, what is refused."""

from __future__ import annotations

import pytest
from question_files import items_of, questions, written

from harness.errors import ConfigError, DataError
from harness.models.baselines import Baseline
from harness.prompting.fit import choose_prompt
from harness.types import ChatRequest

PLAIN = [
    {"question": f"Does {k} cause {k + 1}?", "label": k % 2, "kind": "ab"[k % 2], "note": f"row {k}"} for k in range(8)
]
ECARE = [
    {
        "index": "dev-0",
        "premise": "He heats it.",
        "ask-for": "effect",
        "hypothesis1": "It burns.",
        "hypothesis2": "It stays.",
        "label": 0,
    },
    {
        "index": "dev-1",
        "premise": "It is wet.",
        "ask-for": "cause",
        "hypothesis1": "Sun.",
        "hypothesis2": "Rain.",
        "label": 1,
    },
]
COPA = [
    {
        "premise": "He broke his toe.",
        "choice1": "He got a hole.",
        "choice2": "He dropped a hammer.",
        "question": "cause",
        "idx": 0,
        "label": 1,
    },
]
CRASS = [
    {
        "PCTID": k,
        "BatchID": 1,
        "Premise": f"Somebody sees a fire {k}.",
        "QCC": "What if?",
        "CorrectAnswer": f"Burned {k}.",
        "Answer1": "Fine.",
        "Answer2": "Scared.",
        "PossibleAnswer3": "Slept." if k % 2 else "",
    }
    for k in range(12)
]
CRASS_COLUMNS = {
    "question": "QCC",
    "label": "CorrectAnswer",
    "choice_0": "CorrectAnswer",
    "choice_1": "Answer1",
    "choice_2": "Answer2",
    "choice_3": "PossibleAnswer3",
}


def prompt_of(task):
    return choose_prompt(task, Baseline("m", 1), None)


@pytest.mark.parametrize("ending", ["csv", "jsonl", "json"])
def test_a_file_with_a_question_and_a_label_is_a_task(tmp_path, ending):
    path = written(tmp_path / f"mine.{ending}", PLAIN)
    task = questions(path)
    items = list(task.items())
    assert [item.labels["gold"] for item in items] == [0, 1] * 4 and len(task.items()) == 8
    assert items[0].id == "mine-1" and items[0].cluster == "mine-1" and items[0].groups == {"kind": "a"}
    assert items[0].fields == {"question": "Does 0 cause 1?", "text": "Does 0 cause 1?", "kind": "a", "note": "row 0"}
    prompt = prompt_of(task)
    assert (
        prompt.name == "plain"
        and "Does 0 cause 1?" in prompt.render(items[0].fields, (), ChatRequest).messages[0].content
    )
    assert task.data["sha256"] and questions(path, name="mine").name == "questions/mine"


@pytest.mark.parametrize(
    ("label", "gold"), [("1", 1), ("yes", 1), ("True", 1), (True, 1), (1.0, 1), ("No", 0), ("f", 0), (False, 0)]
)
def test_the_words_for_yes_and_no(tmp_path, label, gold):
    (item,) = items_of(written(tmp_path / "a.jsonl", [{"question": "So?", "label": label}]))
    assert item.labels == {"gold": gold}


@pytest.mark.parametrize(
    ("choices", "label", "gold"),
    [
        ("a dog|a cat|a cow", "B", 1),
        ("a dog|a cat|a cow", "A CAT", 1),
        ("a dog|a cat|a cow", 2, 2),
        (["a dog", "a cat"], "a dog", 0),
        ('["a|b", "c"]', "a|b", 0),
    ],
)
def test_a_label_is_the_words_the_letter_or_the_number_of_a_choice(tmp_path, choices, label, gold):
    path = written(tmp_path / "a.jsonl", [{"question": "Which?", "choices": choices, "label": label}])
    assert items_of(path)[0].labels == {"gold": gold}


def test_choices_of_all_questions_and_labels_that_count_from_one(tmp_path):
    rows = [{"question": f"{k}?", "label": k} for k in (1, 2, 3)]
    task = questions(written(tmp_path / "a.csv", rows), choices=["cause", "effect", "neither"], first=1)
    items = list(task.items())
    assert [item.labels["gold"] for item in items] == [0, 1, 2]
    assert items[0].fields["options"] == "A. cause\nB. effect\nC. neither" and items[0].fields["letters"] == "A, B or C"


def test_the_layouts_of_known_data_sets(tmp_path):
    task = questions(written(tmp_path / "dev.jsonl", ECARE))
    first = next(iter(task.items()))
    prompt = prompt_of(task)
    assert prompt.name == "cause_or_effect" and first.fields["choices"] == ["It burns.", "It stays."]
    assert (
        "plausible as the effect of this?\n\nA. It burns."
        in prompt.render(first.fields, (), ChatRequest).messages[0].content
    )
    copa = questions(written(tmp_path / "copa.jsonl", COPA), columns={"ask_for": "question"})
    assert prompt_of(copa).name == "cause_or_effect" and next(iter(copa.items())).labels == {"gold": 1}
    crass = questions(written(tmp_path / "crass.csv", CRASS), columns=CRASS_COLUMNS, shuffle=True)
    items = list(crass.items())
    assert len({item.labels["gold"] for item in items}) > 1 and {i.groups["choices"] for i in items} == {"3", "4"}
    for item, row in zip(items, CRASS, strict=True):
        assert (
            item.fields["choices"][item.labels["gold"]] == row["CorrectAnswer"] and "CorrectAnswer" not in item.fields
        )
    (remark,) = questions(tmp_path / "crass.csv", columns=CRASS_COLUMNS).remarks
    assert remark.endswith(
        "crass.csv: the right answer is A in every row; task.shuffle=true draws the order of the choices."
    )


def test_columns_whose_values_come_again_are_breakdowns_unless_said_otherwise(tmp_path):
    rows = [row | {"text_of_200": f"value {k}", "constant": "x"} for k, row in enumerate(PLAIN * 3)]
    path = written(tmp_path / "a.csv", rows)
    assert items_of(path)[0].groups == {"kind": "a", "note": "row 0"}
    assert items_of(path, groups=["constant"])[0].groups == {"constant": "x"}
    assert items_of(path, groups=[])[0].groups == {}
    with pytest.raises(ConfigError, match=r"task\.groups names colour; .*a\.csv has question, label, kind"):
        items_of(path, groups=["colour"])


def test_rows_of_one_premise_are_one_cluster_and_own_columns_go_before(tmp_path):
    rows = [{"premise": "P", "hypothesis": f"H{k}", "label": k} for k in (0, 1)]
    one, other = items_of(written(tmp_path / "a.csv", rows))
    assert one.cluster == other.cluster and one.cluster.startswith("premise-")
    own = [row | {"id": f"i{k}", "cluster": "c", "unit": "A -> B"} for k, row in enumerate(rows)]
    (item, _) = items_of(written(tmp_path / "b.csv", own))
    assert (item.id, item.cluster, item.unit) == ("i0", "c", "A -> B")
    assert questions(tmp_path / "a.csv").prompts == ("entails", "pair")


def test_a_sample_keeps_the_shares_of_labels_and_groups(tmp_path):
    rows = [{"question": f"{k}?", "label": int(k % 4 == 0), "kind": "abcd"[k % 4]} for k in range(100)]
    path = written(tmp_path / "a.csv", rows)
    items = items_of(path, limit=20)
    assert len(items) == 20 == len(questions(path, limit=20).items()) and sum(i.labels["gold"] for i in items) == 5
    assert {item.id for item in items_of(path, limit=8)} < {item.id for item in items}


@pytest.mark.parametrize(
    ("rows", "settings", "sentence"),
    [
        ([{"question": "a", "label": ""}], {}, r"a\.jsonl, row 1 has no label: fill it in, or take the row out"),
        ([{"question": "a", "label": "maybe"}], {}, r"row 1 has the label 'maybe'; .* give task\.choices="),
        ([{"question": "a", "gold": 1}], {}, r"no column label; it has question, gold\. .*task\.columns=\{label: …\}"),
        ([{"question": "a", "label": 1, "id": "x"}] * 2, {}, r"row 2 has the id 'x' of row 1"),
        (
            [{"question": "a", "label": 3, "choices": "a|b"}],
            {},
            r"row 1 has the label '3', and it is none of them: a \| b",
        ),
        ([{"question": "a", "label": "1", "choices": "1|0"}], {}, r"it means several of them: 1 \| 0"),
        ([{"question": "a", "label": 0, "choices": "a"}], {}, r"row 1 has the choices a; two to 26 different"),
        ([{"question": "a", "label": 0, "choices": "a|a"}], {}, r"row 1 has the choices a \| a; two to 26 different"),
        ([{"question": "a", "label": 0}], {"columns": {"x": "y"}}, r"x is the column 'y'; .* has question, label"),
        ([{"question": "a", "label": 0}], {"choices": ["a"]}, r"two to 26 different choices"),
    ],
)
def test_what_cannot_be_asked_or_scored_is_one_sentence(tmp_path, rows, settings, sentence):
    path = written(tmp_path / "a.jsonl", rows)
    with pytest.raises((ConfigError, DataError), match=sentence):
        items_of(path, **settings)


def test_a_file_whose_columns_no_prompt_names_is_told(tmp_path):
    path = written(tmp_path / "a.csv", [{"sentence": "A", "label": 1}])
    with pytest.raises(ConfigError, match=r"has the columns sentence, label, .*task\.columns=\{question: …\}"):
        _ = questions(path).prompts
    with pytest.raises(ConfigError, match=r"task=questions needs task\.path=FILE"):
        questions("").items()


def test_rows_that_come_again_or_ask_nothing_are_told_with_their_numbers(tmp_path):
    rows = [{"question": q, "label": label} for q, label in (("a", 1), ("b", 0), ("a", 1), ("b", 1), ("", 0))]
    empty, opposite, same = questions(written(tmp_path / "a.csv", rows)).remarks
    assert empty.endswith("a.csv: 1 row (5) has no question: asked and scored all the same.")
    assert opposite.endswith("1 row (4) asks what an earlier one does, with another label: one is wrong.")
    assert same.endswith("1 row (3) repeats an earlier one: each of them counts.")


def test_a_prompt_of_yes_and_no_is_refused_where_questions_have_choices(tmp_path):
    task = questions(written(tmp_path / "a.jsonl", [{"question": "Which?", "choices": ["a", "b"], "label": "b"}]))
    with pytest.raises(ConfigError, match=r"plain asks for Yes or No, not for choices: use choices\.$"):
        choose_prompt(task, Baseline("m", 1), "plain")
    assert choose_prompt(task, Baseline("m", 1), "choices").name == prompt_of(task).name == "choices"
