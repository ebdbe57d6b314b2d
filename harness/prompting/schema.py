"""What a prompt file holds, read and checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from string import Formatter
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, ValidationError

from harness.codec import KINDS
from harness.config_files import settings_in
from harness.errors import ConfigError, unknown
from harness.prompting import parsing
from harness.prompting.reading import PLACE
from harness.settings import adapter, first_sentence
from harness.types import JSON, Answer, Response

Parser = Callable[[Response], Answer]


@dataclass(frozen=True, kw_only=True)
class Words:
    """What a prompt file holds; templates name fields of the item in braces."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    source: str = ""
    """The paper and section that the words come from, and what of them is ours."""
    makes: tuple[str, ...]
    """Kinds of request (chat, choice, pair) in order of preference."""
    system: str | None = None
    """Words before everything else; see system_role."""
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
    """The longest reply to a turn of the opening."""
    user: str | None = None
    """The question, for chat and choice: the user's turn."""
    premise: str | None = None
    """The first text of a pair."""
    hypothesis: str | None = None
    """The second text of a pair, which the first one entails or not."""
    choices: tuple[str, ...] = ("Yes", "No")
    """For ranking; the first one says Yes."""
    choices_from: str | None = None
    """A field that holds the choices of the item as a list: one of these is the answer, and not Yes or No."""
    answer_with: Literal["letter", "text"] = "letter"
    """How such a choice is ranked, and given where the server holds the reply to it (answer=choice)."""
    reasoning: bool = False
    """Whether the words ask to reason before the verdict: with answer=choice the reply has a field for that."""
    max_tokens: Annotated[int, Field(gt=0)] = 16
    """The longest reply to the question: more for a chain of thought."""
    stop: tuple[str, ...] = ()
    """Texts at which a reply ends."""
    form: str = ""
    """The form in which they ask for the answer: a last line ("Answer: {answer}"), a tag, a field, {answer} alone."""
    confidence: str = ""
    """The form of the line in which they ask how sure the answer is: "Confidence: {confidence}"."""
    parser: str = "verdict"
    """`verdict` (prompting/parsing.py), `recorded` or `module:function`."""
    formats: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Words that replace those above where a setting of the task (task.format) asks for more than the plain ones."""


def read(where: Path, format: str = "") -> Words:
    """Return the words of a file, with those of a format in place of the plain ones. Raises ConfigError."""
    if not (content := settings_in(where)):
        raise ConfigError(f"{where} holds no words: it needs at least makes: and user: (--help prompt=plain).")
    plain = check(content, where)
    variants = {"": plain}
    for name, more in plain.formats.items():
        variants[name] = replace(check({**content, **more, "formats": {}}, where), formats=plain.formats)
    for words in variants.values():
        parser_of(words.parser, where)
    if format not in variants:
        has = f"; it has them for {', '.join(plain.formats)}" if plain.formats else ""
        raise ConfigError(f"prompt {where.stem} has no words for task.format={format}{has}.")
    return variants[format]


def check(content: Any, where: Path) -> Words:
    """Return the words that a JSON object holds. Raises ConfigError where no prompt file could hold them.

    They may be somebody else's: the parser that they name is not looked up.
    """
    names = [setting.name for setting in fields(Words)]
    for name in content:
        if name not in names:
            raise ConfigError(f"{where}: {unknown('setting', str(name), names)}")
    for name in ("makes", "opening", "choices", "stop"):
        if isinstance(content.get(name), str):
            raise ConfigError(f"{where}: {name} is a list: {name}: [{content[name]}].")
    values = {name: tuple(value) if isinstance(value, list) else value for name, value in content.items()}
    try:
        words: Words = adapter(Words).validate_python(values)
    except ValidationError as error:
        raise ConfigError(f"{where}: {first_sentence(error, '', in_file=True)}") from None
    _check(words, where)
    return words


def _check(words: Words, where: Path) -> None:
    for kind in words.makes:
        if kind not in KINDS:
            raise ConfigError(f"{where}: makes: {unknown('kind of request', kind, KINDS)}")
    needed = ["premise", "hypothesis"] if "pair" in words.makes else []
    needed += ["user"] if {"chat", "choice"} & set(words.makes) else []
    missing = [name for name in needed if getattr(words, name) is None]
    if missing or not words.makes:
        raise ConfigError(f"{where}: what it makes ({', '.join(words.makes)}) needs {', '.join(missing) or 'a kind'}.")
    if words.form and words.form.count(PLACE) != 1:
        raise ConfigError(f"{where}: form: says where the answer stands, once: form: 'Answer: {PLACE}'.")
    if words.confidence and not words.confidence.partition("{confidence}")[0].strip():
        raise ConfigError(f"{where}: confidence: begins the line: confidence: 'Confidence: {{confidence}}'.")
    asking = [words.user or "", words.premise or "", *words.opening]
    for template in (*asking, words.example or "", words.hypothesis or ""):
        names_in(template, where)
    if not any(names_in(template, where) for template in asking):
        raise ConfigError(f"{where}: its words name no field of the item, such as {{premise}}.")


@lru_cache(maxsize=256)
def names_in(template: str, where: Path) -> frozenset[str]:
    """Return the fields that a template names. Raises ConfigError for anything in braces but a name."""
    try:
        parts = [part for part in Formatter().parse(template) if part[1] is not None]
    except ValueError as error:
        raise ConfigError(f"{where}: {error}; write {{{{ and }}}} for braces.") from None
    for _, name, form, conversion in parts:
        if not str(name).isidentifier() or form or conversion:
            raise ConfigError(f"{where}: {{{name}…}} is no field's name; write {{{{ and }}}} for braces.")
    return frozenset(str(name) for _, name, _, _ in parts)


def parser_of(name: str, where: Path) -> Parser:
    """Return a parser that ships, or module:function. Raises ConfigError."""
    module, _, function = name.rpartition(":")
    if not module:
        shipped: dict[str, Parser] = {"verdict": parsing.verdict, "recorded": parsing.recorded}
        if function in shipped:
            return shipped[function]
        raise ConfigError(f"{where}: {unknown('parser', name, shipped)} One of your own is module:function.")
    try:
        parser: Parser = getattr(import_module(module), function)
    except Exception as error:  # whatever a module of somebody's own raises when it is imported
        kind = "" if isinstance(error, ImportError | AttributeError) else f"{type(error).__name__}: "
        raise ConfigError(f"{where}: parser {name} cannot be imported: {kind}{error}.") from error
    if not callable(parser):
        raise ConfigError(f"{where}: parser {name} is no function.")
    return parser


def fill(template: str | None, fields: Mapping[str, JSON], where: Path) -> str:
    """Return the template with the fields of an item. Raises ConfigError for a field that the item does not have."""
    try:
        return str(template).format_map(fields)
    except (KeyError, IndexError, ValueError, AttributeError) as error:
        raise ConfigError(
            f"{where} asks for {{{str(error).strip(chr(39))}}}; the item has the fields {', '.join(fields)}."
        ) from None
