"""A prompt file into a Prompt: the words that are sent, and the reading of what comes back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, lru_cache
from pathlib import Path
from string import Formatter
from typing import Any, Literal, get_args

from harness.codec import KINDS, digest
from harness.config_files import PROMPTS, is_shipped, listed, own_file, prompt_files
from harness.errors import ConfigError, unknown
from harness.prompting import parsing
from harness.prompting.schema import Parser, Words, check, fill, names_in, parser_of, read
from harness.types import (
    IN_FORM,
    JSON,
    LETTERS,
    NOT_IN_FORM,
    Answer,
    AnswerForm,
    ChatRequest,
    ChoiceRequest,
    Means,
    Message,
    PairRequest,
    Request,
    Response,
    Transcript,
)

ROOM = 32
"""Tokens that a form takes, beside max_tokens (answer=choice): braces, names, and spaces where a model likes."""
_BEGINNING = 60
"""Characters of a text that hold its first five words."""
Replies = Literal["model", "fixed"]
"""Who writes the assistant's turns of an opening: the model itself, or the prompt file."""


@dataclass(frozen=True)
class Prompt:
    """Turns the fields of an item into a request and reads the response."""

    name: str
    where: Path
    words: Words
    shots: tuple[Mapping[str, JSON], ...] = ()
    replies: Replies = "model"
    max_tokens: int | None = None
    """Room for a reply that the command has set; None: as the words say."""
    means: Means | None = None
    """By which the server holds replies to the choices (answer=choice); None: nothing does. The words stay the same."""

    @property
    def makes(self) -> tuple[type[Request], ...]:
        """Kinds of request in order of preference; the first that the model accepts is rendered."""
        return tuple(KINDS[kind] for kind in self.words.makes)

    @property
    def digest(self) -> str:
        """Changes with every word that is sent and with the parser, not with the comments or the source."""
        words = {name: value for name, value in self.as_json.items() if name not in ("source", "form")}
        return digest([words, [dict(shot) for shot in self.shots], self.replies if self.words.opening else "model"])

    @property
    def own_file(self) -> dict[str, str]:
        """Return {path: SHA-256} of the user's own prompt file; empty for a shipped one."""
        return own_file(self.where) if self.where.is_file() else {}

    @property
    def settings(self) -> Mapping[str, JSON]:
        """Return the command's prompt settings that differ from the defaults: they name the run's folder."""
        replies = {"replies": self.replies} if self.words.opening and self.replies != "model" else {}
        room: dict[str, JSON] = {} if self.max_tokens is None else {"max_tokens": self.max_tokens}
        return replies | room | ({"answer": "choice"} if self.means else {})

    @property
    def model_settings(self) -> Mapping[str, JSON]:
        """Return the settings of the model that change what it is asked with this prompt alone, for the manifest."""
        return {"constrain": self.means} if self.means else {}

    @property
    def as_json(self) -> dict[str, JSON]:
        """Return the words as JSON, for the manifest, without what is as by default: `recorded` reads them again."""
        words: dict[str, JSON] = {
            setting.name: list(value) if isinstance(value, tuple) else value
            for setting in fields(self.words)
            if setting.name not in ("formats", "reasoning")  # neither changes what a plain run sends
            # What a file leaves out is not told, so that a new kind of word leaves the digest of older files alone.
            and (value := getattr(self.words, setting.name)) != setting.default
        }
        return words | ({"reasoning": True} if self.means and self.words.reasoning else {})

    def opening(self, fields: Mapping[str, JSON]) -> tuple[str, ...]:
        """Return the user turns that the model answers before the question; () for most prompts.

        Items with equal fields for it get the same object: a network's data is 100 times longer than a question.
        """
        words = self.words
        if not words.opening:
            return ()
        needed = {name for turn in words.opening for name in names_in(turn, self.where)} | {words.opening_for_each}
        values = tuple((name, value) for name, value in fields.items() if name in needed)
        return _opening(words.opening, words.opening_for_each, values, self.where)

    def turn(self, transcript: Transcript, opening: tuple[str, ...], k: int, sample: int = 0) -> ChatRequest:
        """Return the request for turn k of an opening, after the transcript so far."""
        messages = self._messages(*transcript, Message("user", opening[k]))
        return ChatRequest(messages, max_tokens=self.words.opening_max_tokens, sample=sample)

    def render(
        self, fields: Mapping[str, JSON], transcript: Transcript, kind: type[Request], sample: int = 0
    ) -> Request:
        """Return the request about an item, after its opening; `sample` tells several requests alike apart."""
        if kind is PairRequest:
            premise, hypothesis = (fill(t, fields, self.where) for t in (self.words.premise, self.words.hypothesis))
            return PairRequest(premise, hypothesis)
        messages = self._messages(*transcript, Message("user", fill(self.words.user, fields, self.where)))
        if kind is ChoiceRequest:
            return ChoiceRequest(messages, self.choices(fields))
        own = self.choices(fields) if self.words.choices_from else ()
        most = self.max_tokens or self.words.max_tokens
        if self.means is None:
            return ChatRequest(messages, most, self.words.stop, sample, choices=own)
        # No stop: the form ends by itself, and may hold any sign.
        return ChatRequest(messages, most + ROOM, (), sample, choices=own, form=self._form(fields, self.means))

    def choices(self, fields: Mapping[str, JSON]) -> tuple[str, ...]:
        """Return what a question may be answered with, Yes first, or the choices of the item. Raises ConfigError."""
        if self.words.choices_from is None:
            return self.words.choices
        texts = self._texts(fields)
        return texts if self.words.answer_with == "text" else tuple(LETTERS[: len(texts)])

    def _form(self, fields: Mapping[str, JSON], means: Means) -> AnswerForm:
        """Return what a reply about an item is held to: the prompt's choices, or the item's own."""
        return AnswerForm(self.choices(fields), means, self.words.reasoning)

    def _texts(self, fields: Mapping[str, JSON]) -> tuple[str, ...]:
        texts = fields.get(str(self.words.choices_from))
        if not isinstance(texts, list | tuple) or not 2 <= len(texts) <= len(LETTERS):
            raise ConfigError(f"{self.where}: choices_from={self.words.choices_from} is no list of the item's choices.")
        return tuple(map(str, texts))

    def parse(self, response: Response, fields: Mapping[str, JSON]) -> Answer:
        """Return the answer in a response about the item of these fields: of a ranking, of an entailment, or in words.

        The field `statement` is what a Yes asserts: a reply may say it, or deny it, in its own words. Where these words
        ask how sure the answer is, that is read as well.
        """
        answer = self._parse(response, fields)
        if not self.words.confidence or answer.label is None or response.logprobs is not None:
            return answer
        return replace(answer, stated_confidence=parsing.stated_confidence(response, self.words.confidence))

    def _parse(self, response: Response, fields: Mapping[str, JSON]) -> Answer:
        own_choices = self.words.choices_from is not None
        if self.means is not None:
            if (choice := parsing.choice_in(response.text, self._form(fields, self.means))) is not None:
                place = self.choices(fields).index(choice)
                return Answer(place if own_choices else int(place == 0), span=choice, rule=IN_FORM)
            answer = replace(self, means=None)._parse(response, fields)
            return replace(answer, rule=f"{NOT_IN_FORM}, {answer.rule}".removesuffix(", "))
        if response.logprobs is None:
            parser = parser_of(self.words.parser, self.where)
            if parser is not parsing.verdict:
                return self._by_own(parser, response)
            about = {"choices": self._texts(fields)} if own_choices else {"statement": str(fields.get("statement", ""))}
            return parsing.verdict(response, next_words=self._next_words(fields), form=self.words.form, **about)
        if own_choices:
            return parsing.likeliest(response, self.choices(fields))
        if "entailment" in response.logprobs:
            return parsing.entailment(response)
        return parsing.choice(response, self.words.choices)

    def _by_own(self, parser: Parser, response: Response) -> Answer:
        """Return what somebody's own parser reads. Raises ConfigError where it fails, or gives something else."""
        try:
            if isinstance(answer := parser(response), Answer):
                return answer
            failure = f"gives {type(answer).__name__}, where harness.types.Answer is needed"
        except Exception as error:
            failure = f"fails on {response.text[:60]!r}: {type(error).__name__}: {error}"
        raise ConfigError(f"{self.where}: its parser {self.words.parser} {failure}.")

    @staticmethod
    def parsed_fields(fields: Mapping[str, JSON]) -> dict[str, JSON]:
        """Return an item's fields as far as `parse` looks at them: of long texts but the statement, how they begin."""
        return {
            name: value[:_BEGINNING] if isinstance(value, str) and name != "statement" else value
            for name, value in fields.items()
        }

    def _next_words(self, fields: Mapping[str, JSON]) -> tuple[str, ...]:
        """Return the words by which a base model that goes on writing would begin the next question."""
        premise = str(fields.get("premise", "")).split(" ", 5)[:5]
        return (*self._own_words, " ".join(premise)) if len(premise) == 5 else self._own_words

    @cached_property
    def _own_words(self) -> tuple[str, ...]:
        """Return the question's own lines between its fields: three words or more, which no reply says by chance."""
        texts = [text for text, *_ in Formatter().parse(f"{self.words.user or ''}\n{self.words.example or ''}")]
        lines = (line.strip(" ?.:") for text in texts for line in text.splitlines())
        return tuple(dict.fromkeys(line for line in lines if len(line.split()) >= 3))

    def _messages(self, *turns: Message) -> Transcript:
        """Return the whole conversation: system words and examples before the turns."""
        messages = list[Message]()
        for shot in self.shots:
            question = fill(self.words.example or self.words.user, shot, self.where)
            messages += [Message("user", question), Message("assistant", str(shot["answer"]))]
        messages += turns
        if self.words.system and self.words.system_role == "user":
            messages[0] = Message("user", _joined(self.words.system, messages[0].content))
        elif self.words.system:
            messages.insert(0, Message("system", self.words.system))
        return tuple(messages)


