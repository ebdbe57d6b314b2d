"""python -m harness.cache batches: what is at servers, taken in without a run, or ended."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from contextlib import closing
from datetime import datetime
from pathlib import Path

from harness.cache.store import Store
from harness.errors import ConfigError, RunStopped, unknown
from harness.models.api.addresses import on_this_machine
from harness.models.api.endpoint import Endpoint
from harness.models.api.server import Server
from harness.plugins.batches.endpoints import made_again
from harness.plugins.batches.exchange import BatchServer, Collecting, Sending
from harness.plugins.batches.forms import Files
from harness.plugins.batches.inline_forms import form_of
from harness.plugins.batches.journal import Batch, Journal
from harness.plugins.batches.tables import Notes
from harness.runtime.console import clean
from harness.tables import terminal
from harness.tables.table import Table

_OPENAI = "https://api.openai.com/v1"


def batches(cache: Path, words: Sequence[str], base_url: str | None) -> int:
    """Show the batches of a cache; or `collect` them, `cancel` or `forget` those that are named."""
    action, *names = words or ("show",)
    if action not in (choices := ("show", "collect", "cancel", "forget")):
        raise ConfigError(unknown("command", f"batches {action}", (f"batches {name}" for name in choices)))
    if action in ("cancel", "forget") and not names:
        raise ConfigError(f"batches {action} takes the digests of batches, or all: `batches` shows them.")
    with closing(Store(cache, readonly=action == "show")) as store:
        journal = Journal(Notes(store))
        rows = journal.batches() if journal.notes.there else []
        if action == "show":
            return _show(journal, rows)
        chosen = _chosen(rows, names)
        if not chosen:
            print("no batch is under way.")
        models = journal.notes.models() if chosen else {}
        for batch in chosen:
            if action == "forget":
                journal.drop(batch.digest)
                print(f"{batch.digest[:8]}: forgotten; the run asks for its {batch.size:,} requests again.")
                continue
            endpoint = made_again(models.get(batch.model, ("", "{}"))[1])
            _refuse_stranger(endpoint, base_url)
            endpoint.check_key()
            form = form_of(endpoint)
            with closing(BatchServer(endpoint, form.headers(endpoint.key))) as server:
                act = _collect if action == "collect" else _cancel
                print(f"{batch.digest[:8]}: {clean(act(journal, server, form, batch))}")
    return 0


def _chosen(rows: Sequence[Batch], names: Sequence[str]) -> list[Batch]:
    if not names or "all" in names:
        return list(rows)
    chosen = [batch for batch in rows if any(batch.digest.startswith(name) for name in names)]
    for name in names:
        if not any(batch.digest.startswith(name) for batch in rows):
            raise ConfigError(unknown("batch", name, [batch.digest[:8] for batch in rows]))
    return chosen


def _refuse_stranger(endpoint: Endpoint, base_url: str | None) -> None:
    """Refuse to send a key where nobody but the file says to: a cache may come from somebody else."""
    own = endpoint.base_url in (_OPENAI, os.environ.get("OPENAI_BASE_URL")) and endpoint.api_key_env == "OPENAI_API_KEY"
    if not (own or endpoint.base_url == base_url or on_this_machine(endpoint.base_url)):
        raise ConfigError(
            f"the cache's file says that a batch is at {endpoint.base_url}, to be asked with the key in "
            f"{endpoint.api_key_env}: if that is so, add base_url={endpoint.base_url}."
        )


def _show(journal: Journal, rows: Sequence[Batch]) -> int:
    if not rows:
        print("no batch is under way.")
        return 0
    names = journal.notes.models()
    now = time.time()
    lines = [
        [
            batch.digest[:8],
            clean(names.get(batch.model, ("–", ""))[0]),
            clean(batch.id) or "–",
            clean(batch.status or ("not sent yet" if batch.step in ("prepared", "uploaded") else batch.step)),
            f"{batch.size:,}",
            f"{batch.done:,}",
            f"{(now - batch.made) / 3600:.1f} h",
            f"{datetime.fromtimestamp(batch.made):%Y-%m-%d %H:%M}",
        ]
        for batch in rows
    ]
    header = ["batch", "model", "at the server", "status", "requests", "answered", "age", "made"]
    terminal.show([Table.of(header, lines, text_columns=4, spare=("made", "at the server"))])
    print("\nThe command of its run collects a batch, or `batches collect`. Servers keep results for about 30 days.")
    return 0


def _collect(journal: Journal, server: Server, form: Files, batch: Batch) -> str:
    """Take in a batch that has ended; return what became of it."""
    if not batch.id and not (batch.step == "creating" and Sending(journal, server, form).adopt(batch)):
        return "not sent yet: the command of its run sends it."
    batch = journal.batch(batch.digest) or batch
    remote = form.look(server, batch.id)
    journal.heard(batch.digest, remote.status, remote.done)
    if remote.state == "under way":
        return f"{remote.status}, {remote.done:,} of {batch.size:,} answered."
    if remote.state == "failed":
        journal.drop(batch.digest)
        return f"failed as a whole ({remote.words}): nothing of it was answered; the run asks again."
    collecting = Collecting(journal, server, form, server.endpoint, {})
    for _ in collecting.collect(batch, remote):
        continue
    rest = f"; {collecting.failed:,} have none, and the run asks for them again" * (collecting.failed > 0)
    return f"{remote.status}, {collecting.stored:,} answers stored{rest}."


def _cancel(journal: Journal, server: Server, form: Files, batch: Batch) -> str:
    """End a batch; return what became of it."""
    if not batch.id and not (batch.step == "creating" and Sending(journal, server, form).adopt(batch)):
        journal.drop(batch.digest)
        return "was not sent yet, and will not be."
    batch = journal.batch(batch.digest) or batch
    try:
        remote = form.look(server, batch.id)
        if remote.state != "under way":
            return f"has ended ({remote.status}): `batches collect` takes in what it has."
        remote = form.cancel(server, batch.id)
    except RunStopped as reason:
        raise RunStopped(f"{reason} (`batches forget {batch.digest[:8]}` gives it up.)") from None
    journal.heard(batch.digest, remote.status, remote.done)
    return f"{remote.status}: what is done by then, and billed, `batches collect` or its run takes in."
