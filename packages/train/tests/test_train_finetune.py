"""Checkpoints made from a task's train split, which the adapters evaluate.

Tests import the Trainer and torch themselves: with peft they take five seconds, and every worker collects all tests.
"""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest
from harness_train import make as making
from harness_train.examples import Lessons, teaching_task
from harness_train.finetune import grid, job
from harness_train.learners import PairLearner, learner_of
from harness_train.recipe import Recipe
from support.conftest_models import lm_checkpoint, mlm_checkpoint, nli_checkpoint
from support.thinned import few

from harness.cli import hydra_app
from harness.config_files import CONFIGS, listed
from harness.errors import ConfigError, HarnessError
from harness.models.local.causal_lm import CausalLM
from harness.models.local.nli import NLI
from harness.prompting.fit import choose_prompt, fitting
from harness.settings import build
from harness.tasks.corr2cause.claim import ItemWriter
from harness.tasks.corr2cause.enumerate import public_test
from harness.types import ChoiceRequest, Message

SMALL = ["task.num_nodes=[4]", "task.limit=24", "dev_limit=40", "recipe.epochs=2", "recipe.evaluations=1.0"]
FAST = "recipe.learning_rate=3e-3"
REST = dict.fromkeys(("accuracy", "precision", "recall", "loss", "yes", "unreadable", "failed"), 0)
"""Scores beside F1."""


def composed(*arguments: str) -> dict:
    return hydra_app.composed("finetune", arguments)


def made(base: Path, out: Path, *arguments: str, small: bool = True) -> making.FinishedCheckpoint:
    settings = [f"recipe.path={base}", f"out={out}", *(SMALL if small else []), *arguments]
    return making.make(composed(*settings))


def weights(folder: Path) -> bytes:
    return (folder / "model.safetensors").read_bytes()


def adapter_of(kind: str, folder: Path, **more: str) -> NLI | CausalLM:
    """Return the model that answers with a checkpoint."""
    settings = {"name": "mine", "path": str(folder), "dtype": "float32", "device": "cpu"}
    return (NLI if kind == "nli" else CausalLM)(**settings, **more)


def lessons_of(config: dict) -> tuple[PairLearner, Lessons]:
    recipe: Recipe = build(config["recipe"], "recipe")
    task, learner = teaching_task(config["task"]), learner_of(recipe, "cpu")
    prompt = choose_prompt(task, learner, config["prompt"])
    return learner, Lessons(task, prompt, fitting(prompt, learner, task), config["dev_limit"])


