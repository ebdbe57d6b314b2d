"""A page on which a person marks what the rules read in a sample of replies, and what the marks come to."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from string import Template
from typing import Annotated, Literal

import msgspec

from harness.codec import digest, plain_text
from harness.errors import DataError
from harness.judge import both_ends
from harness.prompting.reading.own_words import own_words
from harness.report.bundle import escape, policy
from harness.scoring.audit import UNCLEAR, Key, audit_note, audited_sample, rank
from harness.storage.atomic_write import atomic_file, format_json
from harness.storage.files import parse_json
from harness.storage.forms import Strict, Whole, checked
from harness.storage.record_lines import Line, turns
from harness.storage.runs import Run

MOST = 1000
"""Replies on a page."""
_CARD = Template("""\
<article data-item="$item" data-sample="$sample" data-reply="$digest">
<h2>$item</h2>
<h3>Question</h3><pre tabindex="0">$question</pre>
<h3>Reply</h3><pre tabindex="0">$reply</pre>
<p>The rules read <b>$label</b> in the words <q>$span</q></p>
<button value="right">right</button> <button value="wrong">wrong</button> <button value="unclear">unclear</button>
</article>
""")


class _Mark(Strict):
    item: str
    sample: Whole
    reply: str
    mark: Literal["right", "wrong", "unclear"]


class _Marks(Strict):
    drawn: Annotated[int, msgspec.Meta(ge=1, le=MOST)]
    marks: list[_Mark]


def write_page(run: Run, size: int) -> Path:
    """Write the page of a sample of a run's replies beside it, and return where it is. No gold label is part of it."""
    cards = "".join(_card(line, run) for line in _sample_lines(run, size).values())
    texts = {"run": escape(" · ".join(run.place.values())), "drawn": size, "cards": cards}
    template, script = (Path(__file__).with_suffix(kind).read_text(encoding="utf-8") for kind in (".html", ".js"))
    with atomic_file(str(run.folder / "marks.html"), "folder", user_path=False) as page:
        page.write(Template(template).substitute(texts, policy=policy(script), script=script))
    return run.folder / "marks.html"


def _sample_lines(run: Run, size: int) -> dict[Key, Line]:
    """Return the lines of replies drawn from those that the rules have read, in random order; DataError for none."""
    sample = audited_sample(run.records(), size)
    lines = {key: line for line in run.lines() if (key := (line["item"], line["sample"])) in sample}
    if not lines:
        raise DataError(f"{run.folder} holds no reply in words that the rules have read: there is nothing to mark.")
    return {key: lines[key] for key in sorted(lines, key=rank)}


def _card(line: Line, run: Run) -> str:
    """Return a reply as HTML: what was asked last, its own words, and what was read in them."""
    questions = [turn["content"] for turn in turns(line) if turn["role"] == "user"]
    texts = {
        "item": line["item"],
        "sample": str(line["sample"]),
        "digest": _digest(line),
        "question": both_ends("".join(questions[-1:])),
        "reply": both_ends(own_words(line["response"]["text"]).strip()),
        "label": run.result.answers[line["answer"]["label"]],
        "span": line["answer"]["span"],
    }
    return _CARD.substitute({name: escape(text) for name, text in texts.items()})


def _digest(line: Line) -> str:
    """Return the digest of a reply and of what the rules read in it: marks are of both."""
    return digest([line["item"], line["sample"], line["response"]["text"], line["answer"]["label"]])


def read_marks(run: Run, file: Path) -> str:
    """Keep a person's marks beside their run and return what they come to. Raises DataError for marks of others."""
    try:
        content = checked(parse_json(plain_text(file).encode()), _Marks)
    except OSError as error:
        raise DataError(f"marks={file} cannot be read ({error.strerror}).") from None
    except ValueError as error:
        raise DataError(f"marks={file} is no file of marks as the page saves them ({error!s:.200}).") from None
    lines, audit = _sample_lines(run, content.drawn), Counter[str]()
    for mark in content.marks:
        line = lines.pop((mark.item, mark.sample), None)
        if line is None:
            raise DataError(f"marks={file}: {mark.item!r:.80} is there twice, or was not drawn from {run.folder}.")
        if _digest(line) != mark.reply:
            raise DataError(f"marks={file}: the reply to {mark.item!r:.80}, or its reading, is not the one marked.")
        label = line["answer"]["label"]
        audit[f"{label}/{label if mark.mark == 'right' else mark.mark}"] += 1
    with atomic_file(str(run.folder / "marks.json"), "folder", user_path=False) as kept:
        kept.write(f"{format_json(msgspec.to_builtins(content))}\n")
    note = audit_note(audit, "a person", choices=bool(run.result.choices)) or "No reply is marked as right or wrong."
    unclear = sum(mark.mark == UNCLEAR for mark in content.marks)
    return f"{note} Not counted: {unclear:,} unclear, {len(lines):,} not marked. Kept in {run.folder / 'marks.json'}."
