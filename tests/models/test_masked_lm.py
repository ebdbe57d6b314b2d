from __future__ import annotations

import json
import shutil

import pytest
from support.conftest_models import mlm_checkpoint, nli_checkpoint
from support.outcomes import each

from harness.cache import CachedModel, Store
from harness.errors import ConfigError, RunStopped
from harness.models.local.masked_lm import MaskedLM
from harness.types import ChoiceRequest, Failure, Message

TEXTS = [
    "Question : A correlates with B . Answer :",
    "A",
    "Question : " + "A is independent of B . " * 4 + "\n\nAnswer :",
]
LONG = "A correlates with B . " * 60


@pytest.fixture(scope="module", params=["bert", "roberta", "deberta"])
def path(request, tmp_path_factory):
    return mlm_checkpoint(tmp_path_factory.mktemp(request.param), request.param)


def mlm(path, **settings) -> MaskedLM:
    return MaskedLM(**{"name": "tiny", "path": str(path), "dtype": "float32", "device": "cpu", **settings})


def choice(text: str, choices=("Yes", "No")) -> ChoiceRequest:
    return ChoiceRequest((Message("user", text),), choices)


def by_hand(path, text: str, word: str) -> float:
    """Return the scores of one unpadded pass with the mask written into the text, by transformers alone."""
    import torch
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(path)
    model = AutoModelForMaskedLM.from_pretrained(path).eval()
    inputs = tokenizer(f"{text} {tokenizer.mask_token}", return_tensors="pt")
    (place,) = (inputs["input_ids"][0] == tokenizer.mask_token_id).nonzero().flatten().tolist()
    (token,) = tokenizer(f" {word}", add_special_tokens=False)["input_ids"]
    with torch.no_grad():
        return float(model(**inputs).logits[0, place].log_softmax(-1)[token])


@pytest.mark.parametrize("batch_tokens", [1, 8192])
def test_ranking_in_batches_agrees_with_one_pass_each(path, batch_tokens):
    found = dict(each(mlm(path, batch_tokens=batch_tokens).respond([choice(text) for text in TEXTS])))
    assert len(found) == len(TEXTS)
    for request, response in found.items():
        expected = {word: by_hand(path, request.messages[0].content, word) for word in ("Yes", "No")}
        assert response.logprobs == pytest.approx(expected, abs=1e-5)
        assert response.text == max(expected, key=expected.__getitem__)
        assert response.usage.output == 0


def test_a_prompt_that_is_too_long_is_that_items_failure_and_never_cut(path):
    found = dict(each(mlm(path).respond([choice(LONG), choice("A")])))
    assert found[choice("A")].logprobs
    failure = found[choice(LONG)]
    assert isinstance(failure, Failure) and failure.kind == "context_length" and " takes 12" in failure.detail
    shorter = dict(each(mlm(path, max_length=5).respond([choice(TEXTS[0])])))
    assert shorter[choice(TEXTS[0])].detail.endswith("the model takes 5")


def test_the_longest_prompt_that_fits_is_answered(path):
    model = mlm(path)
    fits = next(k for k in range(140, 0, -1) if not isinstance(model._encode(choice(" ".join("A" * k))), Failure))
    (response,) = dict(each(model.respond([choice(" ".join("A" * fits))]))).values()
    assert response.usage.input == model._limit == (126 if "roberta" in path.name else 128)


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        (("Yes", "No variable"), r"'No variable' is not one token.*other choices"),
        (("Yes", "Ωx"), "'Ωx' is not one token"),
    ],
)
def test_choices_of_several_tokens_or_none_stop_the_run(path, choices, said):
    with pytest.raises(RunStopped, match=said):
        list(each(mlm(path).respond([choice("A", choices)])))


def test_choices_that_are_the_same_token_stop_the_run(tmp_path):
    path = mlm_checkpoint(tmp_path / "bert", "bert")
    with pytest.raises(RunStopped, match="Yes, yes are the same token"):
        list(each(mlm(path).respond([choice("A", ("Yes", "yes"))])))


def test_answers_are_stored_under_the_files_of_the_checkpoint(path, tmp_path):
    store = Store(tmp_path / "cache.sqlite")
    first = dict(each(CachedModel(mlm(path), store).respond([choice("A")])))
    copy = shutil.copytree(path, tmp_path / "copy")
    again = dict(each(CachedModel(mlm(copy, batch_tokens=7, name="other"), store).respond([choice("A")])))
    assert again[choice("A")].cached and again[choice("A")].logprobs == first[choice("A")].logprobs
    identities = [mlm(path).identity, mlm(path, max_length=9).identity, mlm(path, dtype="bfloat16").identity]
    assert all(a != b for k, a in enumerate(identities) for b in identities[:k])
    assert identities[0]["kind"] == "masked_lm"
    store.close()


@pytest.mark.parametrize("kind", ["bert", "roberta"])
def test_low_precision_does_not_round_the_choices_away(tmp_path, kind):
    # A large output bias that both choices share: rounded to bfloat16 the logits would be exact to 0.5 only.
    import torch
    from transformers import AutoModelForMaskedLM

    path = mlm_checkpoint(tmp_path / kind, kind)
    shifted = AutoModelForMaskedLM.from_pretrained(path)
    with torch.no_grad():
        shifted.get_output_embeddings().bias.fill_(-80.0)
    shifted.save_pretrained(tmp_path / "shifted")
    for file in path.glob("tokenizer*"):
        shutil.copy(file, tmp_path / "shifted")
    requests = [choice(f"Question : {word} correlates with B . Answer :") for word in "ABCDEF"]
    plain, low = (dict(each(mlm(p, dtype="bfloat16").respond(requests))) for p in (path, tmp_path / "shifted"))
    for request in requests:
        assert low[request].logprobs == pytest.approx(plain[request].logprobs, abs=1e-4)


def test_the_head_of_debertas_authors_is_found(tmp_path):
    # Their configuration does not say where it is, and transformers would make another one up at random.
    path = mlm_checkpoint(tmp_path / "deberta", "deberta")
    expected = by_hand(path, "A", "Yes")
    config = json.loads((path / "config.json").read_text())
    assert config.pop("legacy") is False
    (path / "config.json").write_text(json.dumps(config))
    (response,) = dict(each(mlm(path).respond([choice("A")]))).values()
    assert response.logprobs["Yes"] == pytest.approx(expected, abs=1e-5)


def test_an_encoder_without_the_head_is_refused(tmp_path):
    path = nli_checkpoint(tmp_path / "nli", {0: "entailment", 1: "neutral", 2: "contradiction"})
    with pytest.raises(ConfigError, match=r"has no weights for cls\.predictions.*not made for MaskedLM"):
        list(each(mlm(path).respond([choice("A")])))
