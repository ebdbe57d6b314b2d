"""Small models whose prompts share common beginnings, and the results of one pass for each prompt."""

from __future__ import annotations

import pytest
from support.conftest_models import lm_checkpoint

from harness.models.local.causal_lm import CausalLM
from harness.types import ChatRequest, ChoiceRequest, Message

SYSTEM = "Suppose there is a closed system of variables. "


PREMISES = [
    "A correlates with B. A is independent of C. " * 3,
    "A correlates with B. A is independent of C. However B causes C. ",
    "D is independent of E given F. ",
]


CLAIMS = ["A directly causes B.", "A directly causes C.", "There exists at least one collider of A and B.", "B?"]


TEXTS = [f"{SYSTEM}{premise}{claim} Answer:" for premise in PREMISES for claim in CLAIMS]


WINDOW = 9
"""Tokens that sliding windows look back: a fifth of the prompts."""


SWITCH = 40
"""Tokens from which on a text of the longrope model has other positions: some of the prompts."""


SHARING = ("gpt2", "llama", "mistral", "gemma2", "opt", "dynamic")


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Use one thread: for models this small a second one only waits."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def model_of(kind: str, size: int):
    """Return a model with random weights, large enough that every token counts."""
    import torch
    import transformers

    sizes = {"vocab_size": size, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4}
    sizes |= {"max_position_embeddings": 512, "initializer_range": 0.3, "bos_token_id": 0, "eos_token_id": 0}
    grouped = {"num_key_value_heads": 2, "intermediate_size": 32}
    longrope = {"rope_type": "longrope", "short_factor": [1.0, 1.0], "long_factor": [9.0, 3.0]}
    longrope |= {"original_max_position_embeddings": SWITCH, "factor": 4.0}
    own = {
        "mistral": ("Mistral", grouped | {"sliding_window": WINDOW}),
        "gemma2": ("Gemma2", grouped | {"sliding_window": WINDOW, "head_dim": 8}),  # every second layer slides
        "opt": ("OPT", {"ffn_dim": 32, "word_embed_proj_dim": 16}),
        "dynamic": ("Llama", grouped | {"rope_scaling": {"rope_type": "dynamic", "factor": 2.0}}),
        "longrope": ("Llama", grouped | {"rope_scaling": longrope}),
        "mamba": ("Mamba", {}),
        "rwkv": ("Rwkv", {"context_length": 512, "attention_hidden_size": 16, "intermediate_size": 32}),
        "roformer": ("RoFormer", {"intermediate_size": 32, "is_decoder": True, "pad_token_id": 0}),
        "mpt": ("Mpt", {"d_model": 32, "n_heads": 4, "n_layers": 2, "max_seq_len": 512, "expansion_ratio": 2}),
        "doge": ("Doge", grouped | {"keep_window_size": 400}),
        "bloom": ("Bloom", {}),
        "gpt_neo": ("GPTNeo", {"num_layers": 2, "num_heads": 4, "attention_types": [[["global", "local"], 1]]}),
    }
    name, settings = own[kind]
    torch.manual_seed(0)
    return getattr(transformers, f"{name}ForCausalLM")(getattr(transformers, f"{name}Config")(**sizes | settings))


@pytest.fixture(scope="session")
def checkpoint(gpt2_path, llama_path, tmp_path_factory):
    """Return a function that gives a checkpoint's folder by kind, made at the first call."""
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()  # tests look at what is said on stderr
    made = {"gpt2": gpt2_path, "llama": llama_path}

    def get(kind: str):
        if kind not in made:
            folder = lm_checkpoint(tmp_path_factory.mktemp(kind), "gpt2")
            from transformers import AutoTokenizer

            model_of(kind, len(AutoTokenizer.from_pretrained(folder))).save_pretrained(folder)
            made[kind] = folder
        return made[kind]

    return get


def lm(path, *, share_prefixes=True, **settings) -> CausalLM:
    fixed = {"name": "tiny", "path": str(path), "dtype": "float32", "device": "cpu", "chat_template": False}
    model = CausalLM(**{**fixed, **settings})
    object.__setattr__(model, "share_prefixes", share_prefixes)
    return model


def ranking(text: str, *choices: str) -> ChoiceRequest:
    return ChoiceRequest((Message("user", text),), choices or ("Yes", "No"))


def writing(text: str, **settings) -> ChatRequest:
    return ChatRequest((Message("user", text),), **{"max_tokens": 8, **settings})


def scored_alone(model: CausalLM, request: ChoiceRequest) -> dict[str, float]:
    """Return the scores of one forward pass for each choice, by transformers alone."""
    import torch

    tokenizer, network = model._parts
    found = {}
    text = request.messages[0].content
    start = len(tokenizer(text)["input_ids"])
    for choice in request.choices:
        ids = tokenizer(f"{text} {choice}", return_tensors="pt")["input_ids"]
        with torch.inference_mode():
            logprobs = network(ids, use_cache=False).logits[0].log_softmax(-1)
        found[choice] = float(sum(logprobs[k - 1, ids[0, k]] for k in range(start, ids.shape[1])))
    return found


def written_alone(model: CausalLM, request: ChatRequest) -> list[int]:
    """Return the tokens written one by one, without a cache, to the end token or the limit."""
    import torch

    tokenizer, network = model._parts
    ids = tokenizer(request.messages[0].content, return_tensors="pt")["input_ids"]
    start = ids.shape[1]
    while ids.shape[1] < start + request.max_tokens:
        with torch.inference_mode():
            best = network(ids, use_cache=False).logits[0, -1].argmax()
        if best == tokenizer.eos_token_id:
            break
        ids = torch.cat([ids, best.view(1, 1)], 1)
    return ids[0, start:].tolist()


def read_tokens(model: CausalLM) -> list[int]:
    """Return a list that collects the number of tokens that each forward pass from now on reads."""
    _ = model._engine  # whose trial does not count
    counted: list[int] = []
    embeddings = model._parts[1].get_input_embeddings()
    embeddings.register_forward_hook(lambda module, inputs, output: counted.append(inputs[0].numel()))
    return counted


def beginnings(model: CausalLM, requests) -> int:
    """Return the number of tokens if each distinct beginning is read once."""
    return len({tuple(read[:k]) for read in reads(model, requests) for k in range(1, len(read) + 1)})


def reads(model: CausalLM, requests) -> list[tuple[int, ...]]:
    """Return the tokens of each prompt with all but the last token of each choice."""
    found: list[tuple[int, ...]] = []
    for request in requests:
        if isinstance(request, ChatRequest):
            found += [one.prompt for one in model.writings([request])]
        else:
            found += [sequence.read for one in model.sequences([request]) for sequence in one]
    return found


@pytest.fixture
def memory_for(monkeypatch):
    """Let a pass run out of memory, after it has written keys and values of one layer: (number of pass, tokens,
    tokens remembered)."""
    import torch

    from harness.models.local.prefix_tree import Memory

    def limit(fails) -> list[int]:
        passed: list[int] = []
        read, numbers = Memory.read, iter(range(10**6))

        def limited(self, tokens, *rest):
            if fails(next(numbers), len(tokens), self.length):
                config = self.model.config
                heads = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
                junk = torch.full((1, heads, len(tokens), config.hidden_size // config.num_attention_heads), 1e3)
                with torch.inference_mode():
                    self.cache.layers[0].update(junk, junk)
                raise torch.OutOfMemoryError("CUDA out of memory")
            passed.append(len(tokens))
            return read(self, tokens, *rest)

        monkeypatch.setattr(Memory, "read", limited)
        return passed

    return limit
