"""Train a small decoder by GRPO (TRL) on exactly labelled questions, on one core of a processor: docs/training.md.

    pip install -e . trl==1.16.0      # and torch for processors, where there is no GPU
    python examples/grpo.py out=grpo

It learns from premises of up to five variables, is validated on six and tested on seven, so that no premise of one is
another's under other names. Rewards are those of `trl.reward`, and nothing else tells it what is right. Leaves `out`,
an ordinary checkpoint, and `out`/curve.jsonl.
"""

from __future__ import annotations

import json
import random
import sys
import time
from itertools import chain
from pathlib import Path
from typing import Any

LEARNED, VALIDATED, TESTED = [2, 3, 4, 5], [6], [7]
QUESTIONS, REPLIES, STEPS = 32, 4, 1000
"""Of a step: questions, and replies to each of them; and how many steps there are."""


def lessons(passes: int) -> Any:
    """Return questions of up to five variables, other names in each pass, Yes as often as No in each relation."""
    from datasets import concatenate_datasets

    from harness.plugins.bridges import trl

    settings: dict[str, Any] = {"split": "all", "num_nodes": LEARNED, "perturbation": "varied"}
    # Turned round in every other pass (wording=2), so that a child is as often right as a parent.
    each = [trl.dataset("corr2cause", rows=10**6, **settings, seed=k, wording=2 * (k % 2)) for k in range(passes)]
    rows, strata = concatenate_datasets(each), dict[tuple[str, str], list[int]]()
    for place, (metadata, answer) in enumerate(zip(rows["metadata"], rows["answer"], strict=True)):
        strata.setdefault((json.loads(metadata)["relation"], answer), []).append(place)
    # A step has each Yes with a No of its relation, near it in length: always saying the same earns nothing,
    # and less of the time goes into padding.
    draws, pairs = random.Random(0), list[tuple[int, int]]()
    length = {place: (len(turns[-1]["content"]), draws.random()) for place, turns in enumerate(rows["prompt"])}
    for relation in sorted({relation for relation, _ in strata}):
        yes, no = (strata.get((relation, answer), []) for answer in ("Yes", "No"))
        number = min(len(yes), len(no))
        halves = (sorted(draws.sample(places, number), key=length.__getitem__) for places in (yes, no))
        pairs += zip(*halves, strict=True)
    pairs.sort(key=lambda pair: length[pair[0]])
    size = QUESTIONS // 2
    steps = [pairs[at : at + size] for at in range(0, len(pairs) - size + 1, size)]
    draws.shuffle(steps)
    return rows.select(chain.from_iterable(chain(*steps)))


def base(texts: list[str], seed: int) -> tuple[Any, Any]:
    """Return a GPT-2 with random weights and its tokenizer: a token for each sentence, as `recipe=tiny_renamed` has."""
    import torch
    from tokenizers import processors
    from transformers import GPT2Config, GPT2LMHeadModel

    from harness.plugins.train.scratch import SPECIAL, codes, sentence_tokenizer, sentences

    vocabulary = sorted({sentence for text in texts for sentence in sentences(text)} | {"Yes", "No"})
    tokenizer = sentence_tokenizer(vocabulary, 512)
    tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(single="$A", pair="$A $B")
    tokenizer.chat_template = "{% for message in messages %}{{ message['content'] }} {% endfor %}"
    tokenizer.eos_token, tokenizer.model_input_names = "[SEP]", ["input_ids", "attention_mask"]
    torch.manual_seed(seed)
    sizes: dict[str, Any] = {"n_embd": 128, "n_layer": 2, "n_head": 4, "n_inner": 256, "n_positions": 512}
    still = dict.fromkeys(("resid_pdrop", "embd_pdrop", "attn_pdrop"), 0.0)
    ends: dict[str, Any] = {"bos_token_id": None, "eos_token_id": tokenizer.eos_token_id, "pad_token_id": 0}
    config = GPT2Config(vocab_size=len(tokenizer), initializer_range=0.08, **sizes, **still, **ends)
    model = GPT2LMHeadModel(config)
    places, words = model.transformer.wpe.weight, model.transformer.wte.weight
    with torch.no_grad():
        places.zero_()  # a premise's sentences have no order
        words[len(SPECIAL) :] = codes(vocabulary, 128, config.initializer_range)
    places.requires_grad_(False)
    words.requires_grad_(False)  # what is learned of one letter holds for all
    return model, tokenizer


def logits(model: Any, tokenizer: Any, texts: list[str]) -> Any:
    """Return the logits of what comes after each text."""
    tokens = tokenizer(texts, return_tensors="pt", padding=True, padding_side="left")
    return model(**tokens, logits_to_keep=1).logits[:, -1]


