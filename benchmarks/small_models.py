"""The small models that ship, fitted once more: python benchmarks/small_models.py"""

from __future__ import annotations

import random
import shutil
import statistics
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from pydantic import Field

from harness.cli import key_value
from harness.errors import ConfigError
from harness.plugins.train.fit_small_models import files, fit_shares, fit_weights, train
from harness.storage.atomic_write import atomic_file, check
from harness.tables.table import Part, Table
from harness.tasks.corr2cause.claim import ItemWriter
from harness.tasks.corr2cause.enumerate import public_test
from harness.tasks.text_reasoner import UnreadableText
from harness.types import Item

HELP = """\
Fit model=hypothesis_only and model=linear of Corr2Cause on its train split, with audited labels: seconds, no torch.

  python benchmarks/small_models.py                 what ships, once more, to harness/data/models
  python benchmarks/small_models.py out=FOLDER      elsewhere
  python benchmarks/small_models.py repeats=5       fitted five times, F1 on the test sets; writes nothing. Seeds 0 to 4
                                                    draw the order of arguments in the train split, the names of the
                                                    renamed test set, and which premises count (with replacement)
  python benchmarks/small_models.py repeats=5 renamed=4
                                                    the same, fitted on premises under other names, four times each
  python benchmarks/small_models.py transformers=true
                                                    model=tiny and model=tiny_renamed, trained once more (recipe=tiny,
                                                    recipe=tiny_renamed: 70 minutes of a core; needs the extra train)
"""
SHIPPED = Path(__file__).parents[1] / "harness" / "data" / "models"


@dataclass(frozen=True)
class Settings:
    """The settings of the command, as HELP describes them."""

    out: str = str(SHIPPED)
    repeats: Annotated[int, Field(ge=0, le=100)] = 0
    renamed: Annotated[int, Field(ge=0, le=100)] = 0
    transformers: bool = False


def main(arguments: Sequence[str] | None = None) -> int:
    """Fit, write or compare; return the exit code."""
    return key_value.command(HELP, Settings, job, arguments)


def job(arguments: list[str], settings: Settings) -> list[Part] | str:
    """Write the files, or return the table of repeated fits."""
    if arguments:
        raise ConfigError(f"{arguments[0]!r} is no setting: --help tells what there is.")
    if settings.renamed and not settings.repeats:
        raise ConfigError("renamed= goes with repeats=: what ships is fitted on the names of the train split.")
    if settings.repeats:
        return repeat(settings.repeats, settings.renamed)
    check(settings.out, folder=True)
    if settings.transformers:
        return "\n".join(trained(Path(settings.out)))
    written = files()
    for name, text in written.items():
        with atomic_file(str(Path(settings.out) / name)) as file:
            file.write(text)
    return f"{len(written)} files below {settings.out}"


def trained(out: Path) -> Iterator[str]:
    """Train the small transformers, or take them from checkpoints/ where they are; yield where each is put."""
    import torch

    from harness.cli import hydra_app, own_configs
    from harness.plugins.train.make import make
    from harness.settings import plain

    own_configs.register()
    torch.set_num_threads(1)  # sums have another order with more of them: other bytes
    for name in ("tiny", "tiny_renamed"):
        made = make(plain(hydra_app.without_hydra(hydra_app.composed("finetune", (f"recipe={name}",)))))
        shutil.copytree(made.folder, out / name, dirs_exist_ok=True)
        (out / name / "model.safetensors").chmod(0o644)
        yield f"{out / name}: {made.lines[0]}"


def repeat(repeats: int, renamed_train: int) -> list[Part]:
    """Return F1 of models that were fitted several times: mean, standard deviation, least and greatest."""
    scores: dict[tuple[str, str, str], list[float]] = {}
    plain = {version: [ItemWriter("none", 0).item(claim) for claim in public_test(version)] for version in ("v2", "v1")}
    for seed in range(repeats):
        data = train(seed, renamed_train)
        draws = random.Random(seed).choices(range(len(data.premises)), k=len(data.premises))
        times = [0] * len(data.premises)
        for k in draws:
            times[k] += 1
        kept = {name: [(k, label) for k, label in claims if times[k]] for name, claims in data.claims.items()}
        for drawn, one in (("order of arguments", data), ("premises", replace(data, times=times, claims=kept))):
            renamed = [ItemWriter("permutation", seed).item(claim) for claim in public_test("v2")]
            for model, log_odds in (
                ("hypothesis_only", fit_shares(one).log_odds),
                ("linear", fit_weights(one).log_odds),
            ):
                for name, items, labels in _test_sets(plain, renamed):
                    scores.setdefault((model, drawn, name), []).append(f1(items, labels, log_odds))
    header = ["model", "drawn", "test set", "fits", "F1", "sd", "least", "greatest"]
    rows = [
        [
            *key,
            str(len(f1s)),
            *(
                f"{100 * value:.2f}"
                for value in (statistics.fmean(f1s), statistics.stdev(f1s) if len(f1s) > 1 else 0.0, min(f1s), max(f1s))
            ),
        ]
        for key, f1s in sorted(scores.items())
    ]
    return [Table.of(header, rows, text_columns=3)]


def _test_sets(plain: Mapping[str, list[Item]], renamed: list[Item]) -> Iterator[tuple[str, list[Item], str]]:
    yield "v2, published labels", plain["v2"], "published"
    yield "v2, audited labels", plain["v2"], "audited"
    yield "v1, published labels", plain["v1"], "published"
    yield "v2 renamed, published labels", renamed, "published"
    yield "v2 renamed, audited labels", renamed, "audited"


def f1(items: Iterable[Item], labels: str, log_odds: Callable[[str], float]) -> float:
    """Return F1; what is not answered counts as wrong."""
    tp = fp = fn = 0
    for item in items:
        gold = item.labels[labels]
        try:
            said = int(log_odds(str(item.fields["input"])) > 0)
        except UnreadableText:
            said = 1 - gold
        tp, fp, fn = tp + (said & gold), fp + (said & ~gold & 1), fn + (gold & ~said & 1)
    return 2 * tp / (2 * tp + fp + fn)


if __name__ == "__main__":
    sys.exit(main())
