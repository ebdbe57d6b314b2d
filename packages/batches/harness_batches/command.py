"""What is at servers in batches: shown, or given up."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from harness.cache import Store
from harness.cli import hydra_app
from harness.cli.arguments import ready_for_hydra
from harness.cli.key_value import exit_code
from harness.errors import ConfigError, unknown
from harness.runtime import console
from harness.runtime.console import clean
from harness.tables import terminal
from harness.tables.table import Table
from harness_batches.journal import Batch, Journal

HELP = """\
harness batches [cache.path=…]    what is at servers (model.batch=true); the command of its run collects it
harness batches forget DIGEST     give up a batch that its server has lost: its requests are asked again

DIGEST is the beginning of a batch's, or all."""


def main() -> int:
    console.prepare_streams()
    if {"-h", "--help"} & set(sys.argv[1:]):
        print(HELP)
        return 0
    return exit_code(lambda: job(sys.argv[1:]))


def job(arguments: Sequence[str]) -> int:
    action, *names = [word for word in arguments if "=" not in word] or ["show"]
    if action not in ("show", "forget") or (action == "forget" and not names):
        raise ConfigError(f"batches {' '.join([action, *names])}: it is batches, or batches forget DIGEST.")
    config = hydra_app.run_config(ready_for_hydra([word for word in arguments if "=" in word], "config"))
    with closing(Store(Path(config["cache"]["path"]), readonly=action == "show")) as store:
        journal = Journal(store)
        rows = journal.batches() if journal.there else []
        chosen = [batch for batch in rows if "all" in names or batch.digest.startswith(tuple(names or "-"))]
        if action == "show" or not rows:
            _show(journal, rows)
        elif not chosen:
            raise ConfigError(unknown("batch", names[0], [batch.digest[:8] for batch in rows]))
        else:
            for batch in chosen:
                journal.drop(batch.digest)
                print(f"{batch.digest[:8]}: forgotten; the run asks for its {batch.size:,} requests again.")
    return 0


def _show(journal: Journal, rows: Sequence[Batch]) -> None:
    if not rows:
        print("no batch is under way.")
        return
    names, now = journal.models(), time.time()
    lines = [
        [
            batch.digest[:8],
            clean(names.get(batch.model, "–")),
            clean(batch.id) or "–",
            clean(batch.status or ("not sent yet" if batch.step in ("prepared", "uploaded") else batch.step)),
            f"{batch.size:,}",
            f"{batch.done:,}",
            f"{(now - batch.created) / 3600:.1f} h",
        ]
        for batch in rows
    ]
    header = ["batch", "model", "at the server", "status", "requests", "answered", "age"]
    terminal.show([Table.of(header, lines, text_columns=4, spare=("at the server",))])
    print("\nThe command of its run collects a batch. Servers keep results for about 30 days.")
