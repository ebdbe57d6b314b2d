"""Write a small Llama in the form of llama.cpp: python write_gguf.py FOLDER OUT.gguf (needs gguf and numpy only)."""

import json
import sys
from pathlib import Path

import numpy as np
from gguf import GGUFWriter, TokenType

OUTER = {
    "model.embed_tokens.weight": "token_embd.weight",
    "model.norm.weight": "output_norm.weight",
    "lm_head.weight": "output.weight",
}
OF_LAYER = {
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}


def tensors(folder: Path) -> dict[str, np.ndarray]:
    raw = (folder / "model.safetensors").read_bytes()
    begin = 8 + int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8:begin])
    header.pop("__metadata__", None)
    return {
        name: np.frombuffer(raw[begin + (at := entry["data_offsets"])[0] : begin + at[1]], np.float32).reshape(
            entry["shape"]
        )
        for name, entry in header.items()
    }


def turned(weights: np.ndarray, heads: int) -> np.ndarray:
    """llama.cpp turns neighbouring numbers of a head, transformers those of its halves."""
    rows = weights.shape[0] // heads // 2
    return weights.reshape(heads, 2, rows, *weights.shape[1:]).swapaxes(1, 2).reshape(weights.shape)


def main(folder: Path, out: str) -> None:
    config = json.loads((folder / "config.json").read_text())
    words = json.loads((folder / "tokenizer.json").read_text())["model"]
    heads, of_keys = config["num_attention_heads"], config["num_key_value_heads"]
    writer = GGUFWriter(out, "llama")
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(heads)
    writer.add_head_count_kv(of_keys)
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_rope_dimension_count(config["hidden_size"] // heads)
    writer.add_rope_freq_base(10000.0)
    writer.add_file_type(0)
    writer.add_vocab_size(config["vocab_size"])
    tokens = sorted(words["vocab"], key=words["vocab"].get)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types([TokenType.CONTROL if token == "<|end|>" else TokenType.NORMAL for token in tokens])
    writer.add_token_merges([merge if isinstance(merge, str) else " ".join(merge) for merge in words["merges"]])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(0)
    writer.add_add_bos_token(False)
    writer.add_chat_template((folder / "chat_template.jinja").read_text())
    for name, weights in tensors(folder).items():
        renamed = OUTER.get(name)
        if renamed is None:
            _, _, layer, part = name.removesuffix(".weight").split(".", 3)
            renamed = f"blk.{layer}.{OF_LAYER[part]}.weight"
            weights = turned(weights, heads) if part == "self_attn.q_proj" else weights
            weights = turned(weights, of_keys) if part == "self_attn.k_proj" else weights
        writer.add_tensor(renamed, np.ascontiguousarray(weights))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


main(Path(sys.argv[1]), sys.argv[2])
