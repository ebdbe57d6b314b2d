"""A prompt file into a Prompt: the words that are sent, and the reading of what comes back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from string import Formatter
from typing import Annotated, Any, Literal

import yaml
from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from harness import parsing
from harness.codec import KINDS, digest
from harness.errors import ConfigError, unknown
from harness.settings import PROMPTS, first_sentence, listed
from harness.types import JSON, Answer, ChatRequest, ChoiceRequest, Message, PairRequest, Request, Response, Transcript

Parser = Callable[[Response], Answer]
Replies = Literal["model", "fixed"]
"""Who writes the assistant's turns of an opening: the model itself, or the prompt file."""


@dataclass(frozen=True, kw_only=True)
class Words:
    """What a prompt file holds; templates name fields of the item in braces."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    source: str
    """The paper and section that the words come from, and what of them is ours."""
    makes: tuple[str, ...]
    """Kinds of request (chat, choice, pair) in order of preference."""
    system: str | None = None
    system_role: Literal["system", "user"] = "system"
    """Who says the system words: a turn of their own, or the beginning of the first user turn."""
    shots: bool = False
    """Whether the task's solved examples go before the question."""
    example: str | None = None
    """The user's turn of an example, where it is not the question's."""
    opening: tuple[str, ...] = ()
    """User turns that the model answers first, one after the other."""
    opening_for_each: str | None = None
    """A field that holds a list: the opening is said once for each of its values, as {value} and {number} (from 1)."""
    opening_reply: str | None = None
    """What the assistant is made to have said after every turn of the opening, with replies=fixed."""
    opening_max_tokens: Annotated[int, Field(gt=0)] = 1024
    user: str | None = None
    premise: str | None = None
    hypothesis: str | None = None
    choices: tuple[str, ...] = ("Yes", "No")
    """For ranking; the first one says Yes."""
    max_tokens: Annotated[int, Field(gt=0)] = 16
    stop: tuple[str, ...] = ()
    parser: str = "verdict"
    """A function of harness/parsing.py, or module:function."""
    formats: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Words that replace those above where a setting of the task (task.format) asks for more than the plain ones."""


@dataclass(frozen=True)
class Prompt:
    """Turns the fields of an item into a request and reads the response."""

    name: str
    where: Path
    words: Words
    shots: tuple[Mapping[str, JSON], ...] = ()
    replies: Replies = "model"

    @property
    def makes(self) -> tuple[type[Request], ...]:
        """Kinds of request in order of preference; the first that the model accepts is rendered."""
        return tuple(KINDS[kind] for kind in self.words.makes)

    @property
    def digest(self) -> str:
        """Changes with every word that is sent and with the parser, not with the comments or the source."""
        words = {
            setting.name: value
            for setting in fields(self.words)
            if setting.name not in ("source", "formats")
            # What a file leaves out is not told, so that a new kind of word leaves the digest of older files alone.
            and (value := getattr(self.words, setting.name)) != setting.default
        }
        return digest([words, [dict(shot) for shot in self.shots], self.replies if self.words.opening else "model"])

    def opening(self, fields: Mapping[str, JSON]) -> tuple[str, ...]:
        """The user turns that the model answers before the question; () for most prompts.

        Items with equal fields for it get the same object: a network's data is 100 times longer than a question.
        """
        words = self.words
        if not words.opening:
            return ()
        asked = {name for turn in words.opening for name in _names(turn, self.where)} | {words.opening_for_each}
        values = tuple((name, value) for name, value in fields.items() if name in asked)
        return _opening(words.opening, words.opening_for_each, values, self.where)

    def turn(self, transcript: Transcript, opening: tuple[str, ...], k: int) -> ChatRequest:
        """The request for turn k of an opening, after the transcript so far."""
        messages = self._messages(*transcript, Message("user", opening[k]))
        return ChatRequest(messages, max_tokens=self.words.opening_max_tokens, ahead=opening[k + 1 :])

    def render(self, fields: Mapping[str, JSON], transcript: Transcript, kind: type[Request]) -> Request:
        """The request about an item, after its opening."""
        if kind is PairRequest:
            premise, hypothesis = (_fill(t, fields, self.where) for t in (self.words.premise, self.words.hypothesis))
            return PairRequest(premise, hypothesis)
        messages = self._messages(*transcript, Message("user", _fill(self.words.user, fields, self.where)))
        if kind is ChoiceRequest:
            return ChoiceRequest(messages, self.words.choices)
        return ChatRequest(messages, self.words.max_tokens, self.words.stop)

    def parse(self, response: Response) -> Answer:
        """The answer in a response: of a ranking, of an entailment, or in the text."""
        if response.logprobs is None:
            return _parser(self.words.parser, self.where)(response)
        if "entailment" in response.logprobs:
            return parsing.entailment(response)
        return parsing.choice(response, self.words.choices)

    def _messages(self, *turns: Message) -> Transcript:
        """The whole conversation: system words and examples before the turns."""
        said = [*self._examples(), *turns]
        if self.words.system and self.words.system_role == "user":
            said[0] = Message("user", _joined(self.words.system, said[0].content))
        elif self.words.system:
            said.insert(0, Message("system", self.words.system))
        return tuple(said)

    def _examples(self) -> Iterator[Message]:
        for shot in self.shots:
            yield Message("user", _fill(self.words.example or self.words.user, shot, self.where))
            yield Message("assistant", str(shot["answer"]))


def _fill(template: str | None, fields: Mapping[str, JSON], where: Path) -> str:
    try:
        return str(template).format_map(fields)
    except (KeyError, IndexError, ValueError, AttributeError) as error:
        raise ConfigError(
            f"{where}: the template asks for {{{str(error).strip(chr(39))}}}; the item has the fields "
            f"{', '.join(fields)} (write {{{{ and }}}} for braces)."
        ) from None


@lru_cache(maxsize=256)
def _opening(
    turns: tuple[str, ...], for_each: str | None, values: tuple[tuple[str, JSON], ...], where: Path
) -> tuple[str, ...]:
    fields = dict(values)
    if for_each is None:
        return tuple(_fill(turn, fields, where) for turn in turns)
    if for_each not in fields:
        raise ConfigError(f"{where}: opening_for_each names {for_each}, which is no field of the item.")
    return tuple(
        _fill(turn, {**fields, "value": value, "number": number}, where)
        for number, value in enumerate(fields[for_each], start=1)
        for turn in turns
    )


@lru_cache(maxsize=64)
def _joined(first: str, rest: str) -> str:
    """One text: the same object for the same words, which may be long."""
    return f"{first} {rest}"


def available(task: str) -> dict[str, Path]:
    """The prompt files of a task by name: the package's, and those under ./prompts of the working directory.

    A task of a family (causalbench/correlation) also has the prompts of its family (causalbench).
    """
    family = task.rpartition("/")[0]
    shared = {name: file for name, file in listed(PROMPTS, family).items() if "/" not in name} if family else {}
    return shared | listed(PROMPTS, task)


def load(
    task: str,
    name: str,
    examples: Sequence[Mapping[str, JSON]],
    *,
    format: str = "",
    replies: Replies = "model",
) -> Prompt:
    """A task's prompt by its name, or any prompt file by its path; `format` picks among the file's formats."""
    files = available(task)
    where = Path(name) if name.endswith((".yaml", ".yml")) else files.get(name)
    if where is not None and not where.is_file():
        raise ConfigError(f"prompt={name}: there is no such file.")
    if where is None:
        raise ConfigError(unknown(f"{task} prompt", name, files))
    try:
        words = _words(yaml.safe_load(where.read_text(encoding="utf-8")), where)
    except yaml.YAMLError as error:
        raise ConfigError(f"{where} is not YAML: {' '.join(str(error).split())}") from None
    if format and format not in words.formats:
        raise ConfigError(
            f"prompt {where.stem} has no words for task.format={format}"
            f"{'; it has them for ' + ', '.join(words.formats) if words.formats else ''}."
        )
    for other in words.formats:
        _check(_formatted(words, other, where), where)
    words = _formatted(words, format, where)
    _check(words, where)
    if replies == "fixed" and words.opening and words.opening_reply is None:
        raise ConfigError(f"replies=fixed: {where} has no opening_reply, the words that the assistant is given.")
    return Prompt(where.stem, where, words, tuple(examples) if words.shots else (), replies)


def _words(content: Any, where: Path) -> Words:
    try:
        return TypeAdapter(Words).validate_python(_tuples(content))
    except ValidationError as error:
        raise ConfigError(f"{where}: {first_sentence(error, '')}") from None


def _formatted(words: Words, format: str, where: Path) -> Words:
    """The words with those of a format in place of the plain ones."""
    if not format:
        return words
    plain = {setting.name: getattr(words, setting.name) for setting in fields(words)}
    return replace(_words(plain | _tuples(words.formats[format]), where), formats=words.formats)


def _tuples(content: Any) -> Any:
    """YAML lists as the tuples that frozen values hold."""
    if not isinstance(content, Mapping):
        return content
    return {name: tuple(value) if isinstance(value, list) else value for name, value in content.items()}


def _check(words: Words, where: Path) -> None:
    for kind in words.makes:
        if kind not in KINDS:
            raise ConfigError(f"{where}: makes: {unknown('kind of request', kind, KINDS)}")
    needed = ["premise", "hypothesis"] if "pair" in words.makes else []
    needed += ["user"] if {"chat", "choice"} & set(words.makes) else []
    missing = [name for name in needed if getattr(words, name) is None]
    if missing or not words.makes:
        raise ConfigError(f"{where}: what it makes ({', '.join(words.makes)}) needs {', '.join(missing) or 'a kind'}.")
    said = "".join([words.user or "", words.premise or "", *words.opening])
    if not _names(said, where):
        raise ConfigError(
            f"{where}: its words name no field of the item, such as {{premise}}: every question would be one."
        )
    _parser(words.parser, where)


@lru_cache(maxsize=256)
def _names(template: str, where: Path) -> frozenset[str]:
    """The fields that a template names."""
    try:
        return frozenset(name for _, name, _, _ in Formatter().parse(template) if name)
    except ValueError as error:
        raise ConfigError(f"{where}: {error}; write {{{{ and }}}} for braces.") from None


def _parser(name: str, where: Path) -> Parser:
    module, _, function = name.rpartition(":")
    try:
        parser: Parser = getattr(import_module(module) if module else parsing, function)
        return parser
    except (ImportError, AttributeError):
        raise ConfigError(f"{where}: there is no parser {name!r}; harness/parsing.py has verdict.") from None
