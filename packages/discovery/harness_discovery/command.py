"""harness discover algorithm=… network=… samples=… seed=…: classical algorithms on sampled data.

A run leaves records, scores and graphs beside those of the language models, as if the algorithm had been asked.
"""

from __future__ import annotations

import sys
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
from harness.settings import build, chosen, class_of, validated

if TYPE_CHECKING:
    from harness.causal.learned_graph import Algorithm, Pattern
    from harness.cli.launcher import Multirun
    from harness.runtime.progress import Progress
    from harness.storage.run_folder import Folder
    from harness.storage.runs import Run
    from harness.sweep.jobs import SweepCommand
    from harness.tables.table import Part
    from harness.tasks.causalbench.task import Causality


_HELP = """\
Classical causal discovery on data sampled from the networks, scored as the language models are.

  harness discover algorithm=hc network=asia samples=500
  harness discover -m algorithm=pc,hc,mmhc network=asia,sachs,alarm,insurance samples=500,1500
  harness discover -m algorithm=hc network=asia seed=0,1,2,3,4     several seeds give an interval
  harness discover algorithm=mmhc network=null                     the paper's fourteen networks in one row
"""
_WORDS = ("format", "names", "rows", "parts", "columns", "background", "seed")
"""Settings of the task that only change its prompts."""
_TITLES = {"shd": "SHD", "class_shd": "SHD of classes", "parent_aid": "parent AID", "f1": "F1 of direct edges"}
_NOTE = """\
SHD counts the pairs of variables whose edge differs; a reversal or an unknown direction counts once. SHD of classes and
parent AID compare the classes of equivalent graphs, so that a direction which data cannot tell is no error: pairs whose
edge differs, and ordered pairs whose effect would be estimated wrongly. – where a pattern is that of no class. F1, in
percent, is that of "does a directly cause b?", where an edge without direction counts as both."""


@dataclass(frozen=True)
class DiscoverSettings:
    """The command's own settings; configs/discover.yaml says what each one means."""

    algorithm: dict[str, Any]
    task: dict[str, Any]
    samples: Annotated[int, Field(gt=1, strict=True)]
    seed: Annotated[int, Field(ge=0, lt=2**32, strict=True)]
    results: Annotated[str, Field(min_length=1)]
    network: Any = None
    debug: bool = False


def help_text() -> str:
    """Return the help: examples, the command's settings, the algorithms and theirs."""
    from harness.cli.help_text import group_text, settings_text
    from harness.config_files import CONFIGS, listed, root_file

    algorithms = listed(CONFIGS, "algorithm").items()
    theirs = (settings_text(f"algorithm={name}", file) for name, file in algorithms)
    return "\n".join([_HELP, settings_text("discover", root_file("discover")), group_text("algorithm"), *theirs])


def main() -> None:
    signals.at_once(signals.sentence("runs that ended are kept"))
    signals.leave(hydra_app.launch(job, "discover", sweep))


def job(config: Mapping[str, Any]) -> int:
    """Carry out one run; return the exit code."""
    run_one(config, brief=False)
    return 0


def sweep(multirun: Multirun) -> int:
    from harness.sweep.carry_out import carry_out

    return carry_out(command(), multirun)


def command() -> SweepCommand:
    """Return this command as a sweep carries it out."""
    from harness.sweep.jobs import SweepCommand

    return SweepCommand("harness_discovery.command", prepare, run_one, tables=table)


@dataclass(frozen=True)
class PreparedDiscovery:
    """One run before it begins."""

    settings: DiscoverSettings
    task: Causality
    algorithm: Algorithm
    folder: Folder
    progress: Progress


def prepare(config: Mapping[str, Any]) -> PreparedDiscovery:
    """Return the run that a composed config describes. Raises ConfigError if it cannot run."""
    from harness.runtime.progress import Progress
    from harness.storage.configuration import folder_of, of_algorithm
    from harness.storage.manifest import Manifest, provenance
    from harness.storage.run_folder import Folder
    from harness.tasks.causalbench.task import Causality

    config, own = own_files(config)
    settings = validated(DiscoverSettings, config)
    if not issubclass(class_of(str(settings.task.get("_target_")), "task"), Causality):  # whose settings it may lack
        raise ConfigError("an algorithm answers the questions of task=causalbench/causality, no other task's.")
    task: Causality = build(settings.task, "task")
    if idle := [f"task.{name}" for name in chosen(task) if name in _WORDS]:
        raise ConfigError(f"{', '.join(idle)}: an algorithm reads no words; samples= and seed= choose its data.")
    algorithm: Algorithm = build(settings.algorithm, "algorithm")
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
    )
    return PreparedDiscovery(settings, task, algorithm, folder, Progress(f"{task.name} {algorithm.name}"))


