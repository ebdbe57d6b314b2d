"""Bases that are made: sentences as tokens, premises packed with their hypotheses, batches by length."""

from __future__ import annotations

import json
import math
from itertools import chain
from pathlib import Path

import pytest
from support.late import Late
from support.thinned import few

from harness.cli import hydra_app, own_configs
from harness.errors import ConfigError
from harness.models.local.nli import NLI
from harness.plugins.train import make as making
from harness.plugins.train.examples import ByLength, Lessons, teaching_task
from harness.plugins.train.make import learner_of
from harness.plugins.train.recipe import Recipe
from harness.plugins.train.scratch import codes, make_base, sentences
from harness.prompting.fit import choose_prompt, fitting
from harness.settings import build, plain
from harness.tasks.corr2cause.claim import ItemWriter
from harness.tasks.corr2cause.enumerate import public_test
from harness.types import PairRequest

torch = Late("torch")
FOUR = ["task.num_nodes=[4]"]


def composed(*arguments: str) -> dict:
    own_configs.register()
    return plain(hydra_app.without_hydra(hydra_app.composed("finetune", arguments)))


@pytest.fixture(scope="module")
def learners(tmp_path_factory):
    """recipe=tiny and recipe=tiny_renamed with bases of the train split's premises over four variables."""

    def learner(name):
        config = composed(f"recipe={name}", *FOUR)
        recipe: Recipe = build(config["recipe"], "recipe")
        task, base = teaching_task(config["task"]), tmp_path_factory.mktemp(name) / "base"
        made = learner_of(recipe, "cpu", str(base))
        prompt = choose_prompt(task, made, None)
        lessons = Lessons(task, prompt, fitting(prompt, made, task), recipe)
        make_base(recipe.scratch, lessons.texts(), recipe.seed, base)
        return made, lessons

    return {name: learner(name) for name in ("tiny", "tiny_renamed")}


def test_a_sentence_is_a_token_and_the_saved_tokenizer_knows_which_text_is_which(learners, tmp_path):
    from transformers import AutoTokenizer

    learner, lessons = learners["tiny"]
    learner.tokenizer.save_pretrained(tmp_path)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path)
    row = next(row for row in lessons.train.rows if "(i.e., common effect)" in row.request.hypothesis)
    read = tokenizer(row.request.premise, row.request.hypothesis)
    premise = sentences(row.request.premise)
    assert premise[0].startswith("Suppose there is a closed system of 4 variables, A, B") and len(premise) > 5
    assert not any("However" in sentence for sentence in premise) and premise[1].endswith("are as follows:")
    tokens = tokenizer.convert_ids_to_tokens(read["input_ids"])
    assert tokens == ["[CLS]", *premise, "[SEP]", row.request.hypothesis, "[SEP]"]
    assert read["token_type_ids"] == [0] * (len(premise) + 2) + [1, 1]
    assert tokenizer("Q correlates with R.")["input_ids"][1:-1] == [tokenizer.unk_token_id]


@pytest.mark.parametrize("name", ["tiny", "tiny_renamed"])
def test_training_reads_the_tensors_that_the_adapter_reads(learners, name):
    learner, lessons = learners[name]
    examples = lessons.train.rows[:40]
    adapter = NLI(name=name, path=learner.path, dtype="float32", device="cpu")
    pairs = [pair for _, pair in adapter.encode([example.request for example in examples])]
    read = adapter.inputs(pairs)
    batch = learner.batch(examples)
    if name == "tiny":
        assert {k: v.tolist() for k, v in batch.items() if k != "labels"} == {k: v.tolist() for k, v in read.items()}
        assert batch["token_type_ids"].any()
        return
    # A row of a packed batch is a premise; what hypothesis k sees is what the adapter reads for it.
    rows = []
    for row, places in enumerate(learner.units(examples)):
        for number, _ in enumerate(places, start=1):
            (end,) = (batch["labels"][row] >= 0).nonzero().flatten()[-len(places) :][number - 1 : number].tolist()
            rows.append(batch["input_ids"][row][batch["attention_mask"][row, 0, end] == 0].tolist())
    masks = read["attention_mask"] == 1
    assert rows == [ids[mask].tolist() for ids, mask in zip(read["input_ids"], masks, strict=True)]


