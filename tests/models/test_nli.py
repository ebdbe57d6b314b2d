from __future__ import annotations

import json
import math
import shutil

import pytest
from support.conftest_models import nli_checkpoint
from support.outcomes import each

from harness.cli import hydra_app
from harness.codec import content_digest
from harness.errors import ConfigError, RunStopped
from harness.models.local.engine import TokenBudget, in_batches
from harness.models.local.nli import NLI
from harness.prepare import carry_out, prepare
from harness.prompting.prompts import load
from harness.types import Failure, PairRequest
from harness.verify.__main__ import main as verify

SHORT = PairRequest("A correlates with B.", "A directly causes B.")
LONG = PairRequest("A correlates with B. " * 40, "A directly causes B.")


def nli(path, **settings) -> NLI:
    return NLI(**{"name": "tiny", "path": str(path), "dtype": "float32", "device": "cpu", **settings})


def by_hand(path, request: PairRequest, **tokenizing) -> dict[str, float]:
    """Return the three log-probabilities by transformers alone, one pair at a time."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(path)
    model = AutoModelForSequenceClassification.from_pretrained(path).eval()
    with torch.no_grad():
        row = model(**tokenizer(request.premise, request.hypothesis, return_tensors="pt", **tokenizing)).logits[0]
    names = {k: name.lower() for k, name in model.config.id2label.items()}
    return {names[k]: float(p) for k, p in enumerate(row.log_softmax(0))}


def test_batches_agree_with_one_pair_at_a_time(nli_path):
    requests = [
        PairRequest(f"A correlates with B. {'C is independent of D. ' * k}", "B directly causes A.") for k in range(6)
    ]
    found = dict(each(nli(nli_path, batch_tokens=64).respond(requests)))
    assert set(found) == set(requests)
    for request, response in found.items():
        expected = by_hand(nli_path, request)
        assert response.logprobs == pytest.approx(expected, abs=1e-5)
        assert response.text == max(expected, key=expected.__getitem__)
        assert sum(map(math.exp, response.logprobs.values())) == pytest.approx(1)


def test_the_premise_is_cut_and_said_so_the_hypothesis_never(nli_path):
    found = dict(each(nli(nli_path).respond([SHORT, LONG])))
    assert found[SHORT].finish_reason == "stop"
    assert found[LONG].finish_reason == "premise_truncated"
    assert found[LONG].usage.input == 64
    assert found[LONG].logprobs == pytest.approx(
        by_hand(nli_path, LONG, truncation="only_first", max_length=64), abs=1e-5
    )


def test_a_hypothesis_that_does_not_fit_is_a_failure(nli_path):
    (outcome,) = dict(each(nli(nli_path).respond([PairRequest("A", "A directly causes B. " * 30)]))).values()
    assert isinstance(outcome, Failure) and outcome.kind == "context_length"


def test_a_shorter_limit_is_respected_and_part_of_the_identity(nli_path):
    (response,) = dict(each(nli(nli_path, max_length=20).respond([LONG]))).values()
    assert response.usage.input == 20
    assert nli(nli_path, max_length=20).identity != nli(nli_path).identity


def test_generic_class_names_are_refused_and_can_be_named(tmp_path):
    path = nli_checkpoint(tmp_path / "generic", {0: "LABEL_0", 1: "LABEL_1", 2: "LABEL_2"})
    with pytest.raises(ConfigError, match=r"no entailment labels.*LABEL_0.*model\.labels"):
        list(each(nli(path).respond([SHORT])))
    orders = (("contradiction", "entailment", "neutral"), ("entailment", "neutral", "contradiction"))
    first, second = (dict(each(nli(path, labels=order).respond([SHORT])))[SHORT].logprobs for order in orders)
    assert first["entailment"] == second["neutral"] and first["contradiction"] == second["entailment"]


def test_two_classes_answer_where_their_names_say_which_is_entailment(tmp_path):
    path = nli_checkpoint(tmp_path / "two", {0: "not_entailment", 1: "entailment"})
    ((_, response),) = each(nli(path).respond([SHORT]))
    assert set(response.logprobs) == {"entailment", "not_entailment"}
    assert sum(map(math.exp, response.logprobs.values())) == pytest.approx(1, abs=1e-5)
    path = nli_checkpoint(tmp_path / "others", {0: "entailment", 1: "contradiction"})
    with pytest.raises(ConfigError, match="no entailment labels"):
        list(each(nli(path).respond([SHORT])))


def test_a_missing_checkpoint_is_a_sentence(tmp_path):
    with pytest.raises(ConfigError, match="no such folder"):
        _ = nli(tmp_path / "nowhere").identity
    with pytest.raises(ConfigError, match=r"someone/nothing.*neither a folder.*nor can it be downloaded"):
        _ = nli("someone/nothing").identity
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigError, match="no weights"):
        _ = nli(tmp_path / "empty").identity


def test_a_broken_checkpoint_is_a_sentence(nli_path, tmp_path):
    import shutil

    broken = shutil.copytree(nli_path, tmp_path / "broken")
    (broken / "model.safetensors").write_bytes(b"not weights")
    with pytest.raises(ConfigError, match="cannot be loaded"):
        list(each(nli(broken).respond([SHORT])))


def test_identity_follows_the_files_not_the_folder(nli_path, tmp_path):
    import shutil

    copy = shutil.copytree(nli_path, tmp_path / "copy")
    assert nli(copy).identity == nli(nli_path).identity
    assert nli(nli_path, dtype="bfloat16").identity != nli(nli_path).identity
    other = shutil.copytree(nli_path, tmp_path / "other")
    config = json.loads((other / "config.json").read_text())
    (other / "config.json").write_text(json.dumps(config | {"layer_norm_eps": 0.1}))
    assert nli(other).identity != nli(nli_path).identity


def test_identity_needs_no_torch(nli_path):
    import subprocess
    import sys

    code = (
        "import sys; from harness.models.local.nli import NLI; "
        f"NLI(name='m', path={str(nli_path)!r}).identity; "
        "sys.exit(bool({'torch', 'transformers'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_the_pair_prompt_reads_entailment_as_yes(nli_path):
    prompt = load("corr2cause", "pair", ())
    request = prompt.render({"premise": SHORT.premise, "hypothesis": SHORT.hypothesis}, (), PairRequest)
    assert request == SHORT
    (response,) = dict(each(nli(nli_path).respond([request]))).values()
    answer = prompt.parse(response, {})
    assert answer.probability == pytest.approx(math.exp(response.logprobs["entailment"]))
    assert answer.label == int(response.text == "entailment")


def test_batches_stay_within_the_token_budget_longest_first():
    lengths = [5, 30, 7, 7, 12, 100, 3]
    found = list(in_batches(lengths, lambda length: length, TokenBudget(40), lambda batch: [-k for k in batch]))
    assert sorted(pair for batch in found for pair in batch) == sorted((length, -length) for length in lengths)
    assert found[0] == [(100, -100)]
    assert all(len(batch) == 1 or max(batch)[0] * len(batch) <= 40 for batch in found)


def test_a_batch_that_does_not_fit_is_cut_and_nothing_is_computed_twice(capsys):
    import torch

    done: list[int] = []

    def work(batch: list[int]) -> list[int]:
        if max(batch) * len(batch) > 30:
            raise torch.OutOfMemoryError("CUDA out of memory")
        done.extend(batch)
        return batch

    budget = TokenBudget(100)
    assert len(list(in_batches([10] * 12, lambda length: length, budget, work))) == 6
    assert done == [10] * 12 and budget.tokens == 25
    assert capsys.readouterr().err.count("out of memory with") == 2
    with pytest.raises(RunStopped, match="out of memory: 31 tokens at once are too many"):
        list(in_batches([31], lambda length: length, budget, work))


def test_other_errors_of_torch_are_not_taken_for_a_lack_of_memory():
    def work(batch: list[int]) -> None:
        raise RuntimeError("mat1 and mat2 shapes cannot be multiplied")

    with pytest.raises(RuntimeError, match="mat1"):
        list(in_batches([1, 2], lambda length: length, TokenBudget(9), work))


def test_a_manifest_quotes_the_record_of_a_checkpoints_training_which_changes_nothing_else(
    nli_path, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    folder = shutil.copytree(nli_path, tmp_path / "mine")
    chosen = ["model=nli", f"model.path={folder}", "model.name=mine", "model.device=cpu", "task.limit=3"]
    config = hydra_app.composed("config", chosen)
    without = prepare(config)
    (folder / "training.json").write_text('{"loss": 0.5}')  # some other program's
    assert prepare(config).folder.manifest.training is None
    record = {"recipe": {"name": "nli", "seed": 3}, "train": {"items": {"sha256": "ab"}}, "chosen": {"step": 4}}
    (folder / "training.json").write_text(json.dumps(record | {"curve": [{"step": 1}]}))
    prepared = prepare(config)
    assert prepared.folder.manifest.configuration == without.folder.manifest.configuration
    assert prepared.folder.path == without.folder.path
    carry_out(prepared)
    manifest = json.loads((prepared.folder.path / "manifest.json").read_text())
    quoted = manifest["training"]
    assert quoted.pop("sha256") == content_digest(folder / "training.json")
    assert quoted == record | {"file": "training.json"}
    assert verify([str(prepared.folder.path)]) == 0


def test_a_pair_without_tokens_is_a_failure_by_name(nli_path):
    model = NLI(name="m", path=str(nli_path), device="cpu")
    _, network, indices = model._parts
    model.__dict__["_parts"] = (lambda *pairs, **_: {"input_ids": [[]] * len(pairs[0])}, network, indices)
    (outcome,) = dict(each(model.respond([PairRequest("A", "B")]))).values()
    assert outcome.kind == "empty_prompt"