def run_one(config: Mapping[str, Any], *, brief: bool, budget_file: Path | None = None) -> Path:
    """Run what the config describes and print the scores; return the results folder. It takes from no budget."""
    from harness.run import leave
    from harness.storage.manifest import TracedItems
    from harness.storage.runs import load
    from harness.tables import results, terminal

    prepared = prepare(config)
    settings, task, path = prepared.settings, prepared.task, prepared.folder.path

    def learn(network: str) -> Pattern:
        rows, arities = task.observations(network, settings.samples, settings.seed)
        return prepared.algorithm.learn(rows, arities, seed=settings.seed)

    items = TracedItems(task.items())
    answered = takewhile(lambda _: not signals.STOP.requested, task.learned(items, learn))
    outcome = leave(task, items, answered, prepared.folder, prepared.progress)
    if brief:
        # The table of a sweep is of the learned edges alone, and so has another F1.
        print(f"    Over all questions: {results.brief(outcome.result.overall)}", file=sys.stderr)
    else:
        terminal.show(table([load(path)]))
        print(f"{path}/ holds {', '.join(sorted(f.name for f in path.iterdir() if f.name[0] != '.'))}")
    return path


def table(rows: Sequence[Run]) -> Sequence[Part]:
    """Return a line for each algorithm, network and number of samples; over several seeds mean and 95% interval.

    The numbers are those of the learned graph, that is, of the answers to "directly causes" (second method); runs of
    the first method, which does not ask that, get the leaderboard's table. The interval is Student's t over the seeds:
    it tells of the sampling of data, not of networks.
    """
    from harness.leaderboard.build import build
    from harness.tables.table import Table

    if any("structure" not in row.result.scores["exact"] for row in rows):
        return build(rows)
    # By seed: a network that was learned alone and among others from the same data is one graph, not two.
    graphs: dict[tuple[str, int, str], dict[int, Mapping[str, float | None]]] = defaultdict(dict)
    for row in rows:
        for network in row.result.scores["exact"]["network"]:
            graphs[network, row.data["observations"], row.model][row.data["seed"]] = _values(row, network)
    place = {network: k for k, network in enumerate(dict.fromkeys(network for network, _, _ in graphs))}
    lines = [
        [network, algorithm, f"{samples:,}", str(len(seeds)), *(_cell(name, list(seeds.values())) for name in _TITLES)]
        for (network, samples, algorithm), seeds in sorted(
            graphs.items(), key=lambda line: (place[line[0][0]], line[0])
        )
    ]
    return [Table.of(["network", "algorithm", "samples", "seeds", *_TITLES.values()], lines, text_columns=2), _NOTE]


def _values(row: Run, network: str) -> Mapping[str, float | None]:
    """Return the numbers of the graph learned of a network, each None if task.limit left out questions on its edges."""
    from harness.tasks.causalbench.networks import load
    from harness_discovery.patterns import distances, read

    scores = row.result.scores["exact"]["network/structure"].get(f"{network}/direct")
    exact = {} if scores is None else {metric.name: metric.value for metric in scores.metrics}
    pattern = read(row.folder / "graphs" / network / "direct.csv")
    of_classes = {} if pattern is None else distances(load(network).dag, pattern)
    return {name: {**exact, **of_classes}.get(name) for name in _TITLES}


def _cell(name: str, values: Sequence[Mapping[str, float | None]]) -> str:
    from scipy.stats import sem, t

    numbers = [value for metrics in values if (value := metrics[name]) is not None]
    if not numbers or len(numbers) < len(values):
        return "–"
    scale, number = 100 if name == "f1" else 1, len(numbers)
    half = f" ± {scale * t.ppf(0.975, number - 1) * sem(numbers):.1f}" if number > 1 else ""
    return f"{scale * sum(numbers) / number:.1f}{half}"


if __name__ == "__main__":
    main()