@pytest.fixture(scope="module")
def bases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("bases")
    template = "{% for m in messages %}<{{ m.role }}>{{ m.content }}\n{% endfor %}<assistant>"
    segments = nli_checkpoint(root / "two", {0: "not_entailment", 1: "entailment"}, 256)
    config = json.loads((segments / "tokenizer_config.json").read_text())
    names = ["input_ids", "token_type_ids", "attention_mask"]
    (segments / "tokenizer_config.json").write_text(json.dumps(config | {"model_input_names": names}))
    return {
        "nli": nli_checkpoint(root / "nli", {0: "NEUTRAL", 1: "contradiction", 2: "Entailment"}, 256),
        "two": segments,
        "roberta": mlm_checkpoint(root / "roberta", "roberta", 512),
        "gpt2": lm_checkpoint(root / "gpt2", "gpt2"),
        "llama": lm_checkpoint(root / "llama", "llama", template),
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", few(["gpt2", "nli", "two", "llama"], 2))
def test_training_reads_the_tensors_that_the_adapter_reads(bases, name):
    kind = "nli" if name in ("nli", "two") else "causal_lm"
    learner, lessons = lessons_of(composed(f"recipe={kind}", f"recipe.path={bases[name]}", *SMALL))
    adapter = adapter_of(kind, bases[name])
    object.__setattr__(adapter, "share_prefixes", False)
    examples = lessons.train.rows[:6]
    read: list[dict] = []
    keep = lambda _, args, kwargs: read.append({k: v for k, v in kwargs.items() if k != "use_cache"})  # noqa: E731
    adapter._parts[1].register_forward_pre_hook(keep, with_kwargs=True)
    assert sum(len(landed) for landed in adapter.respond(example.request for example in examples)) == 6
    rows = [
        {k: v[row][inputs["attention_mask"][row] == 1].tolist() for k, v in inputs.items() if k != "logits_to_keep"}
        for inputs in read
        for row in range(len(inputs["input_ids"]))
    ]
    batch = {k: v for k, v in learner.batch(examples).items() if k not in ("labels", "logits_to_keep")}
    for row in range(len(examples)):
        mask = batch["attention_mask"][row] == 1
        assert {k: v[row][mask].tolist() for k, v in batch.items()} in rows
    assert ("token_type_ids" in batch and batch["token_type_ids"].any()) == (name == "two")


def test_a_decoder_learns_the_answer_and_nothing_else(bases):
    import torch

    learner, lessons = lessons_of(composed("recipe=causal_lm", f"recipe.path={bases['gpt2']}", *SMALL))
    examples = sorted(lessons.train.rows, key=lambda example: -example.label)[:8]
    batch = learner.batch(examples)
    labels = batch.pop("labels")
    learned = [learner.tokenizer.decode(row[row != -100].tolist()).strip() for row in labels]
    assert learned == ["Yes" if example.label else "No" for example in examples] and len(set(learned)) == 2
    # The same as the adapter's own scores of the answers.
    responses = dict(pair for landed in learner.respond([e.request for e in examples]) for pair in landed)
    right = [responses[e.request].logprobs["Yes" if e.label else "No"] for e in examples]
    with torch.no_grad():
        loss = learner.loss(learner.network.eval()(**batch), labels)
    assert loss.item() == pytest.approx(-sum(right) / (labels != -100).sum().item(), rel=1e-5)


def test_a_few_examples_are_learned_by_heart_and_the_folder_answers_them(bases, tmp_path):
    few = ["recipe=causal_lm", "task.limit=24", "recipe.epochs=50", "task.num_nodes=[4]"]
    rest = ["recipe.learning_rate=1e-2", "recipe.schedule=constant", "recipe.weight_decay=0"]
    config = composed(*few, *rest, f"recipe.path={bases['gpt2']}", f"out={tmp_path}", "recipe.evaluations=0.05")
    _, lessons = lessons_of(config)
    # Dev has the same items here, so that the chosen step is the one that knows them.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Lessons, "dev", property(lambda self: self.train))
        folder = making.make(config).folder
    adapter = adapter_of("causal_lm", folder)
    rows = lessons.train.rows
    outcomes = dict(pair for landed in adapter.respond([row.request for row in rows]) for pair in landed)
    assert [lessons.prompt.parse(outcomes[row.request], row.fields).label for row in rows] == [r.label for r in rows]
    entry = json.loads((folder / "training.json").read_text())
    assert entry["chosen"]["dev"]["f1"] == 1.0
    assert not {str(tmp_path), str(bases["gpt2"])} & set(json.dumps(entry["recipe"]).split('"'))


def test_kill_9_and_the_same_command_give_the_weights_of_an_undisturbed_training(bases, tmp_path, monkeypatch):
    from harness_train import trainer

    evaluate = trainer.Teacher.evaluate

    def better_each_time(self, *args, **more):
        self._score = lambda: REST | {"f1": self.state.global_step / 100}
        return evaluate(self, *args, **more)

    monkeypatch.setattr(trainer.Teacher, "evaluate", better_each_time)  # so that the last step is the chosen one
    settings = [FAST, "task.perturbation=permutation", "recipe.evaluations=2"]
    whole = made(bases["nli"], tmp_path / "whole", *settings)
    child = os.fork()
    if not child:
        try:

            def die(self, args, state, *_, **__):
                if state.global_step == 5:
                    os.kill(os.getpid(), signal.SIGKILL)

            trainer._Watch.on_log = die
            made(bases["nli"], tmp_path / "killed", *settings)
        finally:
            os._exit(1)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
    (work,) = (tmp_path / "killed/nli").glob("*.work")
    assert (work / "checkpoint-4/trainer_state.json").exists() and not work.with_suffix("").exists()
    again = made(bases["nli"], tmp_path / "killed", *settings)
    assert weights(again.folder) == weights(whole.folder) != weights(bases["nli"])
    assert again.training["curve"] == whole.training["curve"]
    assert again.training["chosen"] == whole.training["chosen"] and again.training["chosen"]["step"] == 6
    assert not work.exists()
    # What is there already is not made again.
    assert made(bases["nli"], tmp_path / "killed", *settings).training["started"] == again.training["started"]


def test_half_a_checkpoint_is_not_gone_on_from(tmp_path):
    from harness_train import trainer

    for step, state in ((2, "{}\n"), (4, '{"half'), (6, None)):
        folder = tmp_path / f"checkpoint-{step}"
        folder.mkdir()
        if state is not None:
            (folder / "trainer_state.json").write_text(state)
    assert trainer.last_whole(tmp_path) == str(tmp_path / "checkpoint-2")
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint-2"]


def test_of_equal_scores_the_smaller_loss_is_chosen_and_one_that_only_says_no_is_told(bases, tmp_path, capsys):
    # No Yes in any evaluation: all have F1 0, and the loss falls.
    entry = made(bases["two"], tmp_path, "recipe.learning_rate=1e-5", "recipe.evaluations=2", "task.limit=32").training
    losses = {e["step"]: e["eval_loss"] for e in entry["curve"] if "eval_loss" in e}
    assert {e["eval_f1"] for e in entry["curve"] if "eval_f1" in e} == {entry["chosen"]["dev"]["f1"]}
    assert entry["chosen"]["step"] == min(losses, key=losses.get) and entry["chosen"]["step"] != min(losses)
    assert ("answers No to every dev item" in capsys.readouterr().err) == (entry["chosen"]["dev"]["yes"] == 0)


@pytest.mark.slow
def test_adapters_are_kept_as_peft_reads_them(bases, tmp_path):
    from peft import PeftModel
    from transformers import AutoModelForCausalLM

    folder = made(bases["llama"], tmp_path, "recipe=causal_lm", "recipe.lora.r=2", FAST).folder
    base = AutoModelForCausalLM.from_pretrained(bases["llama"])
    merged = PeftModel.from_pretrained(base, folder / "adapter").merge_and_unload().state_dict()
    for name, weight in AutoModelForCausalLM.from_pretrained(folder).state_dict().items():
        assert weight.allclose(merged[name], atol=1e-6), name
    plain = adapter_of("causal_lm", bases["llama"])
    adapted = adapter_of("causal_lm", bases["llama"], adapter=str(folder / "adapter"))
    request = ChoiceRequest((Message("user", "A correlates with B."),), ("Yes", "No"))
    ((_, answer),), ((_, expected),) = (
        next(model.respond([request])) for model in (adapted, adapter_of("causal_lm", folder))
    )
    assert answer.logprobs == pytest.approx(expected.logprobs, abs=1e-5) and adapted.identity != plain.identity
    with pytest.raises(ConfigError, match="holds no adapter_config"):
        adapter_of("causal_lm", bases["llama"], adapter=str(tmp_path)).identity  # noqa: B018
    with pytest.raises(ConfigError, match="does not fit the checkpoint"):
        [*adapter_of("causal_lm", bases["gpt2"], adapter=str(folder / "adapter")).respond([request])]


def test_nothing_of_the_test_sets_is_ever_written_as_a_question(bases, tmp_path, monkeypatch):
    tested = {(c.n, c.number) for version in ("v1", "v2") for c in public_test(version)}
    seen, item = [], ItemWriter.item
    monkeypatch.setattr(
        ItemWriter, "item", lambda self, claim: seen.append((claim.n, claim.number)) or item(self, claim)
    )
    made(bases["nli"], tmp_path, "recipe.epochs=1")
    assert len(seen) > 60 and not tested & set(seen)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["task.split=test"], "models are scored on the test split, so nothing is learned from it"),
        (["task.split=all", "task.limit=null"], "premises to learn from are premises of the test split, up to names"),
        (["task.split=dev", "task.limit=null"], "premises to learn from are premises of the dev split"),
        (["prompt=one_text", "recipe.max_length=100"], "would lose the end of their hypothesis and keep their label"),
        (["recipe.max_length=5"], "24 of 24 examples do not fit"),
        (["recipe.labels=[yes,no,maybe]"], "has no class entailment (its classes: yes, no, maybe)"),
        (["recipe.learning_rate=1e30"], "the loss is no number any more at step"),
        (["dev_limit=1", "task.relations=[parent]"], "is a Yes, so that F1 chooses nothing"),
        (["task.limit=1"], "examples to learn from have the same answer"),
        (["task.source=file", "task.path=a.csv"], "leave out task.perturbation and task.split"),
        (["recipe.kind=causal_lm", "recipe.labels=[a,b]"], "is for classifiers"),
        (["recipe.trainer={save_steps: 5}"], "recipe.trainer.save_steps: the recipe"),
        (["recipe.trainer={gradient_checkpoint: true}"], "unexpected keyword argument 'gradient_checkpoint'"),
    ],
)
def test_what_cannot_be_learned_is_a_sentence(bases, tmp_path, monkeypatch, arguments, sentence):
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text("premise,hypothesis,label\nA,B,1\n")
    with pytest.raises(HarnessError) as error:
        made(bases["nli"], tmp_path, *arguments)
    assert sentence in str(error.value)


