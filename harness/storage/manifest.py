"""manifest.json: what a run was, how its numbers came about, and by which digests they are known again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import msgspec

from harness.codec import digest
from harness.storage.forms import Open, Part, PlaceForm, Whole, form_of
from harness.types import JSON, Role

Facts = Mapping[str, JSON]
Place = Mapping[str, str]
Settings = Facts
Configuration = Facts
Program = Facts
Items = Facts
Rules = Facts
Sealed = Facts
"""Parts of a manifest; the forms below say what is in them."""


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """A manifest, its parts in the order of the file; None for a part that the file does not have."""

    run: Place
    """task, variant, prompt and model: the run's place in every table."""
    configuration: Configuration
    """All that can change the records or the scores. A folder takes one configuration."""
    configuration_digest: str = field(init=False)
    # How the numbers came about; does not decide whether two runs are the same.
    role: Role | None = None
    started: str | None = None
    harness: Program | None = None
    config: Settings | None = None
    """The settings as the user gave them. Nowhere else in a run's folder are there paths of this machine."""
    versions: Mapping[str, str] | None = None
    python: str | None = None
    machine: Facts | None = None
    own_files: Mapping[str, str] | None = None
    """The files of the working directory that the run is made of: {path below it: SHA-256}."""
    training: Facts | None = None
    words: Facts | None = None
    """Those of the prompt."""
    price: Facts | None = None
    judge: Facts | None = None
    """The words in which it was asked, and its price."""
    workers: Facts | None = None
    reread: Facts | None = None
    """When the replies were last read again, and by which harness."""
    # What the run has found, once it has ended.
    items: Items | None = None
    counts: Facts | None = None
    records: Sealed | None = None
    reading: Rules | None = None
    """By which rules the replies were read; None where there were none to be read."""
    ended: str | None = None
    """The one part that stands in the file as null: of a run that has not ended."""
    complete: bool | None = None
    result: str | None = None
    """The digest of result.json,"""
    digest: str | None = None
    """and that of all other parts of the manifest."""

    def __post_init__(self) -> None:
        """Name the configuration by its digest."""
        object.__setattr__(self, "configuration_digest", digest(self.configuration))

    @property
    def unfinished(self) -> Manifest:
        """The manifest of the same run as long as it has not ended."""
        nothing: dict[str, Any] = dict.fromkeys(FOUND)
        return replace(self, **nothing, complete=False)

    @property
    def sealed(self) -> Manifest:
        """The same with the digest of all its parts."""
        return replace(self, digest=digest(replace(self, digest=None).as_json))

    @property
    def as_json(self) -> dict[str, JSON]:
        parts = {part.name: getattr(self, part.name) for part in fields(self)}
        return {name: part for name, part in parts.items() if part is not None or name == "ended"}


SEALS = "digest"
"""The part that is the digest of all others."""
FOUND = ("items", "counts", "records", "reading", "ended", "result", SEALS)
"""The parts that a run has when it has ended, and that are made anew when its replies are read again."""


class ItemsForm(Open):
    """What was asked: how many items, and their digest."""

    count: Whole | None = None
    sha256: str | None = None


class ConfigurationForm(Open):
    """What the answers depend on."""

    task: Part = msgspec.field(default_factory=dict)
    data: Part = msgspec.field(default_factory=dict)
    prompt: Part = msgspec.field(default_factory=dict)
    model: Part = msgspec.field(default_factory=dict)
    judge: Part | None = None


class SettingsForm(Open):
    """The settings that a run was started with. What has no name here is a setting of the command."""

    task: Part | None = None
    model: Part | None = None
    algorithm: Part | None = None
    judge: Part | None = None
    prompt: str | None = None
    replies: str | None = None
    answer: str | None = None
    max_tokens: Whole | None = None
    system_role: str | None = None
    samples: Whole | None = None
    seed: Whole | None = None


class ProgramForm(Open):
    """Which harness ran."""

    version: str | None = None
    commit: str | None = None
    dirty: bool | None = None


class RulesForm(Open):
    """By which rules the replies were read."""

    version: Whole
    rules: str


class SealForm(Open):
    """What names the lines of the records."""

    count: Whole
    sha256_sum: str


ManifestForm = form_of(
    Manifest,
    base=Open,
    partial=True,
    Place=PlaceForm,
    Settings=SettingsForm,
    Configuration=ConfigurationForm,
    Program=ProgramForm,
    Items=ItemsForm,
    Rules=RulesForm,
    Sealed=SealForm,
)
"""manifest.json as it is read. A part that is there has its form; verify says which parts are missing."""
