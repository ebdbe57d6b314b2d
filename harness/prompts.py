"""A prompt file into a Prompt: the words that are sent, and the reading of what comes back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from string import Formatter
from typing import Annotated, Any

import yaml
from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from harness import parsing
from harness.codec import KINDS, digest
from harness.errors import ConfigError, unknown
from harness.settings import PROMPTS, first_sentence, listed
from harness.types import JSON, Answer, ChatRequest, ChoiceRequest, Message, PairRequest, Request, Response, Transcript

Parser = Callable[[Response], Answer]


@dataclass(frozen=True, kw_only=True)
class Words:
    """What a prompt file holds; templates name fields of the item in braces."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    source: str
    """The paper and section that the words come from, and what of them is ours."""
    makes: tuple[str, ...]
    """Kinds of request (chat, choice, pair) in order of preference."""
    system: str | None = None
    shots: bool = False
    """Whether the task's solved examples go before the question."""
    example: str | None = None
    """The user's turn of an example, where it is not the question's."""
    opening: tuple[str, ...] = ()
    """User turns that the model answers first, one after the other."""
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


@dataclass(frozen=True)
class Prompt:
    """Turns the fields of an item into a request and reads the response."""

    name: str
    where: Path
    words: Words
    shots: tuple[Mapping[str, JSON], ...] = ()

    @property
    def makes(self) -> tuple[type[Request], ...]:
        """Kinds of request in order of preference; the first that the model accepts is rendered."""
        return tuple(KINDS[kind] for kind in self.words.makes)

    @property
    def digest(self) -> str:
        """Changes with every word that is sent and with the parser, not with the comments or the source."""
        words = {name: value for name, value in vars(self.words).items() if name != "source"}
        return digest([words, [dict(shot) for shot in self.shots]])

    def opening(self, fields: Mapping[str, JSON]) -> tuple[str, ...]:
        """The user turns that the model answers before the question; () for most prompts."""
        return tuple(self._fill(turn, fields) for turn in self.words.opening)

    def turn(self, transcript: Transcript, turn: str) -> ChatRequest:
        """The request for the next turn of an opening, after the transcript so far."""
        messages = (*self._before(), *transcript, Message("user", turn))
        return ChatRequest(messages, max_tokens=self.words.opening_max_tokens)

    def render(self, fields: Mapping[str, JSON], transcript: Transcript, kind: type[Request]) -> Request:
        """The request about an item, after its opening."""
        if kind is PairRequest:
            return PairRequest(self._fill(self.words.premise, fields), self._fill(self.words.hypothesis, fields))
        messages = (*self._before(), *transcript, Message("user", self._fill(self.words.user, fields)))
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

    def _before(self) -> Iterator[Message]:
        if self.words.system:
            yield Message("system", self.words.system)
        for shot in self.shots:
            yield Message("user", self._fill(self.words.example or self.words.user, shot))
            yield Message("assistant", str(shot["answer"]))

    def _fill(self, template: str | None, fields: Mapping[str, JSON]) -> str:
        try:
            return str(template).format_map(fields)
        except (KeyError, IndexError, ValueError, AttributeError) as error:
            raise ConfigError(
                f"{self.where}: the template asks for {{{str(error).strip(chr(39))}}}; the item has the fields "
                f"{', '.join(fields)} (write {{{{ and }}}} for braces)."
            ) from None


def available(task: str) -> dict[str, Path]:
    """The prompt files of a task by name: the package's, and those under ./prompts of the working directory."""
    return listed(PROMPTS, task)


def load(task: str, name: str, examples: Sequence[Mapping[str, JSON]]) -> Prompt:
    """A task's prompt by its name, or any prompt file by its path."""
    files = available(task)
    where = Path(name) if name.endswith((".yaml", ".yml")) else files.get(name)
    if where is not None and not where.is_file():
        raise ConfigError(f"prompt={name}: there is no such file.")
    if where is None:
        raise ConfigError(unknown(f"{task} prompt", name, files))
    try:
        content: Any = yaml.safe_load(where.read_text(encoding="utf-8"))
        words = TypeAdapter(Words).validate_python(_tuples(content))
    except ValidationError as error:
        raise ConfigError(f"{where}: {first_sentence(error, '')}") from None
    except yaml.YAMLError as error:
        raise ConfigError(f"{where} is not YAML: {' '.join(str(error).split())}") from None
    _check(words, where)
    return Prompt(where.stem, where, words, tuple(examples) if words.shots else ())


def _tuples(content: Any) -> Any:
    """YAML lists as the tuples that frozen values hold."""
    if not isinstance(content, dict):
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
    if not any(name for _, name, _, _ in _fields(said, where)):
        raise ConfigError(
            f"{where}: its words name no field of the item, such as {{premise}}: every question would be one."
        )
    _parser(words.parser, where)


def _fields(template: str, where: Path) -> list[tuple[str, str | None, str | None, str | None]]:
    try:
        return list(Formatter().parse(template))
    except ValueError as error:
        raise ConfigError(f"{where}: {error}; write {{{{ and }}}} for braces.") from None


def _parser(name: str, where: Path) -> Parser:
    module, _, function = name.rpartition(":")
    try:
        parser: Parser = getattr(import_module(module) if module else parsing, function)
        return parser
    except (ImportError, AttributeError):
        raise ConfigError(f"{where}: there is no parser {name!r}; harness/parsing.py has verdict.") from None
