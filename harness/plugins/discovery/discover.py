"""harness discover algorithm=… network=… samples=… seed=…: classical algorithms on sampled data.

A run leaves records, scores and graphs beside those of the language models, as if the algorithm had been asked.
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from harness.cli import hydra_app
from harness.config_files import own_files
from harness.errors import ConfigError
from harness.runtime import signals
from harness.settings import Form, build, chosen, class_of, plain, validated
from harness.tasks.benchmark import Learnable

if TYPE_CHECKING:
    from omegaconf import DictConfig

    from harness.causal.learned_graph import Algorithm, Pattern
    from harness.cli.multirun import Multirun
    from harness.cost.shared_budget import Book
    from harness.plugins.discovery.knowledge import Informed
    from harness.run import RunOutcome
    from harness.runtime.progress import Progress
    from harness.storage.run_folder import Folder
    from harness.storage.runs import Run
    from harness.sweep.jobs import SweepCommand
    from harness.tables.table import Part
    from harness.tasks.benchmark import LearnableTask, PublishedAlgorithms


_HELP = """\
Classical causal discovery on data sampled from the networks, scored as the language models are.

  harness discover algorithm=hc network=asia samples=500
  harness discover -m algorithm=pc,hc,mmhc network=asia,sachs,alarm,insurance samples=500,1500
  harness discover -m algorithm=hc network=asia seed=0,1,2,3,4     several seeds give an interval
  harness discover algorithm=mmhc network=null                     the paper's fourteen networks in one row
  harness discover algorithm=hc network=asia prior=RUN             with a model's answers (a run's folder) as a prior
"""
_WORDS = ("format", "names", "rows", "parts", "columns", "background", "seed")
"""Settings of the task that only change its prompts."""
_TITLES = {"shd": "SHD", "published": "", "cell_shd": "cell SHD", "sid": "SID", "f1": "F1 of direct edges"}


@dataclass(frozen=True)
class DiscoverSettings:
    """The command's own settings; configs/discover.yaml says what each one means."""

    algorithm: dict[str, Any]
    task: dict[str, Any]
    samples: Annotated[int, Field(gt=1, strict=True)]
    seed: Annotated[int, Field(ge=0, lt=2**32, strict=True)]
    results: Annotated[str, Field(min_length=1)]
    network: Any = None
    prior: str | None = None
    prior_weight: Annotated[float, Field(gt=0)] = 1.0
    records: Form | None = None
    parallel: Annotated[int, Field(ge=1)] = 1
    debug: bool = False


def help_text() -> str:
    """Return the help: examples, the command's settings, the algorithms and theirs."""
    from harness.cli.help_text import group_text, settings_text
    from harness.config_files import CONFIGS, listed, root_file

    algorithms = listed(CONFIGS, "algorithm").items()
    theirs = (settings_text(f"algorithm {name}", file, "algorithm.") for name, file in algorithms)
    return "\n".join([_HELP, settings_text("discover", root_file("discover")), group_text("algorithm"), *theirs])


def main() -> None:
    signals.at_once(signals.sentence("runs that ended are kept"))
    signals.leave(hydra_app.launch(job, "discover", sweep))


def job(config: DictConfig) -> int:
    """Carry out one run; return the exit code."""
    from harness.runtime.secrets import refuse_config

    refuse_config(plain(config))
    run_one(config, brief=False)
    return 0


def sweep(multirun: Multirun) -> int:
    from harness.sweep.carry_out import carry_out

    return carry_out(command(), multirun)


def command() -> SweepCommand:
    """Return this command as a sweep carries it out."""
    from harness.sweep.jobs import SweepCommand

    return SweepCommand("harness.plugins.discovery.discover", prepare, run_one, tables=table)


@dataclass(frozen=True)
class PreparedDiscovery:
    """One run before it begins."""

    settings: DiscoverSettings
    task: LearnableTask
    algorithm: Algorithm | Informed
    folder: Folder
    progress: Progress


