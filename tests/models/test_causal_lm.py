from __future__ import annotations

import json
import shutil

import pytest
from support.conftest_models import lm_checkpoint
from support.outcomes import each

from harness.errors import RunStopped
from harness.models.local.causal_lm import CausalLM
from harness.types import ChatRequest, ChoiceRequest, Failure, Message

TEXTS = ["Question: A correlates with B. Answer:", "A", "Question: " + "A is independent of B. " * 9 + "\n\nAnswer:"]


def lm(path, *, share_prefixes=True, **settings) -> CausalLM:
    model = CausalLM(**{"name": "tiny", "path": str(path), "dtype": "float32", "device": "cpu", **settings})
    object.__setattr__(model, "share_prefixes", share_prefixes)
    return model


def choice(text: str) -> ChoiceRequest:
    return ChoiceRequest((Message("user", text),), ("Yes", "No"))


def parts(path):
    from transformers import AutoModelForCausalLM, AutoTokenizer

    return AutoTokenizer.from_pretrained(path), AutoModelForCausalLM.from_pretrained(path).eval()


def by_hand(path, prompt: str, continuation: str) -> float:
    """Return the scores of one unpadded forward pass, by transformers alone."""
    import torch

    tokenizer, model = parts(path)
    start = len(tokenizer(prompt)["input_ids"])
    ids = tokenizer(prompt + continuation, return_tensors="pt")["input_ids"]
    with torch.no_grad():
        logprobs = model(ids).logits[0].log_softmax(-1)
    return float(sum(logprobs[k - 1, ids[0, k]] for k in range(start, ids.shape[1])))


def test_a_padding_token_beyond_the_models_table_changes_nothing(gpt2_path, tmp_path):
    """An added [PAD] whose model was never resized: usual for fine-tuned LLaMA-1 and 2."""
    from transformers import AutoTokenizer

    path = tmp_path / "pad"
    shutil.copytree(gpt2_path, path)
    tokenizer = AutoTokenizer.from_pretrained(path)
    tokenizer.add_special_tokens({"pad_token": "[PAD]"})
    tokenizer.save_pretrained(path)
    settings = {"chat_template": False, "share_prefixes": False}
    requests = [choice(text) for text in TEXTS]
    padded, plain = (dict(each(lm(folder, **settings).respond(requests))) for folder in (path, gpt2_path))
    for request in requests:
        assert padded[request].logprobs == pytest.approx(plain[request].logprobs, abs=1e-5)


def test_a_chat_template_is_used_where_there_is_one(llama_path):
    (response,) = dict(each(lm(llama_path).respond([choice("A")]))).values()
    assert response.logprobs["Yes"] == pytest.approx(by_hand(llama_path, "<user>A\n<assistant>", "Yes"), abs=1e-4)


def test_a_checkpoints_own_sampling_settings_do_not_leak_in(gpt2_path, tmp_path):
    path = shutil.copytree(gpt2_path, tmp_path / "sampling")
    settings = json.loads((path / "generation_config.json").read_text())
    settings |= {"do_sample": True, "temperature": 5.0, "repetition_penalty": 30.0, "top_k": 5, "max_length": 7}
    (path / "generation_config.json").write_text(json.dumps(settings))
    request = ChatRequest((Message("user", TEXTS[0]),), max_tokens=12)
    (plain,) = dict(each(lm(gpt2_path, method="generate").respond([request]))).values()
    (sampled,) = dict(each(lm(path, method="generate").respond([request]))).values()
    assert sampled.text == plain.text


def test_what_exceeds_the_context_is_a_failure_for_that_item_only(tmp_path):
    path = lm_checkpoint(tmp_path / "short", "gpt2", max_position_embeddings=32)
    found = dict(each(lm(path).respond([choice(TEXTS[1]), choice(TEXTS[2])])))
    assert found[choice(TEXTS[1])].logprobs
    failure = found[choice(TEXTS[2])]
    assert isinstance(failure, Failure) and failure.kind == "context_length" and "32" in failure.detail
    long = ChatRequest((Message("user", TEXTS[1]),), max_tokens=500)
    assert isinstance(dict(each(lm(path).respond([long])))[long], Failure)


def test_low_precision_does_not_round_the_choices_away(tmp_path):
    # Logits near -60 that differ by tenths, as GPT-2's do: rounded to bfloat16 they would be exact to 0.25 only.
    import torch
    from transformers import GPT2LMHeadModel

    path = lm_checkpoint(tmp_path / "deep", "gpt2")
    model = GPT2LMHeadModel.from_pretrained(path)
    with torch.no_grad():
        model.lm_head.weight[:, 1:] *= 0.1
        model.lm_head.weight[:, 0] = 1.0
        model.transformer.ln_f.bias[0] = -60.0
    model.save_pretrained(path)
    requests = [choice(f"Question: {k} A correlates with B. Answer:") for k in range(20)]
    exact, low = (dict(each(lm(path, dtype=dtype).respond(requests))) for dtype in ("float32", "bfloat16"))
    errors = [low[r].logprobs[word] - exact[r].logprobs[word] for r in requests for word in ("Yes", "No")]
    assert max(map(abs, errors)) < 0.05


