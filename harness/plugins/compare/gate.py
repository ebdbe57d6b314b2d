"""Whether a candidate is no worse than a baseline by more than a margin, on each benchmark of a policy: harness gate.

GO where every benchmark says so, each at the policy's error: together they err no more often than one (the
intersection–union test: Berger, Multiparameter Hypothesis Testing and Acceptance Sampling, Technometrics 24, 1982).
NO-GO where at least one is worse by more than its margin; as any of them may say so, each has an equal part of the
error (Bonferroni, whose smallest p is Holm's too).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from harness.cli import key_value
from harness.errors import ConfigError, unknown
from harness.leaderboard.comparable import find_runs
from harness.plugins.compare.command import metrics_to_compare
from harness.plugins.compare.measure import Comparison, remarks
from harness.plugins.compare.paired import OneSided, one_sided
from harness.plugins.compare.pairs import OVERALL, Pairing, pair
from harness.plugins.compare.runs import Replies, load, making
from harness.scoring.bootstrap import FEWEST
from harness.scoring.definitions import definition
from harness.settings import validated
from harness.storage.atomic_write import atomic_file, check
from harness.storage.runs import Run
from harness.tables import terminal
from harness.tables.markdown_csv_json import markdown
from harness.tables.numbers import percent_text, signed_text
from harness.tables.table import Part, Table

HELP = """\
Is a candidate no worse than a baseline by more than a margin? GO, NO-GO or NOT ENOUGH EVIDENCE.

  harness gate gpt35 gpt4 policy.yaml                two models of the runs below results/
  harness gate old/ new/ policy.yaml                 two folders of runs; either may also be a model's name
  harness gate gpt35 gpt4 policy.yaml format=markdown > comment.md        for a pull request

A policy, complete:

  error: 0.05                          # how often GO may be wrong, and how often NO-GO (this where it is left out)
  benchmarks:
    - task: corr2cause
      metric: f1                       # f1, accuracy, precision, recall; or what the task's tables rank by
      margin: 3                        # points: GO where the candidate is worse by less than this
    - task: corr2cause
      variant: perturbation=permutation          # as the folders and the leaderboard call it (default)
      prompt: plain                    # where there are runs with several
      metric: accuracy
      margin: 2
      labels: audited                  # the labels that count; the runs' own where this is left out

GO: on each benchmark the lower bound of the difference (one-sided, 95%) is above minus the margin. NO-GO: on at least
one the upper bound is below it. Else NOT ENOUGH EVIDENCE, and how many calls would settle it. Bounds are over whole
clusters; of calls that failed they hold whatever the answer would have been. A run that is not complete is no evidence.

  results=results   where the runs of models are
  format=           markdown (verdict first, for a pull request) or json: what is printed
  out=              a file to write: .md or .json