def prepare(config: Mapping[str, Any]) -> PreparedDiscovery:
    """Return the run that a composed config describes. Raises ConfigError if it cannot run."""
    from harness.runtime.progress import Progress
    from harness.storage.configuration import folder_of, of_algorithm
    from harness.storage.manifest import Manifest, provenance
    from harness.storage.run_folder import Folder

    config, own = own_files(config)
    settings = validated(DiscoverSettings, config)
    if not isinstance(class_of(str(settings.task.get("_target_", "")), "task"), Learnable):
        raise ConfigError("an algorithm answers the questions of task=causalbench/causality, no other task's.")
    # The two parts.
    task: LearnableTask = build(settings.task, "task")
    if idle := [f"task.{name}" for name in chosen(task) if name in _WORDS]:
        raise ConfigError(f"{', '.join(idle)}: an algorithm reads no words; samples= and seed= choose its data.")
    plain_algorithm: Algorithm = build(settings.algorithm, "algorithm")
    _check_sizes(plain_algorithm, task)
    algorithm: Algorithm | Informed = plain_algorithm
    if settings.prior is not None:
        from harness.plugins.discovery.knowledge import informed

        algorithm = informed(plain_algorithm, settings.prior, settings.prior_weight, task.variables())
    # Its place, and what it leaves there.
    place, configuration = of_algorithm(task, algorithm, settings.samples, settings.seed)
    folder = Folder(
        path=folder_of(settings.results, place),
        manifest=Manifest(
            run=place,
            configuration=configuration,
            role=algorithm.role,
            **provenance(dict(config)),
            own_files=own or None,
        ),
        renamed_by="algorithm.name",
        form=settings.records,
    )
    return PreparedDiscovery(settings, task, algorithm, folder, Progress(f"{task.name} {algorithm.name}"))


def carry_out(prepared: PreparedDiscovery) -> RunOutcome:
    """Sample the networks, learn their graphs, record and score their answers; return how the run ended."""
    from harness.run import leave
    from harness.storage.manifest import TracedItems

    def learn(network: str) -> Pattern:
        return _learn(prepared, network)

    items = TracedItems(prepared.task.items())
    answered = takewhile(lambda _: not signals.STOP.requested, prepared.task.learned(items, learn))
    return leave(prepared.task, items, answered, prepared.folder, prepared.progress)


def run_one(config: DictConfig, *, brief: bool, book: Book | None = None) -> Path:
    """Run what the config describes and print the scores; return the results folder. No `book` is kept of it."""
    from harness.storage.runs import load
    from harness.tables import results, terminal

    # Build task and algorithm, find the run's place.
    prepared = prepare(plain(config))
    path = prepared.folder.path
    # Learn, record, score.
    outcome = carry_out(prepared)
    # Show the scores.
    if brief:
        # The table of a sweep is of the learned edges alone, and so has another F1.
        print(f"    Over all questions: {results.brief(outcome.result)}", file=sys.stderr)
    else:
        terminal.show(table([load(path)]))
        print(f"{path}/ holds {', '.join(sorted(f.name for f in path.iterdir() if f.name[0] != '.'))}")
    return path


def _check_sizes(algorithm: Algorithm, task: LearnableTask) -> None:
    """Raise ConfigError where a network of the task has more variables than the algorithm takes."""
    from harness.causal.learned_graph import Bounded

    if not isinstance(algorithm, Bounded):
        return
    sizes, most = task.variables(), algorithm.most_variables
    large = [f"{network} has {size}" for network, size in sizes.items() if size > most]
    fitting = ",".join(network for network, size in sizes.items() if size <= most)
    if large:
        way_out = f"network=[{fitting}], or " if fitting else ""
        raise ConfigError(
            f"algorithm={algorithm.name} takes at most {most} variables, and {', '.join(large)}: "
            f"{way_out}a search without that limit (algorithm=hc, mmhc, boss)."
        )


def _learn(prepared: PreparedDiscovery, network: str) -> Pattern:
    from harness.plugins.discovery.knowledge import Informed
    from harness.runtime.under_way import STEPS

    settings, algorithm = prepared.settings, prepared.algorithm
    if isinstance(algorithm, Informed):
        algorithm = algorithm.of(network)  # what is known differs by network
    rows, arities = prepared.task.observations(network, settings.samples, settings.seed)
    started = time.perf_counter()
    with STEPS.about(network):
        pattern = algorithm.learn(rows, arities, seed=settings.seed)
    seconds = time.perf_counter() - started
    if seconds > 2:
        prepared.progress.say(
            f"{algorithm.name} has learned {network} from {settings.samples:,} samples in {seconds:.1f} s"
        )
    return pattern


