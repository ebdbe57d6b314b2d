"""python -m harness.cache stats|export|import|prune|verify: the stored answers, and what plug-ins do with them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, Field

from harness import plugin
from harness.cli import key_value
from harness.cli.key_value import Choice
from harness.errors import ConfigError
from harness.plugins.answers import transfer, upkeep
from harness.plugins.answers.maintenance import Selection

CACHE = Path(".cache/answers.sqlite")
"""As in configs/cache/on.yaml."""

_HELP = f"""\
The cache of answers: every one that was paid for, in one SQLite file.

  python -m harness.cache stats                         what is in it, by model and task
  python -m harness.cache export FILE                   every answer as a JSON line, for another machine or for your own
                                                        tools; - for standard output
  python -m harness.cache import FILE FILE              take in what export wrote, or another cache
  python -m harness.cache prune model=gpt4              remove answers by model, identity, task or date, once
                                                        they have been shown
  python -m harness.cache verify                        recompute every key and digest, read every answer, and run
                                                        SQLite's own check

  cache={CACHE}   the file, with each of them

settings of import
  replace=false         true: where another answer is stored, take the imported one

settings of prune
  model=                answers of the models of this name
  identity=             answers of this identity, by the beginning of its digest
  task=                 answers that this task asked for first
  before=               answers stored before a date: 2026-01-31, or 2026-01-31T12:00:00
  errors=false          true: answers without a word that are a server's errors (verify finds them)
  yes=false             true: remove them; without it they are only shown

examples:
  python -m harness.cache export node1.jsonl                    on a compute node, then at home:
  python -m harness.cache import node1.jsonl node2.jsonl
  python -m harness.cache import backup/answers.sqlite replace=true
  python -m harness.cache prune model=gpt4 before=2026-01-31
  python -m harness.cache verify cache=shared/answers.sqlite

A line of an export: schema, key, model, task, stored, identity, request, response, digest. Its words stand in full
where they come first in the file, by sha256 after that.
"""


def _date(text: str) -> float:
    """Return a date as seconds since 1970; it is in local time where it gives no zone."""
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError, OSError):
        raise ConfigError(f"before={text}: it is no date; write it as 2026-01-31.") from None


@dataclass(frozen=True)
class AnswersSettings:
    """HELP says what each one means."""

    cache: Path = CACHE


@dataclass(frozen=True)
class ImportSettings(AnswersSettings):
    """HELP says what each one means."""

    replace: bool = False
    run: tuple[str, ...] = ()


@dataclass(frozen=True)
class PruneSettings(AnswersSettings):
    """HELP says what each one means."""

    model: str | None = None
    identity: Annotated[str, Field(min_length=1)] | None = None
    task: str | None = None
    before: Annotated[float | None, BeforeValidator(_date)] = None
    errors: bool = False
    yes: bool = False


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry out a command and return its exit code."""
    message = "interrupted: what was stored so far is kept."
    words = sys.argv[1:] if arguments is None else arguments
    # A run calls the file cache.path, and its settings are given here as they are there.
    words = [f"cache={word.removeprefix('cache.path=')}" if word.startswith("cache.path=") else word for word in words]
    return key_value.commands(HELP, COMMANDS, words, interrupted=message)


def stats(names: list[str], settings: AnswersSettings) -> int:
    """Show what is in the cache."""
    _no_names("stats", names)
    return upkeep.stats(settings.cache)


def export(names: list[str], settings: AnswersSettings) -> int:
    """Write every answer as a line."""
    if len(names) != 1:
        raise ConfigError("export takes one file to write, or - for standard output: export answers.jsonl")
    return transfer.export(settings.cache, names[0])


def import_(names: list[str], settings: ImportSettings) -> int:
    """Take in the answers of other caches."""
    if not names:
        raise ConfigError("import takes the files that export wrote, or other caches: import answers.jsonl")
    return transfer.import_(settings.cache, [*map(Path, names)], settings.run, replace=settings.replace)


def prune(names: list[str], settings: PruneSettings) -> int:
    """Show the chosen answers, and remove them where that is confirmed."""
    _no_names("prune", names)
    selection = Selection(settings.model, settings.identity, settings.task, settings.before, settings.errors)
    return upkeep.prune(settings.cache, selection, confirmed=settings.yes)


def verify(names: list[str], settings: AnswersSettings) -> int:
    """Check every answer."""
    _no_names("verify", names)
    return upkeep.verify(settings.cache)


def _no_names(command: str, names: Sequence[str]) -> None:
    if names:
        raise ConfigError(
            f"{command} takes settings only, not {names[0]!r}: the file is cache={CACHE}, or another one."
        )


_OF_PLUGINS: dict[str, Choice] = plugin.jobs("cache")
COMMANDS = {
    "stats": Choice(AnswersSettings, stats),
    "export": Choice(AnswersSettings, export),
    "import": Choice(ImportSettings, import_, composed=bool(plugin.importers())),
    **_OF_PLUGINS,
    "prune": Choice(PruneSettings, prune),
    "verify": Choice(AnswersSettings, verify),
}
HELP = "\n".join([_HELP, *(choice.help for choice in _OF_PLUGINS.values() if choice.help)])


if __name__ == "__main__":
    sys.exit(main())
