"""A Llama of 0.3 million random parameters that every server takes: two layers, heads of 32 numbers."""

from __future__ import annotations

from pathlib import Path

from support.conftest_models import TEXT

TEMPLATE = (
    "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}"
    "{% if add_generation_prompt %}assistant:{% endif %}"
)
POSITIONS = 2048
WRITE_GGUF = Path(__file__).with_name("write_gguf.py")
"""python WRITE_GGUF FOLDER OUT.gguf puts it into the form of llama.cpp."""


def checkpoint(folder: Path) -> Path:
    import torch
    from tokenizers import ByteLevelBPETokenizer
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    raw = ByteLevelBPETokenizer()
    words = [TEXT, "Question: Answer: Yes No Just answer", "\nYes\nNo\n yes no YES NO"]
    raw.train_from_iterator(words * 3, vocab_size=500, special_tokens=["<|end|>"])
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=raw._tokenizer, eos_token="<|end|>", bos_token="<|end|>")
    tokenizer.chat_template = TEMPLATE
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=128,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=POSITIONS,
        initializer_range=0.1,
        bos_token_id=0,
        eos_token_id=0,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