def table(rows: Sequence[Run]) -> Sequence[Part]:
    """Return a line for each algorithm, network and number of samples; over several seeds mean and 95% interval.

    The numbers are those of the learned graph, that is, of the answers to "directly causes" (second method); runs of
    the first method, which does not ask that, get the leaderboard's table. The interval is Student's t over the seeds:
    it tells of the sampling of data, not of networks.
    """
    from harness.leaderboard.build import build
    from harness.tables.table import Table
    from harness.tasks.find import benchmark_of

    benchmark = benchmark_of(rows[0].task)
    algorithms = benchmark.algorithms
    if algorithms is None or any("structure" not in row.result.scores["exact"] or len(row.data) < 2 for row in rows):
        return build(rows)
    printed_rows = (row for row in benchmark.published() if row.table == algorithms.table)
    published = {(row.setting["network"], row.model): row.printed["shd"] for row in printed_rows}
    titles = {name: title or algorithms.table for name, title in _TITLES.items() if title or published}
    # By seed: a network that was learned alone and among others from the same data is one graph, not two.
    graphs: dict[tuple[str, str, int], dict[int, Mapping[str, float | None]]] = defaultdict(dict)
    for row in rows:
        for network in row.result.scores["exact"]["network"]:
            graphs[network, row.model, row.data["observations"]][row.data["seed"]] = _values(row, network)
    lines = [
        [
            network,
            algorithm,
            f"{observations:,}",
            str(len(values)),
            *(
                _cell(name, list(values.values()), published.get((network, algorithms.names.get(algorithm, "")), ""))
                for name in titles
            ),
        ]
        for (network, algorithm, observations), values in sorted(
            graphs.items(), key=lambda line: _sort_key(algorithms, line[0])
        )
    ]
    here = {(network, algorithms.names.get(algorithm, "")) for network, algorithm, _ in graphs}
    lines += [
        [network, f"{model} (published)", "–", "–", "–", printed, *["–"] * (len(titles) - 2)]
        for (network, model), printed in published.items()
        if model in algorithms.others and (network, model) not in here and network in {learned for learned, _ in here}
    ]
    # Stable, so the published rows come last of their network.
    lines.sort(key=lambda line: algorithms.networks.index(line[0]))
    header = ["network", "algorithm", "samples", "seeds", *titles.values()]
    absent = f"{algorithms.table} is not shown: it comes with the plug-in papers, not installed."
    notes = [algorithms.note] if published else [algorithms.note, absent]
    return [Table.of(header, lines, text_columns=2, spare=("seeds", "SID", "cell SHD")), *notes]


def _sort_key(algorithms: PublishedAlgorithms, key: tuple[str, str, int]) -> tuple[int, int, str]:
    network, algorithm, observations = key
    return algorithms.networks.index(network), observations, algorithm


def _values(row: Run, network: str) -> Mapping[str, float | None]:
    """Return the metrics of the graph learned of a network, each None if task.limit left out questions on its edges."""
    rows = (row.result.scores[name]["network/structure"].get(f"{network}/direct") for name in ("exact", "paper"))
    exact, paper = (
        dict.fromkeys(_TITLES) if scores is None else {metric.name: metric.value for metric in scores.metrics}
        for scores in rows
    )
    return {"shd": exact["shd"], "cell_shd": paper["cell_shd"], "sid": exact["sid"], "f1": exact["f1"]}


def _cell(name: str, values: Sequence[Mapping[str, float | None]], published: str) -> str:
    from harness.scoring.means import mean_and_half_width
    from harness.tables.numbers import metric_text

    if name == "published":
        return published or "–"
    numbers = [value for metrics in values if (value := metrics[name]) is not None]
    if not numbers or len(numbers) < len(values):
        return "–"
    mean, half = mean_and_half_width(numbers)
    if half is None:
        return metric_text(name, mean)
    scale = 100 if name == "f1" else 1
    return f"{scale * mean:.1f} ± {scale * half:.1f}"


if __name__ == "__main__":
    main()
