"""What a run left, read for a comparison: its replies by item, and how it was scored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.errors import DataError
from harness.scoring.definitions import definition
from harness.scoring.samples import votes
from harness.storage import runs
from harness.storage.files import inside
from harness.storage.find import find
from harness.storage.replies import MOST_REMEMBERED, Reply, ReplyReader, reply_of
from harness.storage.run_folder import MANIFEST, PARTIAL, RESULT
from harness.storage.runs import Run

_PLACE = ("model", "prompt", "variant", "task")


@dataclass(frozen=True)
class Replies:
    """The replies of one run."""

    run: Run
    by_item: Mapping[str, Reply]
    """In the order of the file."""

    @property
    def path(self) -> Path:
        return self.run.folder

    @property
    def label_sets(self) -> list[str]:
        sets = [[name for name, _ in labels] for labels in {reply.labels for reply in self.by_item.values()}]
        return [name for name in sets[0] if all(name in other for other in sets)] if sets else []


class Loader:
    """Loads runs, and remembers them: a page sets each run beside several others."""

    def __init__(self, read: ReplyReader | None = None) -> None:
        """Take replies from what `read` remembers."""
        self._read = read or ReplyReader()
        self._loaded: dict[Path, Replies] = {}

    def __call__(self, run: Run) -> Replies:
        """Return the replies of a run by item. Raises DataError for an item that is there twice."""
        loaded = self._loaded.pop(run.folder, None) or self._load(run)
        self._loaded[run.folder] = loaded  # the newest stands last
        while len(self._loaded) > 1 and sum(len(one.by_item) for one in self._loaded.values()) > MOST_REMEMBERED:
            del self._loaded[next(iter(self._loaded))]
        return loaded

    def _load(self, run: Run) -> Replies:
        if run.manifest_error and inside(run.folder, MANIFEST):
            raise run.manifest_error
        shared: dict[Any, Any] = {}
        replies: Iterable[Reply] = self._read.of(run) if run.samples == 1 else ()
        if run.samples > 1:
            replies = (reply_of(vote, shared) for vote in votes(run.records(), run.samples))
        by_item: dict[str, Reply] = {}
        for reply in replies:
            if reply.item in by_item:
                raise DataError(f"{run.folder} holds the item {reply.item} twice: a comparison takes one run.")
            by_item[reply.item] = reply
        if not by_item:
            raise DataError(f"{run.folder} holds no records.")
        if any(definition(metric.name).made_of == "items" for metric in run.result.overall.metrics):
            raise DataError(
                f"{run.folder} has scores that are means over items: only right and wrong answers are compared."
            )
        return Replies(run, by_item)


def load(name: str) -> Replies:
    """Return the replies of the run that a folder holds. Raises DataError."""
    folder = Path(name)
    if not folder.is_dir():
        raise DataError(f"there is no folder {name}: give the one that a run printed when it ended.")
    if (folder / PARTIAL).is_file():
        raise DataError(f"{name} holds a run that has not ended: start its command again, then compare.")
    if not (folder / RESULT).is_file():
        below = [str(path) for path in find([name])]
        hint = f": {', '.join(below[:3])}{', …' if len(below) > 3 else ''}"
        raise DataError(f"{name} is not the folder of one run; there are some below it{hint}.")
    return Loader()(runs.load(folder))


def names(several: Sequence[Replies]) -> list[str]:
    """Return a name for each: the parts of its place that tell it from the others, else its path."""
    places = [replies.run.place for replies in several]
    parts = [part for part in _PLACE if len({place[part] for place in places}) > 1]
    texts = [" ".join(place[part] for part in parts) for place in places]
    return texts if parts and len(set(texts)) == len(texts) else [str(replies.path) for replies in several]
