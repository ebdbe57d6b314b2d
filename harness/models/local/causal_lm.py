"""A local causal language model: ranks continuations by log-probability, or writes greedily."""

from __future__ import annotations

import re
import sys
from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from harness.errors import RunStopped
from harness.models.local.checkpoint import fingerprint
from harness.models.local.engine import Padded, Sequence, Writing, agreement, sorted_out, timed, windows
from harness.models.local.loading import (
    FORM,
    Bits,
    Checkpoint,
    DeviceMap,
    adapter_folder,
    devices,
    exact_head,
    placed,
    with_adapter,
)
from harness.protocols import Outcome, Outcomes, Traits, as_text
from harness.settings import LOCAL
from harness.types import JSON, ChatRequest, ChoiceRequest, Failure, Request, Response, Transcript, Usage

if TYPE_CHECKING:
    from harness.models.local.prefix_sharing import Sharing

CHAT_DATE = date(2024, 7, 26)
"""The date for chat templates that ask for today's (Llama 3 writes it into every prompt)."""
AT_ONCE = 64
"""Texts that go to the tokenizer at once: its output takes a hundred times their memory."""


@dataclass(frozen=True, kw_only=True)
class CausalLM(Checkpoint):
    """Any checkpoint that transformers loads as a causal language model.

    `method` is what it prefers if a prompt allows both. Conversations go through the tokenizer's chat template, or are
    joined to one text if it has none. Common beginnings of the prompts of a window are computed once, unless
    the model cannot, which is printed.
    """

    method: Literal["rank", "generate"] = "rank"
    chat_template: bool | None = None
    adapter: str | None = field(default=None, metadata=LOCAL)
    device_map: DeviceMap | None = None
    bits: Bits | None = None

    share_prefixes: ClassVar[bool] = True
    traits: ClassVar[Traits] = Traits(role="model", ranks_and_writes=True)

    @property
    def accepts(self) -> tuple[type[Request], ...]:
        return (ChoiceRequest, ChatRequest) if self.method == "rank" else (ChatRequest,)

    @property
    def identity(self) -> Mapping[str, JSON]:
        words = {"chat_template": self.chat_template, "chat_date": str(CHAT_DATE)}
        adapter = {"adapter": fingerprint(adapter_folder(self.adapter))} if self.adapter else {}
        quantised = {"quantised": f"{FORM}_double" if self.adapter else FORM} if self.bits else {}
        return self._identity("causal_lm") | words | adapter | quantised

    def respond(self, requests: Iterable[Request]) -> Generator[Outcomes]:
        """Answer the requests of a window, first the rankings, then the writings, in batches, each of them a list."""
        for window in windows(requests, self.window):
            yield from self._rank([request for request in window if isinstance(request, ChoiceRequest)])
            yield from self._write([request for request in window if isinstance(request, ChatRequest)])

    def _placed(self, device: str, dtype: Any) -> dict[str, Any]:
        # An adapter was trained beside weights whose scales are rounded (QLoRA), if beside rounded ones at all.
        return placed(self.device_map, self.bits, self.device, device, dtype, double=self.adapter is not None)

    @cached_property
    def _parts(self) -> tuple[Any, Any]:
        """(tokenizer, model); the model is set to write greedily."""
        tokenizer, model = self._load("AutoModelForCausalLM")
        if self.adapter:
            model = with_adapter(model, adapter_folder(self.adapter), merged=not self.bits)
        from transformers import GenerationConfig

        # Padding is masked, so that any token of the table serves; an added [PAD] may lie beyond it.
        rows = model.get_input_embeddings().weight.shape[0]
        if tokenizer.pad_token_id is None or tokenizer.pad_token_id >= rows:
            tokenizer.pad_token_id = tokenizer.eos_token_id if tokenizer.eos_token_id is not None else 0
        exact_head(model.get_output_embeddings())
        ends = model.generation_config.eos_token_id
        ends = {*(ends if isinstance(ends, list) else [ends]), tokenizer.eos_token_id} - {None}
        # Replaces the checkpoint's own, whose sampling, penalties or beams `generate` would mix in.
        model.generation_config = GenerationConfig(
            do_sample=False,
            num_beams=1,
            eos_token_id=sorted(ends) or None,
            pad_token_id=tokenizer.pad_token_id,
        )
        return tokenizer, model

    @cached_property
    def _engine(self) -> Padded | Sharing:
        _, model = self._parts
        from harness.models.local.prefix_sharing import Sharing, obstacle

        if not self.share_prefixes or len(devices(model)) > 1:  # what is remembered would lie on several devices
            return Padded(model, self._budget)
        if reason := obstacle(model, self._limit):
            message = f"{self.path}: prompts cannot share what they begin with ({reason}): each is computed as a whole."
            print(message, file=sys.stderr, flush=True)
            return Padded(model, self._budget)
        return Sharing(model, self.batch_tokens)

    @cached_property
    def _ends(self) -> frozenset[int]:
        _, model = self._parts
        return frozenset(model.generation_config.eos_token_id or ())

    @cached_property
    def _limit(self) -> int:
        """The longest input with its continuation, in tokens."""
        _, model = self._parts
        config = model.config.get_text_config(decoder=True)  # nested in the config of a model that also takes images
        # The last two are MPT's and Whisper's names for it.
        names = ("max_position_embeddings", "max_seq_len", "max_target_positions")
        limits = [self.max_length, *(getattr(config, name, None) for name in names)]
        return min((length for length in limits if length), default=1 << 30)

    @cached_property
    def _turns(self) -> Turns:
        return Turns(self._parts[0], self.path, self.chat_template)

    def _rank(self, requests: list[ChoiceRequest]) -> Iterator[Outcomes]:
        """Yield rankings by the log-probabilities of all choices, each request once its last choice is scored."""
        failed, splits = sorted_out(requests, self.sequences(requests))
        if failed:
            yield failed
        values_by_choice: dict[ChoiceRequest, dict[str, float]] = {}
        for batch, seconds in timed(self._engine.score([sequence for split in splits for sequence in split])):
            answered: list[Outcome] = []
            for sequence, value in batch:
                request = sequence.request
                values = values_by_choice.setdefault(request, {})
                values[sequence.choice] = value
                if len(values) == len(set(request.choices)):
                    del values_by_choice[request]
                    # In the order of the choices, not of the computation, on which a tie must not depend.
                    logprobs = {choice: values[choice] for choice in request.choices}
                    answered.append((request, self._likeliest(logprobs, len(sequence.prompt), seconds)))
            if answered:
                yield answered

    def sequences(self, requests: list[ChoiceRequest]) -> Iterator[list[Sequence] | Failure]:
        """Yield for each request one sequence per choice, or a Failure.

        Prompt and choice are tokenized together, and split where the prompt's own tokens end: by itself the choice
        would get other tokens from tokenizers that merge a space with the word after it.
        """
        texts: list[str] = []
        for request in requests:
            text = self._turns.text(request.messages)
            before = text if self._turns.templated else f"{text} "
            texts += [text, *(before + choice for choice in request.choices)]
        tokens = self._turns.tokens(texts)
        for request in requests:
            prompt, *joined = islice(tokens, 1 + len(request.choices))
            yield self._split(request, prompt, joined)

    def _split(self, request: ChoiceRequest, prompt: list[int], joined: list[list[int]]) -> list[Sequence] | Failure:
        """Return one sequence for each choice; `joined` has the tokens of the prompt with each choice."""
        longest = max(map(len, joined))
        if longest > self._limit:
            return Failure("context_length", f"{longest} tokens, the model takes {self._limit}")
        # All choices are scored after the same tokens: those that none of them changes.
        start = min(agreement(prompt, whole[:-1]) for whole in joined)
        if start < 1:
            return Failure("empty_prompt", "no token comes before the choices: the first one cannot be predicted")
        before = tuple(joined[0][:start])
        return [
            Sequence(request, choice, before, tuple(whole[start:]))
            for choice, whole in zip(request.choices, joined, strict=True)
        ]

    def _write(self, requests: list[ChatRequest]) -> Iterator[Outcomes]:
        failed, writings = sorted_out(requests, self.writings(requests))
        if failed:
            yield failed
        for batch, seconds in timed(self._engine.write(writings, self._ended)):
            yield [(writing.request, self._response(writing, tokens, seconds)) for writing, tokens in batch]

    def _ended(self, writing: Writing, tokens: list[int]) -> bool:
        if tokens[-1] in self._ends or len(tokens) >= writing.request.max_tokens:
            return True
        text = self._turns.decode(tokens) if writing.request.stop else ""
        return any(stop in text for stop in writing.request.stop)

    def _response(self, writing: Writing, tokens: list[int], seconds: float) -> Response:
        """Return the text up to the first end token or stop string."""
        length = next((k for k, token in enumerate(tokens) if token in self._ends), len(tokens))
        text = self._turns.decode(tokens[:length])
        end = min((text.find(stop) for stop in writing.request.stop if stop in text), default=len(text))
        return Response(
            text=text[:end],
            usage=Usage(input=len(writing.prompt), output=length),
            finish_reason="stop" if length < len(tokens) or end < len(text) else "length",
            served_model=self.path,
            seconds=seconds,
        )

    def writings(self, requests: list[ChatRequest]) -> Iterator[Writing | Failure]:
        """Yield the requests in tokens; a Failure for one that does not fit."""
        tokens = self._turns.tokens([self._turns.text(request.messages) for request in requests])
        for request, prompt in zip(requests, tokens, strict=True):
            if not prompt:
                yield Failure("empty_prompt", "the prompt has no tokens: there is nothing to continue")
            elif len(prompt) + request.max_tokens > self._limit:
                sizes = f"{len(prompt)} tokens and {request.max_tokens} to write, the model takes {self._limit}"
                yield Failure("context_length", sizes)
            else:
                yield Writing(request, tuple(prompt))


