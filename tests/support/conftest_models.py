"""Tiny real checkpoints, built once a session: real tokenizers, real weights, a few kilobytes."""

from __future__ import annotations

from pathlib import Path

import pytest

TEXT = (
    "A B C D E F Z Y X correlates with is independent of and are given directly causes There exists at least one "
    "collider ( i.e. , common effect ) confounder cause something else which Suppose there a closed system 2 3 4 5 6 "
    "variables All the statistical relations among these as follows : . However for but not direct"
)


def nli_checkpoint(folder: Path, labels: dict[int, str], max_positions: int = 64) -> Path:
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

    vocabulary = {word: k for k, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *dict.fromkeys(TEXT.split())])}
    raw = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    raw.pre_tokenizer = pre_tokenizers.Whitespace()
    raw.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])],
    )
    special = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=raw, model_max_length=max_positions, **special)
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    sizes |= {"vocab_size": len(vocabulary), "max_position_embeddings": max_positions, "initializer_range": 0.5}
    names = {"num_labels": len(labels), "id2label": labels, "label2id": {name: k for k, name in labels.items()}}
    config = BertConfig(**sizes, **names)
    BertForSequenceClassification(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def mlm_checkpoint(folder: Path, kind: str, max_positions: int = 128) -> Path:
    """kind: bert (words, lower case), roberta (bytes, positions after the padding index) or deberta (sentencepiece)."""
    import torch
    from tokenizers import AddedToken, ByteLevelBPETokenizer, Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import (
        BertConfig,
        BertForMaskedLM,
        DebertaV2Config,
        DebertaV2ForMaskedLM,
        DebertaV2Tokenizer,
        PreTrainedTokenizerFast,
        RobertaConfig,
        RobertaForMaskedLM,
    )

    words = list(dict.fromkeys([*TEXT.split(), "Question", "Answer", "Yes", "No"]))
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    sizes |= {"initializer_range": 0.5, "max_position_embeddings": max_positions}
    torch.manual_seed(0)
    if kind == "deberta":
        special = ["[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]"]
        vocabulary = [(word, 0.0) for word in special] + [(f"▁{word}", -1.0) for word in words] + [("▁", -5.0)]
        DebertaV2Tokenizer(vocab=vocabulary, unk_id=3, model_max_length=max_positions).save_pretrained(folder)
        config = DebertaV2Config(
            vocab_size=len(vocabulary), **sizes, pad_token_id=0, relative_attention=True, legacy=False
        )
        DebertaV2ForMaskedLM(config).save_pretrained(folder)
        return folder
    if kind == "bert":
        special = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
        special |= {"mask_token": "[MASK]"}
        lower = dict.fromkeys([*special.values(), *(word.lower() for word in words)])
        raw = Tokenizer(models.WordLevel({word: k for k, word in enumerate(lower)}, unk_token="[UNK]"))
        raw.normalizer = normalizers.Lowercase()
        raw.pre_tokenizer = pre_tokenizers.Whitespace()
        ends = ("[CLS]", "[SEP]")
    else:
        special = {"bos_token": "<s>", "pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
        special |= {"cls_token": "<s>", "sep_token": "</s>", "mask_token": AddedToken("<mask>", lstrip=True)}
        trained = ByteLevelBPETokenizer()
        names = ["<s>", "<pad>", "</s>", "<unk>"]
        trained.train_from_iterator([TEXT, " Yes No" * 20], vocab_size=600, special_tokens=names)
        raw = trained._tokenizer
        ends = ("<s>", "</s>")
    raw.post_processor = processors.TemplateProcessing(
        single=f"{ends[0]} $A {ends[1]}", special_tokens=[(end, raw.token_to_id(end)) for end in ends]
    )
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=raw, model_max_length=max_positions, **special)
    sizes |= {"vocab_size": len(tokenizer), "pad_token_id": tokenizer.pad_token_id}
    if kind == "bert":
        BertForMaskedLM(BertConfig(**sizes)).save_pretrained(folder)
    else:
        RobertaForMaskedLM(RobertaConfig(**sizes)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def lm_checkpoint(folder: Path, kind: str, template: str | None = None, words: str = "", **sizes: object) -> Path:
    """kind: gpt2 or llama; `words` are learned by its tokenizer as well, `sizes` are settings of its config."""
    import torch
    from tokenizers import ByteLevelBPETokenizer
    from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    raw, texts = ByteLevelBPETokenizer(), [TEXT, "Question: Answer: Yes No Just answer", *filter(None, [words])]
    raw.train_from_iterator(texts * 3, vocab_size=500 if words else 400, special_tokens=["<|end|>"])
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=raw._tokenizer, eos_token="<|end|>", bos_token="<|end|>")
    tokenizer.chat_template = template
    torch.manual_seed(0)
    small = {"hidden_size": 16, "num_hidden_layers": 2, "max_position_embeddings": 2048, "initializer_range": 0.3}
    small |= {"vocab_size": len(tokenizer), "bos_token_id": 0, "eos_token_id": 0, **sizes}
    if kind == "gpt2":
        GPT2LMHeadModel(GPT2Config(**small, num_attention_heads=2)).save_pretrained(folder)
    else:
        heads = {"intermediate_size": 32, "num_attention_heads": 4, "num_key_value_heads": 2}
        LlamaForCausalLM(LlamaConfig(**heads | small)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def nli_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    # An order that no adapter would guess: names decide, not positions.
    return nli_checkpoint(tmp_path_factory.mktemp("nli"), {0: "NEUTRAL", 1: "contradiction", 2: "Entailment"})


@pytest.fixture(scope="session")
def gpt2_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return lm_checkpoint(tmp_path_factory.mktemp("gpt2"), "gpt2")


@pytest.fixture(scope="session")
def llama_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    turn = "<{{ m.role }}>{{ m.content }}\n"
    template = f"{{% for m in messages %}}{turn}{{% endfor %}}{{% if add_generation_prompt %}}<assistant>{{% endif %}}"
    return lm_checkpoint(tmp_path_factory.mktemp("llama"), "llama", template)