@pytest.mark.parametrize("name", [pytest.param("roberta", marks=pytest.mark.slow), "gpt2"])
def test_lora_is_merged_into_an_ordinary_checkpoint(bases, tmp_path, name):
    from harness_train import trainer

    kind = "causal_lm" if name == "gpt2" else "nli"
    entry = made(bases[name], tmp_path, f"recipe={kind}", "recipe.lora.r=2", FAST, "recipe.epochs=1")
    files = {path.name for path in entry.folder.iterdir()}
    assert "model.safetensors" in files and not any("adapter_" in file for file in files)
    _, lessons = lessons_of(composed(f"recipe={kind}", f"recipe.path={bases[name]}", *SMALL))
    assert trainer.scores_of(adapter_of(kind, entry.folder), lessons.prompt, lessons.dev.rows)["f1"] == entry.f1


def test_the_losses_are_those_of_a_hand_computation(bases):
    import torch

    learner, _ = lessons_of(composed(f"recipe.path={bases['nli']}", *SMALL))
    logits = torch.tensor([[0.3, -1.0, 2.0], [1.0, 0.5, -0.7]])  # neutral, contradiction, entailment
    outputs = type("Outputs", (), {"logits": logits})
    p = logits.softmax(-1)[:, 2]
    labels = torch.tensor([1, 0])
    plain_loss = [-p[0].log(), -(1 - p[1]).log()]
    assert learner.loss(outputs, labels).item() == pytest.approx((sum(plain_loss) / 2).item())
    assert learner.loss(outputs, labels, 8).item() == pytest.approx((sum(plain_loss) / 8).item())