def test_a_packed_premise_has_the_loss_and_the_gradients_of_its_pairs(learners):
    learner, lessons = learners["tiny_renamed"]
    network = learner.network.train()
    group = [row for row in lessons.train.rows if row.cluster in {r.cluster for r in lessons.train.rows[::90]}][:90]
    labels = torch.tensor([row.label for row in group])
    pairs = [pair for _, pair in learner.encode([row.request for row in group])]
    grown = [parameter for parameter in network.parameters() if parameter.requires_grad]
    apart = learner.loss(network(**learner.inputs(pairs)), labels)
    gradients = torch.autograd.grad(apart, grown)
    batch = learner.batch(group)
    thoughts = batch["input_ids"] >= min(learner._thoughts)
    assert 0 < (batch["labels"][thoughts] >= 0).sum() < thoughts.sum()  # what the items say of A to D
    batch["labels"][thoughts] = -100
    logits, learned = learner.answers(network, batch)
    assert learned.tolist() == labels.tolist()
    together = learner.loss(type("Outputs", (), {"logits": logits}), learned)
    assert together.item() == pytest.approx(apart.item(), rel=1e-5)
    for one, other in zip(torch.autograd.grad(together, grown), gradients, strict=True):
        assert torch.allclose(one, other, atol=1e-5)


def test_thoughts_have_the_answers_of_the_items_that_say_the_same(learners):
    learner, lessons = learners["tiny_renamed"]
    group = [row for row in lessons.train.rows if row.cluster == lessons.train.rows[0].cluster]
    pack = learner.pack(group)
    answers = {row.request.hypothesis: row.label for row in group}
    tokens = learner.tokenizer.convert_ids_to_tokens(pack.tokens)
    asked = {token: target for token, target in zip(tokens, pack.targets, strict=True) if token.startswith("[")}
    assert len(asked) == 2 * 12 and {token[:4] for token in asked} == {"[1] ", "[2] "}
    assert all(target == answers[token[4:]] for token, target in asked.items())


def test_sentences_of_items_that_are_not_learned_are_tokens_too(learners, tmp_path):
    from transformers import AutoTokenizer

    learner, lessons = learners["tiny"]
    five = teaching_task(composed("recipe=tiny", "task.num_nodes=[5]", "task.limit=300")["task"])
    make_base(learner.recipe.scratch, lessons.texts(five.items()), 0, tmp_path / "base")
    known = set(AutoTokenizer.from_pretrained(tmp_path / "base").get_vocab()) - set(learner.tokenizer.get_vocab())
    assert "All the statistical relations among these 5 variables are as follows:" in known
    assert all("E" in sentence or "5 variables" in sentence for sentence in known) and len(known) > 60


def test_what_is_not_to_be_learned_stays_as_it_was_drawn(learners, tmp_path):
    for name, frozen in (("tiny", {"position"}), ("tiny_renamed", {"wpe", "wte"})):
        learner, _ = learners[name]
        fixed = {name for name, parameter in learner.network.named_parameters() if not parameter.requires_grad}
        assert len(fixed) == len(frozen) and all(any(part in name for part in frozen) for name in fixed)
    positions = learners["tiny"][0].network.bert.embeddings.position_embeddings.weight
    assert not positions.any()
    # The same command makes the same base.
    learner, lessons = learners["tiny"]
    make_base(learner.recipe.scratch, lessons.texts(), 0, tmp_path / "again")
    weights = "model.safetensors"
    assert (tmp_path / "again" / weights).read_bytes() == (Path(learner.path) / weights).read_bytes()


def test_sentences_about_like_variables_begin_as_neighbours():
    said = ["A correlates with B.", "B correlates with A.", "C correlates with D.", "A and B are independent given C."]
    rows = codes(said, 64, 0.1)
    likeness = [torch.cosine_similarity(rows[0], rows[k], dim=0).item() for k in (1, 2, 3)]
    assert likeness == pytest.approx([3 / 5, 1 / 5, 4 / (5 * 6) ** 0.5], abs=1e-5)


