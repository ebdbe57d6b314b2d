"""What result.json and manifest.json have to look like before anything reads them: one form for every reader.

A run of this program always leaves files of this form. Another form is damage, or somebody's attempt to end a reader
with a traceback; either way it is a ValueError here and one sentence for the user.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError, model_validator

from harness.types import LETTERS, Role

Tokens = Literal["input", "output", "cached_input", "reasoning", "cache_write"]
Text = str
Count = Annotated[int, Field(ge=0, le=10**15)]
Number = Annotated[FiniteFloat, Field(ge=-1e15, le=1e15)]
"""No number of a run is beyond it; what readers compute of such numbers stays finite."""
Pair = Annotated[list[Number], Field(min_length=2, max_length=2)]
Part = dict[Text, Any]
_STRICT = ConfigDict(strict=True)


class ScoresForm(BaseModel):
    """One row of scores. What has no name here is a metric."""

    model_config = ConfigDict(strict=True, extra="allow")
    __pydantic_extra__: dict[Text, Number | None] = Field(init=False)

    items: Count
    positives: Count
    unreadable: Count
    failed: Count
    clusters: Count = 0
    unit: Text = ""
    resamples: Count = 0
    cut_off: Count = 0
    confusion: dict[Text, Count] = {}
    intervals: dict[Text, Pair] = {}
    no_interval: dict[Text, list[Text]] = {}
    bounds: dict[Text, Pair] = {}


class PlaceForm(BaseModel):
    """Where a run stands in every table."""

    model_config = ConfigDict(strict=True, extra="forbid")

    task: Text
    variant: Text
    prompt: Text
    model: Text


class CostForm(BaseModel):
    """What a run's answers cost."""

    model_config = _STRICT

    usd: Annotated[Number, Field(ge=0)] | None
    answers: Count = 0
    answers_without_cost: Count
    price: Text | None = None


class JudgeForm(BaseModel):
    """What a judge has read where the rules could not, and the scores without it."""

    model_config = ConfigDict(strict=True, extra="forbid")

    model: Text
    replies: Count
    yes: Count
    no: Count
    unreadable: Count
    waiting: Count
    failures: dict[Text, Count]
    usage: dict[Tokens, Count]
    without: ScoresForm
    cost: CostForm | None = None


class ResultForm(BaseModel):
    """result.json."""

    model_config = _STRICT

    run: Annotated[PlaceForm, Field(default=None)]  # result_json makes all but these two
    complete: bool = False
    headline: Text
    choices: Annotated[list[Text], Field(max_length=len(LETTERS))] = []
    clusters: Count
    failures: dict[Text, Count]
    finish_reasons: dict[Text, Count]
    notes: list[Text] = []
    served_models: dict[Text, Count] = {}
    providers: dict[Text, Count] = {}
    system_fingerprints: dict[Text, Count] = {}
    samples: dict[Text, Number | None] = {}
    interval: Part = {}
    usage: dict[Tokens, Count]
    scores: dict[Text, dict[Text, dict[Text, ScoresForm]]]
    cost: CostForm | None = None
    judge: JudgeForm | None = None

    @model_validator(mode="after")
    def _has_headline(self) -> ResultForm:
        _ = self.scores[self.headline]["overall"]["all"]
        return self


class ItemsForm(BaseModel):
    """What was asked: how many items, and their digest."""

    model_config = _STRICT

    count: Count | None = None
    sha256: Text | None = None


class ConfigurationForm(BaseModel):
    """What the answers depend on."""

    model_config = _STRICT

    task: Part = {}
    data: Part = {}
    prompt: Part = {}
    model: Part = {}
    judge: Part | None = None


class ConfigForm(BaseModel):
    """The settings that a run was started with. What has no name here is a setting of the command."""

    model_config = _STRICT

    task: Part | None = None
    model: Part | None = None
    algorithm: Part | None = None
    judge: Part | None = None
    prompt: Text | None = None
    replies: Text | None = None
    answer: Text | None = None
    max_tokens: Count | None = None
    system_role: Text | None = None
    samples: Count | None = None
    seed: Count | None = None


class ProgramForm(BaseModel):
    """Which harness ran."""

    model_config = _STRICT

    version: Text | None = None
    commit: Text | None = None
    dirty: bool | None = None


class ReadingForm(BaseModel):
    """By which rules the replies were read."""

    model_config = _STRICT

    version: Count
    rules: Text


class SealForm(BaseModel):
    """What names the lines of the records."""

    model_config = _STRICT

    count: Count
    sha256_sum: Text


class ManifestForm(BaseModel):
    """manifest.json. A part that is there has its form; verify says which parts are missing."""

    model_config = _STRICT

    run: PlaceForm | None = None
    role: Role | None = None
    configuration: ConfigurationForm | None = None
    configuration_digest: Text | None = None
    config: ConfigForm | None = None
    complete: bool | None = None
    started: Text | None = None
    ended: Text | None = None
    items: ItemsForm | None = None
    counts: Part | None = None
    harness: ProgramForm | None = None
    versions: dict[Text, Text] | None = None
    python: Text | None = None
    machine: Part | None = None
    words: Part | None = None
    judge: Part | None = None
    reading: ReadingForm | None = None
    price: Part | None = None
    records: SealForm | None = None
    result: Text | None = None
    digest: Text | None = None


def check_result(content: Mapping[str, Any]) -> None:
    """Raise ValueError where result.json is of another form."""
    _check(ResultForm, content)


def check_manifest(content: Mapping[str, Any]) -> None:
    """Raise ValueError where manifest.json is of another form."""
    _check(ManifestForm, content)


def _check(form: type[BaseModel], content: Mapping[str, Any]) -> None:
    try:
        form.model_validate(content)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise ValueError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    except KeyError as missing:
        raise ValueError(f"scores: there are none of {missing}") from None