Exit codes: 0 GO, 2 NO-GO, 3 NOT ENOUGH EVIDENCE; 1 an error, as where a run is missing (it names what makes it).
"""
Verdict = Literal["GO", "NO-GO", "NOT ENOUGH EVIDENCE"]
CODES: Mapping[Verdict, int] = {"GO": 0, "NO-GO": 2, "NOT ENOUGH EVIDENCE": 3}


@dataclass(frozen=True)
class GateSettings:
    """Settings of the command, each explained in HELP."""

    results: str = "results"
    format: Literal["markdown", "json"] | None = None
    out: str | None = None


@dataclass(frozen=True)
class Benchmark:
    """One benchmark of a policy."""

    task: str
    metric: str
    margin: Annotated[float, Field(ge=0, le=100)]
    """In points."""
    variant: str = "default"
    prompt: str | None = None
    labels: str | None = None

    @property
    def title(self) -> str:
        return " ".join(part for part in (self.task, self.variant, self.prompt) if part and part != "default")


@dataclass(frozen=True)
class Policy:
    """What a candidate has to keep to."""

    benchmarks: tuple[Benchmark, ...]
    error: Annotated[float, Field(gt=0, lt=0.5)] = 0.05


@dataclass(frozen=True)
class Judged:
    """A benchmark with what two runs show on it; fractions. Without `spread` there is nothing to go by."""

    benchmark: Benchmark
    runs: tuple[Run, Run]
    items: int
    spread: OneSided | None
    low: float | None
    high: float | None
    notes: tuple[str, ...]
    sound: bool = True
    """Whether both runs are complete."""

    @property
    def verdict(self) -> Verdict:
        limit = -self.benchmark.margin / 100
        if self.low is None or self.high is None or not self.sound:
            return "NOT ENOUGH EVIDENCE"
        return "GO" if self.low > limit else "NO-GO" if self.high < limit else "NOT ENOUGH EVIDENCE"


def main(arguments: Sequence[str] | None = None) -> int:
    return key_value.command(HELP, GateSettings, job, arguments)


def job(arguments: list[str], settings: GateSettings) -> int:
    """Print the verdict with what it rests on, write it where settings say so, and return its exit code."""
    if len(arguments) != 3:
        raise ConfigError(
            "give a baseline, a candidate and a policy: harness gate gpt35 gpt4 policy.yaml (see --help)."
        )
    names, file = (arguments[0], arguments[1]), arguments[2]
    if settings.out is not None:
        if Path(settings.out).suffix not in (".md", ".json"):
            raise ConfigError(f"out={settings.out}: the name has to end in .md or .json.")
        check(settings.out)
    policy = read_policy(file)
    first, second = (_runs_of(name, settings.results) for name in names)
    chosen = [
        (_chosen(first, names[0], each, second), _chosen(second, names[1], each, first)) for each in policy.benchmarks
    ]
    if same := [a.folder for a, b in chosen if a.folder.resolve() == b.folder.resolve()]:
        raise ConfigError(f"{same[0]} is the baseline's run and the candidate's: a model is compared with another one.")
    judged = [judge(each, *runs, policy) for each, runs in zip(policy.benchmarks, chosen, strict=True)]
    texts = {
        "markdown": lambda: f"## {markdown([*parts(judged, names, policy), _policy_text(policy, file)])}",
        "json": lambda: json.dumps(_json(judged, names, policy), indent=2, ensure_ascii=False),
    }
    if settings.out is not None:
        with atomic_file(settings.out) as stream:
            stream.write(f"{texts['json' if settings.out.endswith('.json') else 'markdown']()}\n")
    terminal.show([texts[settings.format]()] if settings.format else parts(judged, names, policy))
    return CODES[overall(judged)]


def read_policy(file: str) -> Policy:
    """Return the policy that a YAML file holds. Raises ConfigError, one sentence for each mistake."""
    from yaml import YAMLError

    from harness.config_files import read_yaml

    try:
        content = read_yaml(Path(file))
    except OSError as error:
        raise ConfigError(
            f"the policy {file} cannot be read ({error.strerror}): harness gate --help shows one."
        ) from None
    except (UnicodeDecodeError, YAMLError) as error:
        raise ConfigError(f"the policy {file} is not YAML ({' '.join(str(error).split())}).") from None
    if not isinstance(content, dict) or not isinstance(content.get("benchmarks"), list) or not content["benchmarks"]:
        raise ConfigError(f"the policy {file} has no list of benchmarks: harness gate --help shows one.")
    benchmarks = []
    for number, section in enumerate(content["benchmarks"], 1):
        if not isinstance(section, dict):
            raise ConfigError(f"{file}, benchmark {number}: write task:, metric: and margin: (harness gate --help).")
        try:
            benchmarks.append(validated(Benchmark, {str(key): value for key, value in section.items()}))
        except ConfigError as error:
            raise ConfigError(f"{file}, benchmark {number}: {error}") from None
    places = [replace(benchmark, margin=0) for benchmark in benchmarks]
    if twice := [benchmark.title for benchmark in places if places.count(benchmark) > 1]:
        raise ConfigError(f"{file} has {twice[0]} twice with the same metric and labels: one margin holds.")
    try:
        return validated(Policy, {**{str(key): value for key, value in content.items()}, "benchmarks": benchmarks})
    except ConfigError as error:
        raise ConfigError(f"{file}: {error}") from None


def _runs_of(name: str, results: str) -> list[Run]:
    """Return the runs below a folder of that name, or those of the model below `results`. Raises ConfigError."""
    if Path(name).is_dir():
        return find_runs([name])
    rows = find_runs([results])
    if not any(row.model == name for row in rows):
        raise ConfigError(
            f"{unknown(f'model with runs below {results}, or folder,', name, {row.model for row in rows})}"
        )
    return [row for row in rows if row.model == name]


def _chosen(rows: Sequence[Run], name: str, benchmark: Benchmark, others: Sequence[Run]) -> Run:
    """Return the one run of a benchmark. Raises ConfigError with the command that makes it, or with the choices."""
    place = {"task": benchmark.task, "variant": benchmark.variant}
    fitting = [row for row in rows if all(row.place[part] == value for part, value in place.items())]
    with_prompt = [row for row in fitting if benchmark.prompt in (None, row.prompt)]
    if len(with_prompt) == 1:
        return with_prompt[0]
    if with_prompt:
        places = ", ".join(f"{row.prompt}/{row.model}" for row in with_prompt[:8])
        what = "prompt: in the policy, or a folder," if len({row.prompt for row in with_prompt}) > 1 else "a folder"
        raise ConfigError(f"{name} has several runs of {benchmark.title} ({places}): {what} says which one.")
    models = {row.model for row in rows}
    prompts = {row.prompt for row in others if row.task == benchmark.task and row.variant == benchmark.variant}
    prompt = benchmark.prompt or (prompts.pop() if len(prompts) == 1 else None)
    like = next(
        (row.settings for row in others if row.task == benchmark.task and row.variant == benchmark.variant), None
    )
    made_by = making(models.pop() if len(models) == 1 else "…", benchmark.task, benchmark.variant, prompt, like)
    there = sorted({f"{row.task}/{row.variant}/{row.prompt}" for row in rows})
    raise ConfigError(
        f"{name} has no run of {benchmark.title}, which {made_by} makes; there "
        f"{'is' if len(there) == 1 else 'are'} {', '.join(there[:8])}{', …' if len(there) > 8 else ''}."
    )


def judge(benchmark: Benchmark, first: Run, second: Run, policy: Policy) -> Judged:
    """Return what two runs show on a benchmark. Raises DataError or ConfigError where they cannot be paired."""
    unsound = [
        f"{run.model} {'has no answer: every call failed' if run.unanswered else run.trouble or 'is not complete'}: "
        f"{making(run.model, run.task, run.variant, run.prompt, run.settings or None)} goes on."
        for run in (first, second)
        if not run.sound
    ]
    if first.unanswered or second.unanswered:
        return Judged(benchmark, (first, second), 0, None, None, None, tuple(unsound), sound=False)
    replies = load(str(first.folder)), load(str(second.folder))
    (metric,) = metrics_to_compare((benchmark.metric,), replies)
    if definition(metric).best is None:
        raise ConfigError(f"{benchmark.title}: neither end of {definition(metric).title} is better.")
    pairing = pair(*replies, by=(), labels=benchmark.labels, least=0.5)
    notes = [*unsound, *remarks([Comparison(first.model, second.model, replies, pairing, ())])]
    if first.prompt != second.prompt:
        notes.append(f"They were asked with other prompts: {first.prompt} and {second.prompt}.")
    spread = _spread(pairing, metric)
    if spread is None:
        notes.append(f"Fewer than {FEWEST} clusters hold what {definition(metric).title} is made of: no bounds.")
        return Judged(benchmark, (first, second), pairing.shared, None, None, None, tuple(notes), not unsound)
    worst = best = spread
    if pairing.failed:
        if replies[0].measures:
            notes.append("What the failed calls would have scored is not known, so the bounds are of the others alone.")
        else:
            worst, best = (_with_failed(replies, pairing.labels, metric, right) or spread for right in (False, True))
            notes.append("The bounds hold whatever the failed calls would have answered.")
    if not spread.deviation:
        notes.append("The difference is the same in all clusters: its bounds take items for independent.")
    if definition(metric).best == "low":
        notes.append(
            f"Of {definition(metric).title} less is better: the difference is how much less the candidate has."
        )
    error = policy.error
    low, high = worst.low(error), best.high(error / len(policy.benchmarks))
    return Judged(benchmark, (first, second), pairing.shared, spread, low, high, tuple(notes), not unsound)


def _spread(pairing: Pairing, metric: str) -> OneSided | None:
    return one_sided(pairing.cells(OVERALL)[0], pairing.worths(OVERALL), metric)


def _with_failed(replies: tuple[Replies, Replies], labels: str, metric: str, right: bool) -> OneSided | None:
    """Return the difference if each failed call of the candidate had been `right`, and of the baseline the reverse."""
    first, second = (_answered(run, labels, right=one) for run, one in zip(replies, (not right, right), strict=True))
    return _spread(pair(first, second, by=(), labels=labels, least=0), metric)


def _answered(run: Replies, labels: str, *, right: bool) -> Replies:
    """Return the replies with an answer, right or wrong, in the place of each failed call."""
    items = {}
    for item, reply in run.by_item.items():
        gold = dict(reply.labels)[labels]
        items[item] = reply._replace(failed=False, answer=gold if right else int(not gold)) if reply.failed else reply
    return replace(run, by_item=items)


def overall(judged: Sequence[Judged]) -> Verdict:
    verdicts = {row.verdict for row in judged}
    return "GO" if verdicts == {"GO"} else "NO-GO" if "NO-GO" in verdicts else "NOT ENOUGH EVIDENCE"


def parts(judged: Sequence[Judged], names: tuple[str, str], policy: Policy) -> list[Part]:
    """Return the verdict, the table, and what a reader has to know of it."""
    body = [
        [
            row.benchmark.title,
            definition(row.benchmark.metric).title,
            *([percent_text(row.spread.first), percent_text(row.spread.second)] if row.spread else ["–", "–"]),
            signed_text(row.spread.value if row.spread else None),
            "–" if row.low is None else f"{signed_text(row.low)} … {signed_text(row.high)}",
            f"−{row.benchmark.margin:g}",
            str(row.spread.clusters) if row.spread else "–",
            row.verdict,
        ]
        for row in judged
    ]
    header = ["benchmark", "metric", "baseline", "candidate", "difference", "bounds", "limit", "clusters", "verdict"]
    names_of = {id(row): f"{row.benchmark.title} {definition(row.benchmark.metric).title}" for row in judged}
    notes = [f"{names_of[id(row)]}: {note}" for row in judged for note in row.notes]
    undecided = [row for row in judged if row.verdict == "NOT ENOUGH EVIDENCE" and row.spread]
    more = [f"{names_of[id(row)]}: {text}" for row in undecided for text in needed(row, policy)]
    return [
        f"{overall(judged)}: {names[1]} against the baseline {names[0]}",
        Table.of(header, body, text_columns=2, spare=("clusters", "baseline", "candidate")),
        *(["\n".join(f"- {line}" for line in (*more, *notes))] if more or notes else []),
        _rests_on(judged, policy),
    ]


def _rests_on(judged: Sequence[Judged], policy: Policy) -> str:
    """Return what the bounds are, in one line."""
    several = f" (each NO-GO at 1/{len(judged)} of it)" if len(judged) > 1 else ""
    return (
        f"In percent. Bounds: one-sided, {100 * (1 - policy.error):g}%{several}, over whole clusters, as if one more "
        "had been seen, as bad as the worst. GO takes every lower bound above its limit, NO-GO one upper bound below."
    )


def needed(row: Judged, policy: Policy) -> Iterator[str]:
    """Yield how many clusters and calls would settle a benchmark, in 80% of cases, and whether there are as many."""
    assert row.spread is not None
    spread, margin = row.spread, row.benchmark.margin / 100
    if not row.sound:
        return
    room = spread.value + margin
    no_go = policy.error / len(policy.benchmarks)
    as_seen = spread.clusters_for(room, policy.error, spread.worst) if room > 0 else None
    against = spread.clusters_for(-room, no_go, spread.best) if room < 0 else None
    equal = spread.clusters_for(margin, policy.error, spread.worst) if margin else None
    cases = [
        (f"if the true difference is the one seen ({signed_text(spread.value)})", as_seen or against),
        ("if there is none", equal if spread.value else None),
    ]
    texts = [_calls(row, clusters, case) for case, clusters in cases if clusters and clusters > spread.clusters]
    if not texts:
        yield "no number of calls would settle it: the difference seen is the margin itself."
        return
    yield f"{'; '.join(texts)}; each with a probability of 80%. There are {spread.clusters:,} clusters now."
    if all("limit" not in run.settings for run in row.runs):
        yield "no task.limit= holds back items: more take other settings of the task, such as another split."


def _calls(row: Judged, clusters: int, case: str) -> str:
    """Return how many more calls of both models a number of clusters takes."""
    assert row.spread is not None
    more, per_cluster = clusters - row.spread.clusters, row.items / row.spread.clusters
    samples = sum(run.samples for run in row.runs)
    calls = round(more * per_cluster * samples)
    return f"{more:,} more clusters of {per_cluster:.0f} items, {calls:,} calls, settle it {case}"


def _policy_text(policy: Policy, file: str) -> str:
    import yaml

    content = {"error": policy.error, "benchmarks": [_without_empty(each) for each in policy.benchmarks]}
    return f"Policy {Path(file).name}:\n\n```yaml\n{yaml.safe_dump(content, sort_keys=False, allow_unicode=True)}```"


def _without_empty(benchmark: Benchmark) -> dict[str, Any]:
    return {name: value for name, value in asdict(benchmark).items() if value is not None}


def _json(judged: Sequence[Judged], names: tuple[str, str], policy: Policy) -> dict[str, Any]:
    """Return all of it as a JSON value; shares as fractions, margins in points."""
    return {
        "verdict": overall(judged),
        "exit_code": CODES[overall(judged)],
        "baseline": names[0],
        "candidate": names[1],
        "error": policy.error,
        "benchmarks": [
            {
                **_without_empty(row.benchmark),
                "verdict": row.verdict,
                "runs": [str(run.folder) for run in row.runs],
                "items": row.items,
                "baseline": row.spread and row.spread.first,
                "candidate": row.spread and row.spread.second,
                "difference": row.spread and row.spread.value,
                "low": row.low,
                "high": row.high,
                "clusters": row.spread and row.spread.clusters,
                "needed": [*needed(row, policy)] if row.spread and row.verdict == "NOT ENOUGH EVIDENCE" else [],
                "notes": list(row.notes),
            }
            for row in judged
        ],
    }


if __name__ == "__main__":
    sys.exit(main())