def test_batches_by_length_pad_little_and_each_pass_has_an_order_of_its_own():
    lengths = [(k * 37) % 101 for k in range(1003)]
    order = ByLength(lengths, 10, seed=3)
    first = list(order)
    order.set_epoch(1)
    second = list(order)
    order.set_epoch(0)
    assert sorted(first) == sorted(second) == list(range(1003)) and first != second and list(order) == first
    batches = [[lengths[place] for place in first[k : k + 10]] for k in range(0, 1003, 10)]
    assert sum(max(batch) * len(batch) for batch in batches) < 1.1 * sum(lengths)
    assert [max(batch) for batch in batches] != sorted(max(batch) for batch in batches)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    few(
        [
            (["recipe.path=somewhere"], "recipe.path names a base and recipe.scratch describes one"),
            (["recipe.scratch.config.model_type=nothing"], "recipe.scratch.config makes no model"),
            (["recipe.scratch.zeros=[bert.nothing]"], "there are no weights bert.nothing"),
            (["recipe.kind=causal_lm"], "recipe.scratch makes classifiers of pairs"),
            (["recipe.packed=true"], "recipe.packed goes with a decoder"),
            (["recipe.packed=true", "recipe.settings=paper"], "recipe.packed goes with recipe.kind=nli"),
        ],
        3,
    ),
)
def test_what_makes_no_base_is_a_sentence(tmp_path, arguments, sentence):
    with pytest.raises(ConfigError) as error:
        making.make(composed("recipe=tiny", *FOUR, "task.limit=40", f"out={tmp_path}", *arguments))
    assert sentence in str(error.value)


@pytest.mark.parametrize(
    ("name", "perturbation", "recorded"),
    [
        ("tiny", "none", {"n2-g1-collider-A-B": 0.4384, "n6-g27516-child-C-F": 0.0001, "n6-g29406-parent-C-F": 0.0001}),
        ("tiny", "permutation", {"n2-g1-collider-A-B": 0.1226, "n6-g27516-child-C-F": 0.9998}),
        ("tiny_renamed", "none", {"n6-g21810-collider-B-C": 0.6958, "n6-g21810-confounder-B-F": 0.0728}),
        ("tiny_renamed", "permutation", {"n6-g21810-collider-B-C": 0.9594, "n6-g21810-confounder-B-F": 0.0361}),
        ("tiny_renamed", "paraphrase", {"n6-g21810-collider-B-C": 0.6573, "n6-g21810-confounder-B-F": 0.0799}),
    ],
)
def test_what_ships_answers_as_recorded(name, perturbation, recorded):
    items = [ItemWriter(perturbation, 0).item(claim) for claim in public_test("v2") if claim.id in recorded]
    requests = {item.id: PairRequest(item.fields["premise"], item.fields["hypothesis"]) for item in items}
    model = build(hydra_app.composed("config", [f"model={name}", "model.device=cpu"]).model, "model")
    outcomes = dict(pair for landed in model.respond(requests.values()) for pair in landed)
    said = {name: math.exp(outcomes[request].logprobs["entailment"]) for name, request in requests.items()}
    assert said == pytest.approx(recorded, abs=1e-3)


@pytest.mark.slow
@pytest.mark.timeout(3600)  # of processor time it takes about 500 s, and a busy machine has others
def test_half_the_passes_of_tiny_reach_90_on_dev(tmp_path):
    made = making.make(composed("recipe=tiny", "recipe.epochs=1.25", f"out={tmp_path}"))
    assert made.score >= 0.9
    assert json.loads((made.folder / "training.json").read_text())["train"]["examples"] == 205026
    assert sum(path.stat().st_size for path in made.folder.iterdir()) < 2_000_000
    assert list(chain.from_iterable(path.name for path in made.folder.glob("*.py"))) == []
