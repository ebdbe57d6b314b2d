"""The batch server in its own process, and runs against it, in this process or in forks that are killed at a step."""

from __future__ import annotations

import copy
import os
import signal
from contextlib import closing, suppress
from functools import cache
from pathlib import Path
from typing import Any

from support.server import Program

from harness.cache import Store
from harness.plugins.batches.journal import Batch, Journal

HERE = Path(__file__).resolve().parent
STEPS = ("prepared", "uploaded", "created", "polling", "collecting")
FORMS = ("openai", "openrouter", "anthropic")


class BatchServer(Program):
    """The server, told what goes wrong and asked what it has seen."""

    def __init__(self) -> None:
        super().__init__(HERE / "batch_server.py")

    def address(self, form: str) -> str:
        """Return the base_url of a form of the protocol."""
        return self.url if form == "openai" else f"{self.root}/{form}/v1"


@cache
def composed(*arguments: str) -> dict[str, Any]:
    from harness.cli import hydra_app, own_configs
    from harness.settings import plain

    own_configs.register()
    return plain(own_configs.without_hydra(hydra_app.composed("config", arguments)))


def config(url: str, folder: Path, *settings: str, limit: int = 20, **batch: Any) -> dict[str, Any]:
    """Return the config of a run in batches with these settings of model.batch."""
    config = copy.deepcopy(composed("model=gpt4", "task=corr2cause", *settings))
    config["task"]["limit"] = limit
    config["model"] |= {"base_url": url, "max_wait": 0.05, "batch": {"poll": 0.02} | batch}
    return config | {
        "results": str(folder / "results"),
        "cache": config["cache"] | {"path": str(folder / "answers.sqlite")},
    }


def run(composed: dict[str, Any]) -> str:
    """Carry out a run in this process; return what stopped it, "" for a complete one."""
    from harness.prepare import carry_out, prepare

    outcome = carry_out(prepare(composed))
    return str(outcome.stopped or "")


def forked(
    composed: dict[str, Any], folder: Path, step: str = "", number: int = 1, moment: str = "after"
) -> str | None:
    """Carry out a run in a fork; return what stopped it, None where it was killed at a step of a batch."""
    said = folder / "said.txt"
    said.unlink(missing_ok=True)
    pid = os.fork()
    if pid == 0:
        try:
            with open(folder / "log.txt", "a") as log:  # noqa: PTH123
                os.dup2(log.fileno(), 1)
                os.dup2(log.fileno(), 2)
            if step:
                kill_at(step, number, moment)
            said.write_text(run(composed))
        except BaseException as error:
            with suppress(Exception):
                said.write_text(f"{type(error).__name__}: {error}")
        finally:
            os._exit(0)
    status = os.waitpid(pid, 0)[1]
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return None
    return said.read_text()


def kill_at(step: str, number: int, moment: str) -> None:
    """Have this process killed with SIGKILL just before or just after a step is taken for the so many-th time."""
    from harness.cache.store import Store
    from harness.plugins.batches import inline_forms, journal
    from harness.plugins.batches.exchange import Collecting
    from harness.plugins.batches.forms import Files

    forms = (Files, inline_forms.Inline, inline_forms.OpenRouter, inline_forms.Anthropic)
    owner, name = {
        "prepared": (journal.Journal, "prepare"),
        "uploaded": (Files, "upload"),
        "created": (Files, "create"),
        "polling": (Files, "look"),
        "collecting": (Collecting, "_read"),
        "stored": (Store, "put"),
        "noted": (journal.Journal, "step"),
        "dropped": (journal.Journal, "drop"),
    }[step]
    count = 0

    def killing(real: Any) -> Any:
        def wrapped(*arguments: Any, **named: Any) -> Any:
            nonlocal count
            count += 1
            if count == number and moment == "before":
                os.kill(os.getpid(), signal.SIGKILL)
            result = real(*arguments, **named)
            if count == number and moment == "after":
                os.kill(os.getpid(), signal.SIGKILL)
            return result

        return wrapped

    for one in forms if owner is Files else (owner,):
        if name in vars(one):  # a form has its own way of some steps
            setattr(one, name, killing(vars(one)[name]))


def batches(folder: Path) -> list[Batch]:
    """Return the batches that the cache in a folder knows."""
    with closing(Store(folder / "answers.sqlite", readonly=True)) as store:
        journal = Journal(store)
        return journal.batches() if journal.there else []