class Turns:
    """Between conversations and a model's tokens: its chat template and its tokenizer."""

    def __init__(self, tokenizer: Any, path: str, templated: bool | None) -> None:
        """`templated`: whether to use the chat template; None: if there is one. `path` is for messages."""
        self._tokenizer = tokenizer
        self._path = path
        self.templated = bool(tokenizer.chat_template) if templated is None else templated

    def text(self, messages: Transcript) -> str:
        """Return the conversation as one text. Raises RunStopped if the template does not take these turns."""
        if not self.templated:
            return as_text(messages)
        turns = [{"role": m.role, "content": m.content} for m in messages]
        try:
            template = _dated(self._tokenizer.get_chat_template())
            text: str = self._tokenizer.apply_chat_template(
                turns, chat_template=template, tokenize=False, add_generation_prompt=True
            )
        except Exception as error:  # templates raise anything: no system role, turns that do not alternate
            message = " ".join(str(error).split())[:200]
            raise RunStopped(
                f"the chat template of {self._path} does not take this prompt's turns ({message}): choose a prompt "
                "without a system turn, or model.chat_template=false."
            ) from error
        return text

    def tokens(self, texts: list[str]) -> Iterator[list[int]]:
        """Yield the tokens of each text. Many texts go to the tokenizer at once, which uses several threads."""
        for start in range(0, len(texts), AT_ONCE):
            batch = texts[start : start + AT_ONCE]
            for ids in self._tokenizer(batch, add_special_tokens=not self.templated, verbose=False)["input_ids"]:
                # Some tokenizers end every text with an end token, which a continuation must not follow.
                ended = ids and ids[-1] == self._tokenizer.eos_token_id and not self.templated
                yield ids[:-1] if ended else ids

    def decode(self, tokens: list[int]) -> str:
        text: str = self._tokenizer.decode(tokens, skip_special_tokens=True)
        return text


def _dated(template: str) -> str:
    """Return a chat template with CHAT_DATE in place of today's date."""
    return re.sub(r"strftime_now\(\s*(['\"])(.*?)\1\s*\)", lambda match: repr(CHAT_DATE.strftime(match[2])), template)
