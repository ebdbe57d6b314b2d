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
    words = [word for word in arguments if "=" not in word]
    if words[:1] not in ([], ["forget"]) or len(words) == 1:
        raise ConfigError(f"batches {' '.join(words)}: it is batches, or batches forget DIGEST.")
    config = hydra_app.run_config(ready_for_hydra([word for word in arguments if "=" in word], "config"))
    with closing(Store(Path(config["cache"]["path"]), readonly=not words)) as store:
        journal = Journal(store)
        rows = journal.batches() if journal.there else []
        if not words or not rows:
            _show(journal, rows)
            return 0
        chosen = [batch for batch in rows if "all" in words or batch.digest.startswith(tuple(words[1:]))]
        if not chosen:
            raise ConfigError(unknown("batch", words[1], [batch.digest[:8] for batch in rows]))
        for batch in chosen:
            journal.drop(batch.digest)
            print(f"{batch.digest[:8]}: forgotten; the run asks for its {batch.size:,} requests again.")
    return 0


def _show(journal: Journal, rows: Sequence[Batch]) -> None:
    if not rows:
        print("no batch is under way.")
        return
    names, now = dict(journal.store.query("SELECT digest, name FROM batch_models")), time.time()
    lines = []
    for batch in rows:
        status = batch.status or ("not sent yet" if batch.step in ("prepared", "uploaded") else batch.step)
        words = (clean(word) or "–" for word in (names.get(batch.model, ""), batch.id, status))
        age = f"{(now - batch.created) / 3600:.1f} h"
        lines.append([batch.digest[:8], *words, f"{batch.size:,}", f"{batch.done:,}", age])
    header = ["batch", "model", "at the server", "status", "requests", "answered", "age"]
    terminal.show([Table.of(header, lines, text_columns=4, spare=("at the server",))])
    print("\nThe command of its run collects a batch. Servers keep results for about 30 days.")