@lru_cache(maxsize=256)
def _opening(
    turns: tuple[str, ...], for_each: str | None, values: tuple[tuple[str, JSON], ...], where: Path
) -> tuple[str, ...]:
    fields = dict(values)
    if for_each is None:
        return tuple(fill(turn, fields, where) for turn in turns)
    if not isinstance(fields.get(for_each), tuple):
        raise ConfigError(f"{where}: opening_for_each names {for_each}, no field of the item that holds a list.")
    return tuple(
        fill(turn, {**fields, "value": value, "number": number}, where)
        for number, value in enumerate(fields[for_each], start=1)
        for turn in turns
    )


@lru_cache(maxsize=64)
def _joined(first: str, rest: str) -> str:
    """Return both as one text: the same object for the same words, which may be long."""
    return f"{first} {rest}"


def constrained(prompt: Prompt, means: Any) -> Prompt:
    """Return a prompt whose replies are held to its choices. Raises ConfigError for means that there are none."""
    if means not in get_args(Means):
        raise ConfigError(f"model.constrain={means!s:.80} is none of {', '.join(get_args(Means))}.")
    return replace(prompt, means=means)


def has_format(task: str, name: str, format: str) -> bool:
    """Return whether a task's prompt has words for a format (none: the plain ones)."""
    where = prompt_files(task).get(name)
    return not format or (where is not None and format in read(where).formats)