def test_numbers_that_are_none_are_a_failure(gpt2_path, tmp_path):
    import torch
    from transformers import GPT2LMHeadModel

    path = shutil.copytree(gpt2_path, tmp_path / "broken")
    model = GPT2LMHeadModel.from_pretrained(path)
    with torch.no_grad():
        model.transformer.ln_f.bias.fill_(float("nan"))
    model.save_pretrained(path)
    (outcome,) = dict(each(lm(path).respond([choice("A")]))).values()
    assert isinstance(outcome, Failure) and outcome.kind == "invalid_logprobs"


def test_a_template_is_told_the_same_date_every_day(tmp_path):
    template = "{{ strftime_now('%Y-%m-%d') }}{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}"
    model = lm(lm_checkpoint(tmp_path / "dated", "llama", template))
    assert model._turns.text((Message("user", "A"),)) == "2024-07-26<user>A"
    assert model.identity["chat_date"] == "2024-07-26"


def test_a_template_that_refuses_the_turns_is_a_sentence(tmp_path):
    refusal = "{% if m.role == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}"
    template = f"{{% for m in messages %}}{refusal}{{% endfor %}}"
    model = lm(lm_checkpoint(tmp_path / "strict", "llama", template))
    with pytest.raises(RunStopped, match=r"System role not supported.*without a system turn"):
        list(each(model.respond([ChoiceRequest((Message("system", "S"), Message("user", "A")), ("Yes", "No"))])))


def merging(path):
    """Return a tokenizer that merges the end of the prompt with the beginning of one choice only."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    lm_checkpoint(path, "gpt2")
    raw = Tokenizer(models.BPE({"a": 0, "N": 1, "o": 2, "Y": 3, "e": 4, "s": 5, "aN": 6, "<e>": 7}, [("a", "N")]))
    raw.pre_tokenizer = pre_tokenizers.Split(" ", "removed")
    template = "{% for m in messages %}{{ m.content }}{% endfor %}"
    PreTrainedTokenizerFast(tokenizer_object=raw, eos_token="<e>", chat_template=template).save_pretrained(path)
    return path


def test_all_choices_are_scored_after_the_same_tokens(tmp_path):
    requests = [ChoiceRequest((Message("user", text),), ("Yes", "No")) for text in ("oa", "a")]
    (yes, no), failure = lm(merging(tmp_path / "merging")).sequences(requests)
    assert isinstance(failure, Failure) and failure.kind == "empty_prompt"  # whose only token a choice changes
    assert yes.prompt == no.prompt == (2,)
    assert (yes.continuation, no.continuation) == ((0, 3, 4, 5), (6, 2))


def test_the_limit_of_a_model_that_nests_its_text_model_is_found():
    import transformers

    def limit(config, model) -> int:
        found = CausalLM(name="tiny", path="nowhere", device="cpu")
        found.__dict__["_parts"] = (None, getattr(transformers, model)(config))
        return found._limit

    small = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    text = small | {"vocab_size": 99, "num_key_value_heads": 1, "head_dim": 8, "max_position_embeddings": 64}
    vision = small | {"image_size": 28, "patch_size": 14}
    nested = transformers.Gemma3Config(text_config=text, vision_config=vision, mm_tokens_per_image=4)
    assert limit(nested, "Gemma3ForConditionalGeneration") == 64
    mpt = transformers.MptConfig(vocab_size=99, d_model=16, n_heads=2, n_layers=1, max_seq_len=32)
    assert limit(mpt, "MptForCausalLM") == 32


@pytest.mark.parametrize("share", [True, False])
@pytest.mark.parametrize("choices", [("Yes", "No"), ("No", "Yes"), ("A B C", "A", "B")])
def test_log_probabilities_come_in_the_order_of_the_choices(choices, share, gpt2_path):
    requests = [ChoiceRequest((Message("user", text),), choices) for text in TEXTS]
    for _, response in each(lm(gpt2_path, share_prefixes=share).respond(requests)):
        assert tuple(response.logprobs) == choices


@pytest.mark.parametrize("share", [True, False])
def test_a_tie_does_not_depend_on_the_engine(share, gpt2_path, tmp_path):
    import torch
    from transformers import GPT2LMHeadModel

    path = shutil.copytree(gpt2_path, tmp_path / "constant")
    model = GPT2LMHeadModel.from_pretrained(path)
    with torch.no_grad():
        model.transformer.ln_f.weight.zero_()
        model.transformer.ln_f.bias.zero_()
    model.save_pretrained(path)
    requests = [ChoiceRequest((Message("user", "C"),), choices) for choices in (("A", "B"), ("B", "A"))]
    answers = dict(each(lm(path, share_prefixes=share).respond(requests)))
    assert [answers[request].text for request in requests] == ["A", "B"]


@pytest.mark.parametrize("share", [True, False])
def test_without_a_token_to_go_on_from_there_is_no_answer(share, gpt2_path):
    writing = ChatRequest((Message("user", ""),), max_tokens=3)
    found = dict(each(lm(gpt2_path, share_prefixes=share).respond([choice(""), choice("A"), writing])))
    for request in (choice(""), writing):
        assert isinstance(found[request], Failure) and found[request].kind == "empty_prompt"
    assert found[choice("A")].logprobs
