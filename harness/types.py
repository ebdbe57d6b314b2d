"""The vocabulary: every noun of the harness on one screen, all frozen.

A task gives items, a prompt turns an item into a request, a model answers requests, the prompt reads the
answer, the task scores the records.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, cast

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import replace as replace

JSON = Any
"""A value that json.dumps takes: str, int, float, bool, None, lists and dicts of these."""
Unreadable = Literal["wrong", "no"]
"""How a reply scores that could not be read: as the opposite of the gold label, or as No (Jin et al.'s code)."""
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""What the choices of a question are called, in their order; no question has more."""
IN_FORM, NOT_IN_FORM = "in the form", "not in the form"
"""The rule of an answer that stood in its field (answer=choice), and how that of one begins that did not."""
JUDGE = "judge"
"""The rule of an answer that a judge has read."""
RECORDED = "recorded answer"
"""The rule of an answer that others have read, of whose reply nothing is known."""
Role = Literal["model", "baseline", "solver", "algorithm", "cheat"]
"""What answers: a language model, or what one is compared with. A solver computes the answer from the question's own
words, an algorithm learns a graph from data, and a cheat looks at what tells nothing of the question."""
MOST = 10**15
"""No number in a file of a run is beyond it; what readers compute of such numbers stays finite."""
Tally = Annotated[int, Meta(ge=0, le=MOST)]
"""How many there are of something in a run, or how many tokens a call took."""
LabelCode = Annotated[int, Meta(ge=0, lt=len(LETTERS))]
"""0 for No and 1 for Yes; of a question with choices the place of one."""
Probability = Annotated[float, Meta(ge=0, le=1)]
LogProbability = Annotated[float, Meta(lt=1)]
"""Natural, and up to rounding not above 0."""
Amount = Annotated[float, Meta(ge=0, le=MOST)]
"""Seconds, or USD."""
Finite = Annotated[float, Meta(ge=-MOST, le=MOST)]
Range = tuple[Finite, Finite]
Means = Literal["json_schema", "json_object", "structured_outputs", "guided_choice", "regex", "tool"]
"""How a server is asked to hold a reply to a prompt's choices; those of today are json_schema and tool."""


class Part(Struct, frozen=True, forbid_unknown_fields=True):
    """A part of a record or of a result: as it is written here it stands in files, and is checked when it is read.

    What is as by default is left out of a file (harness.codec.as_json).
    """


class Item(Struct, frozen=True):
    """One question of a benchmark."""

    id: str
    fields: Mapping[str, JSON]
    """What a prompt may say. No label is in here, so none can reach a prompt."""
    labels: Mapping[str, int]
    """The gold label by label set: 0 or 1, or of a question with choices the place of the right one. A setting of the
    task picks the headline."""
    cluster: str
    """What is independent: the premise or the network the item comes from."""
    groups: Mapping[str, str]
    """The breakdowns the item counts in, such as relation: parent."""
    unit: str = ""
    """What is a unit within one cluster, such as the pair of variables `a -> b` of a network; empty where none is."""


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


Transcript = tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class AnswerForm:
    """What the server holds a reply to: one of the choices."""

    choices: tuple[str, ...]
    means: Means
    reasoning: bool = False
    """Whether the reply reasons first, in words that nothing holds, before the choice."""


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """Write: continue the conversation."""

    messages: Transcript
    max_tokens: int
    stop: tuple[str, ...] = ()
    sample: int = 0
    form: AnswerForm | None = None
    """None where the model may write what it likes."""
    choices: tuple[str, ...] = field(default=(), compare=False)
    """What the question can be answered with, where it is not Yes and No; not sent, not part of the digest."""


@dataclass(frozen=True, slots=True)
class ChoiceRequest:
    """Rank: how likely is each of the choices as the whole continuation?"""

    messages: Transcript
    choices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PairRequest:
    """Entail: does the premise entail the hypothesis?"""

    premise: str
    hypothesis: str


Request = ChatRequest | ChoiceRequest | PairRequest
"""Frozen and hashable: a request is its own dictionary key, and equal requests are asked once."""


class Usage(Part, frozen=True):
    """Tokens as the API or the tokenizer counted them, and what they cost; None where unknown."""

    input: Tally | None = None
    output: Tally | None = None
    cached_input: Tally | None = None
    reasoning: Tally | None = None
    cache_write: Tally | None = None
    usd: Amount | None = None
    """What the server says it charged for the call; it goes before any price table."""


TOKENS = tuple(name for name in Usage.__struct_fields__ if name != "usd")
"""The fields of Usage that are counts of tokens."""


class Response(Part, frozen=True):
    """What a model said. In files its fields stand in this order, and those that are empty are left out."""

    text: str
    logprobs: Mapping[str, LogProbability] | None = None
    """Natural logarithms: of each choice for a ChoiceRequest, of each class for a PairRequest."""
    outside: Probability | None = None
    """Of a ranking by the next token: the probability of all tokens that begin none of the choices."""
    bounded: tuple[str, ...] = ()
    """Choices that none of the returned tokens begins: their log-probability is an upper bound."""
    usage: Usage = Usage()
    finish_reason: str = ""
    """stop, length, …; `premise_truncated` where an encoder did not see the whole premise."""
    served_model: str = ""
    reasoning: str = ""
    """The model's thoughts, where the server separates them from the text. Never read as the answer."""
    provider: str = ""
    """Who served the model, where the server is a router that says so."""
    system_fingerprint: str = ""
    """The server's own name of the configuration that answered."""
    seconds: Amount = 0.0
    cached: bool = False


End = Literal["complete", "cut off", "refused", "tool call"]
_ENDS: Mapping[str, End] = {
    **dict.fromkeys(("", "stop", "end_turn", "stop_sequence", "eos", "eos_token", "end_of_text"), "complete"),
    **dict.fromkeys(("complete", "completed"), "complete"),
    **dict.fromkeys(("tool_calls", "tool_call", "tool_use", "function_call"), "tool call"),
    **dict.fromkeys(("content_filter", "content_filtered", "safety", "refusal", "sensitive", "recitation"), "refused"),
    **dict.fromkeys(("blocklist", "spii", "prohibited_content", "image_safety", "guardrail_intervened"), "refused"),
}


def ended(reason: object) -> End:
    """Return what a finish reason means, of whatever API or file. One that nobody knows is no end."""
    return _ENDS.get(reason.strip().lower() if isinstance(reason, str) else "", "cut off")


class Failure(Part, frozen=True):
    """A call that gave no usable reply. Never an answer, never stored, asked again by the next run."""

    kind: str
    detail: str


FINAL_FAILURES = frozenset({"context_length", "content_filter", "refusal", "invalid_logprobs", "empty_prompt"})
"""Kinds of failure that asking again does not cure. Any other one leaves a run incomplete."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What was read from a response. `label` is None where nothing could be read.

    A dataclass, since the rules of reading copy it as one, and the digest of their files stands in every manifest.
    """

    label: LabelCode | None
    probability: Probability | None = None
    """Of Yes, where the model gave one."""
    span: str = ""
    """The words that decided."""
    rule: str = ""
    """Of a reply in words, which rule of harness.prompting.reading decided; "" where nothing had to be read."""
    stated_confidence: Probability | None = None
    """How sure of this answer a reply says that it is, where its prompt asks; never taken for a probability of Yes."""


class Words(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A text by its digest, and in full where it has not stood before; of a conversation with its role."""

    role: str | None = None
    sha256: str
    text: str | None = None


class Asked(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A request as records have it: its kind, and what `codec.request_json` writes of one."""

    digest: str
    kind: Literal["chat", "choice", "pair"]
    messages: list[Words] = []
    premise: Words | None = None
    hypothesis: Words | None = None
    choices: list[str] | None = None
    max_tokens: Tally | None = None
    stop: list[str] | None = None
    sample: Tally | None = None
    form: dict[str, JSON] | None = None

    def __post_init__(self) -> None:
        """Raise ValueError where the words are not where the kind has them."""
        if self.kind == "pair" and (self.premise is None or self.hypothesis is None):
            raise ValueError("a pair has a premise and a hypothesis")

    @property
    def words(self) -> list[Words]:
        """Its texts, in the order in which they are sent."""
        return self.messages if self.premise is None or self.hypothesis is None else [self.premise, self.hypothesis]


def parts_of(outcome: Response | Failure) -> dict[str, Any]:
    """Return an outcome as the fields of a record or a judgement."""
    failed = isinstance(outcome, Failure)
    return {"response": None if failed else outcome, "failure": outcome if failed else None}


class Judgement(Part, frozen=True):
    """What the judge of a run made of a reply in which the rules had read nothing, or that it was to audit."""

    request: str
    """The digest of what the judge was asked."""
    response: Response | None = None
    failure: Failure | None = None

    def __post_init__(self) -> None:
        """Raise ValueError where the outcome is not one."""
        if (self.response is None) == (self.failure is None):
            raise ValueError("a judge has a request and a response, or a request and a failure")

    @property
    def outcome(self) -> Response | Failure:
        return self.response or cast("Failure", self.failure)


class Record(Part, frozen=True, kw_only=True):
    """One item with what became of it: all that scoring needs, in the order of the file."""

    item: str
    cluster: str
    unit: str = ""
    groups: Mapping[str, str]
    labels: Mapping[str, LabelCode]
    sample: Tally = 0
    request: Asked | None
    """None where nothing was asked (a classical algorithm, a failed opening)."""
    response: Response | None = None
    failure: Failure | None = None
    answer: Answer | None = None
    """None iff the outcome is a failure."""
    judge: Judgement | None = None
    """None where no judge was asked; otherwise the answer is the judge's, and the rules had none, or it is theirs, and
    the judge was asked what they ought to have read."""

    def __post_init__(self) -> None:
        """Raise ValueError where the outcome is not one, or has what does not go with it."""
        if not self.labels:
            raise ValueError("a record has a label")
        if (self.response is None) == (self.failure is None) or (self.response is None) != (self.answer is None):
            raise ValueError("a record has a response and its answer, or a failure")
        if self.judge is not None and self.response is None:
            raise ValueError("a failed call has no reply that a judge could read")

    @classmethod
    def of(
        cls, item: Item, request: Asked | None, outcome: Response | Failure, answer: Answer | None, sample: int = 0
    ) -> Record:
        """Return the record of an item."""
        about = {name: getattr(item, name) for name in OF_ITEM if name != "item"}
        return Record(item=item.id, **about, sample=sample, request=request, **parts_of(outcome), answer=answer)

    @property
    def outcome(self) -> Response | Failure:
        return self.response or cast("Failure", self.failure)


OF_ITEM = ("item", "cluster", "unit", "groups", "labels")
"""The fields that describe the item of a record."""


class Line(Record, frozen=True, kw_only=True):
    """A record as it stands in its file, with what follows from it."""

    gold: LabelCode
    correct: bool | None
    cost_usd: Amount | UnsetType | None = UNSET
    """None where it is not known, and not there for what is free."""

    @classmethod
    def of_record(cls, record: Record, headline: str, usd: float | UnsetType | None) -> Line:
        """Return the line of a record, whose answer cost `usd`; the label set `headline` says what is right."""
        label, gold = record.answer and record.answer.label, record.labels[headline]
        return cls(
            **{name: getattr(record, name) for name in Record.__struct_fields__},
            gold=gold,
            correct=None if label is None else label == gold,
            cost_usd=round(usd, 9) if isinstance(usd, float) else usd,
        )

    @property
    def usd(self) -> float | None:
        """What its answer cost; None where that is not known, or where it is free."""
        return self.cost_usd if isinstance(self.cost_usd, float) else None

    @property
    def turns(self) -> list[dict[str, str]]:
        """The messages that the model was sent, as role and content."""
        words = self.request.words if self.request else []
        if self.request and self.request.kind == "pair":
            return [{"role": "user", "content": "\n\n".join(part.text or "" for part in words)}]
        return [{"role": part.role or "", "content": part.text or ""} for part in words]


class Metric(Part, frozen=True):
    """A number with a name, shares as fractions; None where it is undefined."""

    name: str
    value: Finite | None
    interval: Range | None = None
    """95%, over clusters."""
    no_interval: str = ""
    """Why a value has none."""
    bounds: Range | None = None
    """The value if all failed calls and unreadable replies had been wrong, and right; None where there are none."""
    firm: Range | None = None
    """The bounds if only firm answers counted, and all others were unreadable; None where all are firm."""


class Scores(Part, frozen=True):
    """One row of a result: how many, and how well."""

    items: Tally
    positives: Tally
    unreadable: Tally
    failed: Tally
    metrics: tuple[Metric, ...]
    clusters: Tally = 0
    """That have an item in the row: what its intervals draw. 0 where a task does not count them."""
    unit: str = ""
    """What they are where they are parts of one cluster: in CausalBench, the pairs of variables of one network."""
    resamples: Tally = 0
    """Behind the intervals; 0 where there are none."""
    cut_off: Tally = 0
    """Of the unreadable replies, those that were cut off while the model was still thinking."""
    confusion: Mapping[str, Tally] = {}
    """Items by what became of them: tp, fp, fn, tn, and where there are any unreadable_positive, unreadable_negative,
    failed_positive, failed_negative. Unreadable replies stand here as such, however they score. Empty in rows that are
    means of others."""

    def __getitem__(self, name: str) -> float | None:
        metric = self.metric(name)
        return metric.value if metric else None

    def metric(self, name: str) -> Metric | None:
        """Return the metric of that name, if the row has it."""
        return next((metric for metric in self.metrics if metric.name == name), None)


class Judged(Part, frozen=True):
    """What a judge has read, and what the scores are without it."""

    model: str
    yes: Tally
    no: Tally
    unreadable: Tally
    """Replies in which the judge found no verdict either."""
    waiting: Tally
    """Replies that the rules could not read and that the judge was not asked about before the run stopped."""
    failures: Mapping[str, Tally]
    """Replies that stay unreadable as the judge's call failed, by kind."""
    usage: Usage
    """The judge's, over its distinct requests."""
    without: Scores
    """The headline scores of all items by the rules alone."""
    not_words: Tally = 0
    """Of the replies left unreadable, those where the judge's own reply is none of its words."""
    audit: Mapping[str, Tally] = {}
    """Of a sample of the replies that the rules did read, how often the rules and the judge read what: "1/0"."""
    audit_failures: Mapping[str, Tally] = {}
    """Of that sample, the judge's calls that failed, by kind."""

    @property
    def replies(self) -> int:
        """How many replies the judge was asked about."""
        return self.yes + self.no + self.unreadable + sum(self.failures.values())


class Result(Part, frozen=True):
    """What a run comes to: scores per label set, breakdown and group."""

    headline: str
    """The label set that the tables show."""
    scores: Mapping[str, Mapping[str, Mapping[str, Scores]]]
    """label set → breakdown ("overall", "relation", …) → group → scores."""
    clusters: Tally
    failures: Mapping[str, Tally]
    """How many calls failed, by kind."""
    finish_reasons: Mapping[str, Tally]
    usage: Usage
    """Sums over the records; where a model was asked, over the distinct requests of the run, openings included."""
    notes: tuple[str, ...] = ()
    """Sentences that belong beside the scores."""
    served_models: Mapping[str, Tally] = {}
    """The model names that the server gave with its replies, and how often each."""
    providers: Mapping[str, Tally] = {}
    """The same for the providers behind a router,"""
    system_fingerprints: Mapping[str, Tally] = {}
    """and for the configurations of the server."""
    samples: Mapping[str, Finite | None] = {}
    """What single draws come to, where each item has several answers and the scores are those of the vote."""
    judge: Judged | None = None
    """What another model has read where the rules could not; None for a run without a judge."""
    files: Mapping[str, str] = {}
    """Further files of the run's folder, their text by name, such as graphs/asia/cause.csv."""
    grades: Mapping[str, Tally] = {}
    """How many answers were read how, by the names of harness.scoring.grades; {} where all are in their form."""
    choices: tuple[str, ...] = ()
    """What the answers 0, 1, 2, … are called where they are places of choices; () where they are No and Yes."""
    unreadable: Unreadable = "wrong"
    """How a reply that could not be read was scored; no part of result.json, the manifest has the task's settings."""

    @property
    def answers(self) -> tuple[str, ...]:
        """What the answers 0, 1, … are called."""
        return self.choices or ("No", "Yes")

    @property
    def curable(self) -> int:
        """How many calls failed in a way that may pass: the run is complete only without them."""
        failures = [*self.failures.items(), *(self.judge.failures.items() if self.judge else ())]
        return sum(count for kind, count in failures if kind not in FINAL_FAILURES)

    @property
    def overall(self) -> Scores:
        """The headline scores of all items."""
        return self.scores[self.headline]["overall"]["all"]