def warm_up(model: Any, tokenizer: Any, texts: list[str], steps: int = 60) -> None:
    """Teach the model to say Yes or No, by the toss of a coin: nothing of which one is right."""
    import torch

    draws, words = random.Random(1), tokenizer.convert_tokens_to_ids(["No", "Yes"])
    optimizer = torch.optim.AdamW([each for each in model.parameters() if each.requires_grad], lr=1e-3)
    for step in range(steps):
        optimizer.param_groups[0]["lr"] = 1e-3 * (1 - step / steps)  # else the last tosses are what it says
        coins = torch.tensor(draws.choices(words, k=QUESTIONS))
        torch.nn.functional.cross_entropy(logits(model, tokenizer, draws.sample(texts, QUESTIONS)), coins).backward()
        optimizer.step()
        optimizer.zero_grad()


def accuracy(model: Any, tokenizer: Any, asked: list[Any]) -> float:
    """Return the share of questions whose likeliest next token is the right answer, as this project reads it."""
    import torch

    right, ordered = 0, sorted(asked, key=lambda question: len(question.text))
    with torch.no_grad():
        for at in range(0, len(ordered), QUESTIONS):
            part = ordered[at : at + QUESTIONS]
            best = logits(model, tokenizer, [question.text for question in part]).argmax(-1)
            replies = [tokenizer.decode(token) for token in best]
            right += sum(question.score(reply).correct for question, reply in zip(part, replies, strict=True))
    return right / len(asked)


def train(model: Any, tokenizer: Any, data: Any, validation: list[Any], out: Path, seed: int, steps: int) -> None:
    """Train by GRPO; write what it earns and how it does on the validation set to `out`/curve.jsonl as it goes."""
    from transformers import TrainerCallback
    from trl import GRPOConfig, GRPOTrainer

    from harness.plugins.bridges import trl

    class Curve(TrainerCallback):  # type: ignore[misc]
        def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **rest: Any) -> None:
            if "reward" in (logs or {}):
                right = accuracy(model, tokenizer, validation) if state.global_step % 50 == 0 else None
                row = {"step": state.global_step, "reward": logs["reward"], "validation": right}
                with (out / "curve.jsonl").open("a") as file:
                    file.write(json.dumps(row | {"seconds": round(time.process_time(), 1)}) + "\n")

    settings = GRPOConfig(
        str(out / "work"),
        max_steps=steps,
        per_device_train_batch_size=QUESTIONS * REPLIES,
        num_generations=REPLIES,
        max_completion_length=1,
        learning_rate=1e-3,
        scale_rewards="none",
        # Slow steps first, and a pull to the coin: else it soon says one thing alone, and is told nothing any more.
        warmup_steps=50,
        beta=0.1,
        shuffle_dataset=False,  # see lessons
        use_cpu=True,
        bf16=False,  # which TRL has by default: too coarse for weights this small, and slow on a processor
        seed=seed,
        logging_steps=10,
        save_strategy="no",
        report_to=[],
    )
    model.save_pretrained(out / "base")
    model.config._name_or_path = str(out / "base")  # where TRL takes the model from that beta compares with
    given: dict[str, Any] = {"train_dataset": data, "processing_class": tokenizer, "callbacks": [Curve()]}
    GRPOTrainer(model, reward_funcs=trl.reward, args=settings, **given).train()


def main(out: Path, seed: int, steps: int) -> None:
    """Make the base, train it, and print where it began and where it got."""
    from harness import questions

    out.mkdir(parents=True, exist_ok=True)
    (out / "curve.jsonl").unlink(missing_ok=True)
    data = lessons(passes=8)
    asked = {
        n: list(questions("corr2cause/fresh", num_nodes=[n], names="first", limit=600)) for n in (*VALIDATED, *TESTED)
    }
    read = [turns[-1]["content"] for turns in data["prompt"]]
    others = questions(
        "corr2cause", split="all", num_nodes=[7], perturbation="varied", limit=3000
    )  # tokens, not learned
    model, tokenizer = base([*read, *(q.text for q in chain(others, *asked.values()))], seed)
    warm_up(model, tokenizer, read)
    for moment in ("before", "after"):
        if moment == "after":
            train(model, tokenizer, data, asked[VALIDATED[0]], out, seed, steps)
        shares = {f"n={n}": accuracy(model, tokenizer, each) for n, each in asked.items()}
        print(moment, shares, f"{time.process_time():.0f} s of processor time", flush=True)
    model.save_pretrained(out)
    tokenizer.save_pretrained(out)


if __name__ == "__main__":
    given = dict(argument.split("=", 1) for argument in sys.argv[1:])
    main(Path(given.get("out", "grpo")), int(given.get("seed", "0")), int(given.get("steps", STEPS)))