@pytest.mark.slow
def test_the_best_point_of_a_grid_is_the_best_on_dev(bases, tmp_path, monkeypatch, capsys):
    from harness_train import trainer

    points = {1e-3: 0.3, 2e-3: 0.7, 5e-3: 0.5}

    def scores(*_):
        return REST | {"f1": points[rate[0]]}

    rate, make = [], making.make

    def kept(config):
        rate[:] = [config["recipe"]["learning_rate"]]
        return make(config)

    monkeypatch.setattr(trainer, "scores_of", scores)
    monkeypatch.setattr("harness_train.make.make", kept)
    settings = [f"recipe.path={bases['nli']}", f"out={tmp_path}", *SMALL, "recipe.epochs=1"]
    swept = ["recipe.learning_rate=1e-3,2e-3,5e-3", "-m"]
    monkeypatch.setattr("sys.argv", ["harness", *settings, *swept])
    assert hydra_app.launch(job, "finetune", grid) == 0
    assert "best on dev: " in (output := capsys.readouterr().out)
    assert "recipe.learning_rate=0.002" in output.partition("best on dev: ")[2].partition("\n")[0]


@pytest.mark.slow
def test_every_recipe_is_composed_and_table_5a_is_complete():
    recipes = {}
    for name in listed(CONFIGS, "recipe"):
        config = composed(f"recipe={name}")["recipe"]
        recipes[name] = build(config | ({"path": "LOCAL"} if config.get("path") == "???" else {}), "recipe")
        assert recipes[name].name == name
    rows = {name for name in recipes if "Table 5a" in listed(CONFIGS, "recipe")[name].read_text().partition("\n")[0]}
    others = {"nli", "causal_lm", "decoder_1b", "smollm2"}
    assert len(rows) == 13 and set(recipes) - rows == others