def load(
    task: str,
    name: str,
    examples: Sequence[Mapping[str, JSON]],
    *,
    format: str = "",
    replies: Replies = "model",
) -> Prompt:
    """Return a task's prompt by its name, or any prompt file by its path; `format` picks among the file's formats."""
    files = prompt_files(task)
    where = Path(name) if name.endswith((".yaml", ".yml")) else files.get(name)
    if where is not None and not where.is_file():
        raise ConfigError(f"prompt={name}: there is no such file.")
    if where is None:
        raise ConfigError(unknown(f"{task} prompt", name, files))
    words = with_source(where, read(where, format))
    if replies == "fixed" and words.opening and words.opening_reply is None:
        raise ConfigError(f"replies=fixed: {where} has no opening_reply, the words that the assistant is given.")
    return Prompt(where.stem, where, words, tuple(examples) if words.shots else (), replies)


def with_source(where: Path, words: Words) -> Words:
    """Return the words of a file; one's own with the source of a shipped one, but other words, are "after …" it."""
    if is_shipped(where) or not words.source:
        return words
    alike = [one for file in listed(PROMPTS, "", own=False).values() if (one := read(file)).source == words.source]
    if not alike or read(where) in alike:
        return words
    return replace(words, source=f"after {words.source.replace(', word for word', '')}")


def recorded(
    name: str, words: Mapping[str, Any], examples: Sequence[Mapping[str, JSON]], *, replies: Replies = "model"
) -> Prompt:
    """Return the prompt whose words a manifest holds (`Prompt.as_json`). Raises ConfigError where they make none."""
    checked = check(words, where := Path("the manifest's words"))
    return Prompt(name, where, checked, tuple(examples) if checked.shots else (), replies)
