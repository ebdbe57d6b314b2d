"""The choice of networks, and of the texts and data that a prompt adds to its question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator

from harness.errors import ConfigError
from harness.tasks.causalbench.networks import NETWORKS, SCALES, authors_texts
from harness.tasks.causalbench.rendering import Background, Columns, Format

DEFAULT = tuple(name for name in NETWORKS if name != "pathfinder")
"""The fourteen networks of the paper's tables."""
# task.networks=asia means task.networks=[asia].
OneOrMore = BeforeValidator(lambda value: (value,) if isinstance(value, str) else value)
Networks = Annotated[
    tuple[Literal[("all", *NETWORKS)], ...],  # type: ignore[valid-type]
    OneOrMore,
    AfterValidator(lambda names: ("all",) if "all" in names else tuple(n for n in NETWORKS if n in names)),
]
Scales = Annotated[tuple[Literal["all", "small", "medium", "large", "very_large"], ...], OneOrMore]


def check_choice(networks: Networks | None, scale: Scales | None) -> None:
    """Raise ConfigError if networks are chosen by both settings, or none are left."""
    if networks is not None and scale is not None:
        raise ConfigError(
            "task.networks and task.scale both choose networks: give one of them (harness.discover: network=null)."
        )
    if networks == () or scale == ():
        raise ConfigError(f"no network is left: task.networks takes {', '.join(NETWORKS)}, or all.")


def chosen_networks(networks: Networks | None, scale: Scales | None) -> tuple[str, ...]:
    """Return the chosen networks in the paper's order; the paper's fourteen if neither setting is given."""
    if "all" in (*(networks or ()), *(scale or ())):
        return NETWORKS
    if scale is not None:
        return tuple(name for name in NETWORKS if SCALES[name] in scale)
    return DEFAULT if networks is None else networks


TEXTS_TELL = (
    "task.background=authors: the authors' texts for asia tell three of its eight edges (smoking stands in those on "
    "lung cancer and bronchitis, difficulty breathing in that on bronchitis); ours name no other variable."
)
COLUMNS_TELL = (
    "task.columns=file: in ten of the networks every edge runs from left to right, so that the order of the columns "
    "tells directions; set model=column_order, which reads nothing else, beside the scores."
)


def check_texts(format: Format, columns: Columns | None, background: Background, networks: Sequence[str]) -> None:
    """Raise ConfigError for settings of data or texts that do not apply."""
    if columns is not None and not format.endswith("data"):
        raise ConfigError(f"task.columns={columns} orders the data: it needs task.format=data or background_data.")
    if background == "ours":
        return
    if not format.startswith("background"):
        raise ConfigError(
            f"task.background={background} chooses the background texts: it needs task.format=background or "
            "background_data."
        )
    if without := [name for name in networks if not authors_texts(name)]:
        raise ConfigError(
            f"task.background={background}: the authors have released texts for asia, none for {without[0]}: use "
            "task.networks=asia."
        )


def text_remarks(format: Format, columns: Columns, background: Background) -> Sequence[str]:
    """Return the remarks on texts and data in prompts, a sentence each."""
    told = []
    if background == "authors":
        told.append(TEXTS_TELL)
    if format.endswith("data") and columns == "file":
        told.append(COLUMNS_TELL)
    return told
