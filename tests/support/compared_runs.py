"""Results folders to be compared, written by hand as a run leaves them."""

from __future__ import annotations

import json

from harness.prompting.reading import reading_version
from harness.scoring.summary import summarize
from harness.storage.records import Writer
from harness.storage.run_folder import MANIFEST, RECORDS, RESULT, result_json
from harness.types import Answer, Failure, Response
from support.made_records import made


def put(folder, records, *, model="m", headline="published", complete=True, variant="default", today=True, **task):
    """Write a results folder as a run leaves it, today's rules having read it or older ones; return its path."""
    folder.mkdir(parents=True)
    with (folder / RECORDS).open("w", encoding="utf-8") as file:
        writer = Writer(file, headline)
        for record in records:
            writer.write(record)
    place = {"task": "corr2cause", "variant": variant, "prompt": "plain", "model": model}
    result = summarize(records, headline=headline, orders={}, unreadable=task.get("unreadable", "wrong"))
    content = {"run": place, "complete": complete, **result_json(result)}
    (folder / RESULT).write_text(json.dumps(content), encoding="utf-8")
    configuration = {"run": place, "complete": complete, "configuration": {"task": task}}
    configuration["reading"] = reading_version() if today else {"version": 0, "rules": ""}
    (folder / MANIFEST).write_text(json.dumps(configuration), encoding="utf-8")
    return str(folder)


def record(number, answer, *, gold=None, cluster=None, span="", relation="parent", labels=None, **groups):
    """Return the record of item `number`: gold is 1 for every third, ten items a cluster. `answer` may be a Failure."""
    gold = int(number % 3 == 0) if gold is None else gold
    failed = isinstance(answer, Failure)
    return made(
        item=f"i{number}",
        cluster=cluster or f"c{number // 10}",
        groups={"relation": relation, **groups},
        labels=labels or {"published": gold},
        request=None,
        outcome=answer if failed else Response("text"),
        answer=None if failed else Answer(answer, span=span),
    )


def always(answer, count=100, **more):
    return [record(number, answer, **more) for number in range(count)]


def right(count=100, **more):
    return [record(number, int(number % 3 == 0), **more) for number in range(count)]
