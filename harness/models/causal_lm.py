"""A local causal language model: ranks given continuations by log-probability, or writes greedily."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cached_property, lru_cache
from typing import Any, Literal

from harness.errors import RunStopped
from harness.models.own_code import brings_code
from harness.models.protocol import Outcome, as_text, unanswered
from harness.models.torch_model import Checkpoint, batches, enough_memory, exact_head, windows
from harness.types import JSON, ChatRequest, ChoiceRequest, Failure, Request, Response, Transcript, Usage

CHAT_DATE = date(2024, 7, 26)
"""What a chat template is told where it asks for today's date (Llama 3 writes it into every prompt)."""


@dataclass(frozen=True)
class Sequence:
    """Tokens to score: how likely is `continuation` after `prompt`, for one choice of a request."""

    request: ChoiceRequest
    choice: str
    prompt: tuple[int, ...]
    continuation: tuple[int, ...]

    @property
    def length(self) -> int:
        """Tokens that go into the model."""
        return len(self.prompt) + len(self.continuation)


@dataclass(frozen=True)
class Writing:
    """Tokens to continue."""

    request: ChatRequest
    prompt: tuple[int, ...]

    @property
    def length(self) -> int:
        """Tokens in the end, at most."""
        return len(self.prompt) + self.request.max_tokens


@dataclass(frozen=True, kw_only=True)
class CausalLM(Checkpoint):
    """Any checkpoint that transformers loads as a causal language model.

    `method` says what it does first where a prompt allows both. Conversations go through the tokenizer's chat
    template where it has one, and are joined to one text where it has none.
    """

    method: Literal["rank", "generate"] = "rank"
    chat_template: bool | None = None

    @property
    def accepts(self) -> tuple[type[Request], ...]:
        """Ranking and writing, or writing only."""
        return (ChoiceRequest, ChatRequest) if self.method == "rank" else (ChatRequest,)

    @property
    def identity(self) -> Mapping[str, JSON]:
        """What the answers depend on."""
        return self._identity("causal_lm") | {"chat_template": self.chat_template, "chat_date": str(CHAT_DATE)}

    def respond(self, requests: Iterable[Request]) -> Iterator[Outcome]:
        """Windows of requests, rankings and writings apart, sorted by length, in batches."""
        for window in windows(requests, self.window):
            yield from self._rank([request for request in window if isinstance(request, ChoiceRequest)])
            yield from self._write([request for request in window if isinstance(request, ChatRequest)])

    @cached_property
    def _parts(self) -> tuple[Any, Any]:
        """(tokenizer, model), set to write greedily and nothing else."""
        tokenizer, model = self._load("AutoModelForCausalLM")
        from transformers import GenerationConfig

        if tokenizer.pad_token_id is None:
            tokenizer.pad_token_id = tokenizer.eos_token_id if tokenizer.eos_token_id is not None else 0
        exact_head(model.get_output_embeddings())
        ends = model.generation_config.eos_token_id
        ends = {*(ends if isinstance(ends, list) else [ends]), tokenizer.eos_token_id} - {None}
        # In place of the checkpoint's own, whose sampling, penalties or beams `generate` would mix in.
        model.generation_config = GenerationConfig(
            do_sample=False,
            num_beams=1,
            eos_token_id=sorted(ends) or None,
            pad_token_id=tokenizer.pad_token_id,
            # Code from before 2024 takes the cache for a tuple of tensors, which it no longer is: slower, but right.
            use_cache=not brings_code(model),
        )
        return tokenizer, model

    @cached_property
    def _limit(self) -> int:
        """The longest input with its continuation, in tokens."""
        _, model = self._parts
        known = [self.max_length, getattr(model.config, "max_position_embeddings", None)]
        return min((length for length in known if length), default=1 << 30)

    def _text(self, messages: Transcript) -> tuple[str, bool]:
        """(the conversation as the model reads it, whether a chat template made it)."""
        tokenizer, _ = self._parts
        wanted = bool(tokenizer.chat_template) if self.chat_template is None else self.chat_template
        if not wanted:
            return as_text(messages), False
        turns = [{"role": m.role, "content": m.content} for m in messages]
        try:
            template = _dated(tokenizer.get_chat_template())
            text = tokenizer.apply_chat_template(
                turns, chat_template=template, tokenize=False, add_generation_prompt=True
            )
        except Exception as error:  # templates raise what they like: no system role, turns that do not alternate
            said = " ".join(str(error).split())[:200]
            raise RunStopped(
                f"the chat template of {self.path} does not take this prompt's turns ({said}): choose a prompt without "
                "a system turn, or model.chat_template=false."
            ) from error
        return text, True

    def _tokens(self, text: str, templated: bool) -> list[int]:
        tokenizer, _ = self._parts
        found: list[int] = tokenizer(text, add_special_tokens=not templated, verbose=False)["input_ids"]
        # Some tokenizers close every text with an end token, after which nothing can be continued.
        return found[:-1] if found and found[-1] == tokenizer.eos_token_id and not templated else found

    def _rank(self, requests: list[ChoiceRequest]) -> Iterator[Outcome]:
        """Log-probabilities of all choices; a request is answered once its last choice is scored."""
        sequences: list[Sequence] = []
        for request in requests:
            found = self._sequences(request)
            if isinstance(found, Failure):
                yield request, found
            else:
                sequences += found
        scored: dict[ChoiceRequest, dict[str, float]] = {}
        for batch in batches(sequences, lambda sequence: sequence.length, self.batch_tokens):
            started = time.perf_counter()
            values = self._score(batch)
            seconds = round((time.perf_counter() - started) / len(batch), 6)
            for sequence, value in zip(batch, values, strict=True):
                logprobs = scored.setdefault(sequence.request, {})
                logprobs[sequence.choice] = value
                if len(logprobs) == len(set(sequence.request.choices)):
                    logprobs = scored.pop(sequence.request)
                    if not all(map(math.isfinite, logprobs.values())):
                        yield sequence.request, Failure("invalid_logprobs", f"the log-probabilities are {logprobs}")
                        continue
                    yield (
                        sequence.request,
                        Response(
                            text=max(logprobs, key=lambda choice: logprobs[choice]),
                            logprobs=logprobs,
                            usage=Usage(input=len(sequence.prompt), output=0),
                            finish_reason="stop",
                            served_model=self.path,
                            seconds=seconds,
                        ),
                    )

    def _sequences(self, request: ChoiceRequest) -> list[Sequence] | Failure:
        """One sequence for each choice.

        Prompt and choice are tokenized together, and split where the prompt's own tokens end: tokenizers that
        merge a space with the word after it would not give the choice's tokens on its own.
        """
        text, templated = self._text(request.messages)
        prompt = self._tokens(text, templated)
        wholes = [self._tokens(text + (choice if templated else f" {choice}"), templated) for choice in request.choices]
        longest = max(map(len, wholes))
        if longest > self._limit:
            return Failure("context_length", f"{longest} tokens, the model takes {self._limit}")
        # All choices are scored after the same tokens, the last ones that none of them changes.
        start = max(1, min(_agreement(prompt, whole) for whole in wholes))
        return [
            Sequence(request, choice, tuple(whole[:start]), tuple(whole[start:]))
            for choice, whole in zip(request.choices, wholes, strict=True)
        ]

    def _score(self, batch: list[Sequence]) -> list[float]:
        """The summed log-probability of each continuation, in one forward pass, padded on the right."""
        import torch

        tokenizer, model = self._parts
        longest = max(sequence.length for sequence in batch)
        ids = torch.full((len(batch), longest), tokenizer.pad_token_id)
        mask = torch.zeros_like(ids)
        for row, sequence in enumerate(batch):
            ids[row, : sequence.length] = torch.tensor(sequence.prompt + sequence.continuation)
            mask[row, : sequence.length] = 1
        with enough_memory(self.batch_tokens), torch.inference_mode():
            logits = model(input_ids=ids.to(model.device), attention_mask=mask.to(model.device), use_cache=False).logits
        values = []
        for row, sequence in enumerate(batch):
            start = len(sequence.prompt)
            predicted = logits[row, start - 1 : sequence.length - 1].float().log_softmax(-1)
            target = ids[row, start : sequence.length].to(predicted.device)
            values.append(float(predicted.gather(1, target[:, None]).sum()))
        return values

    def _write(self, requests: list[ChatRequest]) -> Iterator[Outcome]:
        """Greedy continuations."""
        writings: list[Writing] = []
        for request in requests:
            found = self._writing(request)
            if isinstance(found, Failure):
                yield request, found
            else:
                writings.append(found)
        # One limit of new tokens a batch: writings of different limits do not share one.
        for limit in sorted({writing.request.max_tokens for writing in writings}):
            alike = [writing for writing in writings if writing.request.max_tokens == limit]
            for batch in batches(alike, lambda writing: writing.length, self.batch_tokens):
                yield from self._generate(batch, limit)

    def _writing(self, request: ChatRequest) -> Writing | Failure:
        """The request in tokens, or why it or the turns that will follow it cannot fit."""
        prompt = tuple(self._tokens(*self._text(request.messages)))
        if len(prompt) + request.max_tokens > self._limit:
            return Failure(
                "context_length",
                f"{len(prompt)} tokens and {request.max_tokens} to write, the model takes {self._limit}",
            )
        if request.ahead:
            least = self._least(request.messages, request.ahead) + request.max_tokens
            if least > self._limit:
                return Failure(
                    "context_length",
                    f"the whole conversation has at least {least} tokens, the model takes {self._limit}",
                )
        return Writing(request, prompt)

    @cached_property
    def _least(self) -> Callable[[Transcript, tuple[str, ...]], int]:
        """How many tokens a conversation and its turns ahead have at least; each conversation is counted once."""
        return lru_cache(256)(lambda messages, ahead: len(self._tokens(*self._text(unanswered(messages, ahead)))))

    def _generate(self, batch: list[Writing], limit: int) -> Iterator[Outcome]:
        import torch

        tokenizer, model = self._parts
        started = time.perf_counter()
        longest = max(len(writing.prompt) for writing in batch)
        ids = torch.full((len(batch), longest), tokenizer.pad_token_id)
        mask = torch.zeros_like(ids)
        for row, writing in enumerate(batch):
            ids[row, longest - len(writing.prompt) :] = torch.tensor(writing.prompt)
            mask[row, longest - len(writing.prompt) :] = 1
        with enough_memory(self.batch_tokens), torch.inference_mode():
            written = model.generate(
                input_ids=ids.to(model.device), attention_mask=mask.to(model.device), max_new_tokens=limit
            )[:, longest:]
        seconds = round((time.perf_counter() - started) / len(batch), 6)
        stops = set(model.generation_config.eos_token_id or ())
        for writing, row in zip(batch, written.tolist(), strict=True):
            length = next((k for k, token in enumerate(row) if token in stops), len(row))
            text = tokenizer.decode(row[:length], skip_special_tokens=True)
            cut = min((text.find(stop) for stop in writing.request.stop if stop in text), default=len(text))
            yield (
                writing.request,
                Response(
                    text=text[:cut],
                    usage=Usage(input=len(writing.prompt), output=length),
                    finish_reason="stop" if length < len(row) or cut < len(text) else "length",
                    served_model=self.path,
                    seconds=seconds,
                ),
            )


def _dated(template: str) -> str:
    """A chat template with CHAT_DATE written where it asks for today's date."""
    return re.sub(r"strftime_now\(\s*(['\"])(.*?)\1\s*\)", lambda asked: repr(CHAT_DATE.strftime(asked[2])), template)


def _agreement(prompt: list[int], whole: list[int]) -> int:
    """How many tokens at the beginning are the same, leaving at least one of `whole`."""
    same = next((k for k, (a, b) in enumerate(zip(prompt, whole, strict=False)) if a != b), len(prompt))
    return min(same, len(whole) - 1)
