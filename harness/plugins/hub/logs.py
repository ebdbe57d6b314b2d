"""Rows of the logs of other programs: Inspect (.eval, .json), lm-eval (samples_*.jsonl), verifiers (traces.jsonl).

Their forms were read from inspect-ai 0.3.285, lm-eval 0.4.13 and verifiers 0.4.0. Nothing of these is imported.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from harness.codec import open_plain
from harness.errors import ConfigError, DataError
from harness.plugins.hub.rows import Columns, Row
from harness.storage.files import LARGEST, parse_json
from harness.tasks.data_files import DataFile

Logged = Iterator[tuple[Row, Columns]]
"""Rows, each with the object that it was made of."""
LARGEST_SAMPLE = 1 << 26
"""Bytes of one sample of a log."""
_STOPS = {"max_tokens": "length", "model_length": "length", "unknown": ""}
"""What Inspect calls ends of replies that have another name here."""


def form_of(path: str, form: str | None) -> str:
    """Return what a file is of, by its name where the command does not say: inspect, lm_eval, verifiers or table."""
    name = Path(path).name
    if form:
        return form
    if name.endswith(".eval"):
        return "inspect"
    if name.startswith("samples_") and name.endswith(".jsonl"):
        return "lm_eval"
    return "verifiers" if name == "traces.jsonl" else "table"


def inspect_rows(path: str) -> Logged:
    """Yield the samples of a log of Inspect in the order of its file."""
    name = Path(path).name
    for where, sample in _inspect_samples(path):
        here = f"{name}, {where}"
        if not isinstance(sample, Mapping) or "id" not in sample:
            raise DataError(f"{here} is no sample of Inspect.")
        attachments = _mapping(sample.get("attachments"))
        output = _mapping(sample.get("output"))
        choice = _mapping(next(iter(_list(output.get("choices"))), None))
        message, usage = _mapping(choice.get("message")), _mapping(output.get("usage"))
        error = _mapping(sample.get("error")).get("message") or output.get("error")
        stop = str(choice.get("stop_reason") or "")
        row = Row(
            where=here,
            id=str(sample["id"]),
            question=_attached(_last_of(sample.get("input"), "user"), attachments),
            reply=_attached(_content(message.get("content")), attachments) if choice else None,
            failure="" if choice else str(error or "no output"),
            reasoning=_attached(_content(message.get("content"), "reasoning"), attachments),
            finish_reason=_STOPS.get(stop, stop),
            input_tokens=_number(usage.get("input_tokens")),
            output_tokens=_number(usage.get("output_tokens")),
        )
        yield row, sample


def _inspect_samples(path: str) -> Iterator[tuple[str, Any]]:
    if not path.endswith(".eval"):
        content = _whole(path)
        yield from ((f"sample {number}", one) for number, one in enumerate(_list(content.get("samples")), start=1))
        return
    with suppress(ImportError):
        import zipfile_zstd  # type: ignore[import-not-found]  # noqa: F401  # before Python 3.14
    try:
        with open_plain(Path(path).expanduser()) as file, zipfile.ZipFile(file) as archive:
            for info in archive.infolist():
                if info.filename.startswith("samples/") and info.filename.endswith(".json"):
                    with archive.open(info) as member:
                        text = member.read(LARGEST_SAMPLE + 1)
                    if len(text) > LARGEST_SAMPLE:
                        raise DataError(f"{path}: {info.filename} is larger than {LARGEST_SAMPLE >> 20} MB.")
                    yield info.filename.removeprefix("samples/"), _json(text, f"{path}, {info.filename}")
    except NotImplementedError:
        raise ConfigError(
            f"{path} is packed with Zstandard, which Python reads from 3.14: pip install zipfile-zstd, or "
            f"`inspect log convert --to json --output-dir json {path}` and import what it writes."
        ) from None
    except (OSError, zipfile.BadZipFile) as error:
        raise DataError(f"{path} is no log of Inspect that can be read ({error}).") from None


def lm_eval_rows(path: str) -> Logged:
    """Yield the replies of a file of samples, those under the first of its filters: each filter repeats them."""
    first_filter = None
    for number, sample in enumerate(DataFile(path).rows(), start=1):
        here = f"{Path(path).name}, row {number}"
        first_filter = sample.get("filter") if number == 1 else first_filter
        if sample.get("filter") != first_filter:
            continue
        replies = [text for texts in _list(sample.get("resps")) for text in _list(texts)]
        if not replies or not all(isinstance(reply, str) for reply in replies):
            raise DataError(
                f"{here} holds no replies in words (resps): choices that lm-eval has ranked by likelihood are imported "
                "as a table, form=table map=answer:… of a file that says in words which was taken."
            )
        doc = _mapping(sample.get("doc"))
        asked = _asked(next(iter(_mapping(sample.get("arguments")).values()), None))
        for reply in replies:
            yield Row(where=here, id=str(doc.get("id", doc.get("item", ""))), question=asked, reply=reply), sample


def _asked(arguments: Any) -> str:
    """Return what lm-eval has sent: a text, or the JSON of a conversation."""
    first = next(iter(_mapping(arguments).values()), "")
    text = str(next(iter(first), "") if isinstance(first, list) else first)
    with suppress(ValueError, RecursionError):
        return _last_of(json.loads(text), "user") if text.startswith("[{") else text
    return text


def verifiers_rows(path: str) -> Logged:
    """Yield the last reply of each trace of each rollout."""
    for number, episode in enumerate(DataFile(path).rows(), start=1):
        here = f"{Path(path).name}, row {number}"
        traces = _list(episode.get("traces"))
        if not traces:
            raise DataError(f"{here} holds no traces: is it a file of verifiers 0.4 or later?")
        for trace in map(_mapping, traces):
            data = _mapping(_mapping(trace.get("task")).get("data"))
            nodes = [_mapping(node) for node in _list(trace.get("nodes"))]
            messages = [_mapping(node.get("message")) for node in nodes]
            replies = [message for node, message in zip(nodes, messages, strict=True) if node.get("sampled")]
            call = _mapping(
                next(reversed([one for one in _list(trace.get("calls")) if _mapping(one).get("usage")]), None)
            )
            usage, last = _mapping(call.get("usage")), replies[-1] if replies else {}
            cached = _number(usage.get("cached_input_tokens")) or 0
            prompt_tokens = _number(usage.get("prompt_tokens"))
            errors = [str(_mapping(error).get("message") or error) for error in _list(trace.get("errors"))]
            row = Row(
                where=here,
                id=str(data.get("id") or data.get("name") or ""),
                question=_last_of(data.get("prompt"), "user") or _last_of(messages, "user"),
                reply=_content(last.get("content")) if replies else None,
                failure="" if replies else next(iter(errors), "no reply"),
                reasoning=_content(last.get("reasoning_content")),
                finish_reason=str(call.get("finish_reason") or ""),
                input_tokens=None if prompt_tokens is None else prompt_tokens + cached,
                output_tokens=_number(usage.get("completion_tokens")),
            )
            yield row, trace


LOGS: Mapping[str, Callable[[str], Logged]] = {
    "inspect": inspect_rows,
    "lm_eval": lm_eval_rows,
    "verifiers": verifiers_rows,
}


def _whole(path: str) -> Mapping[str, Any]:
    try:
        with open_plain(Path(path).expanduser()) as file:
            text = file.read(LARGEST + 1)
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}).") from None
    if len(text) > LARGEST:
        raise DataError(
            f"{path} is larger than {LARGEST >> 20} MB: keep the log as .eval, whose samples are read apart."
        )
    return _mapping(_json(text, path))


def _json(text: bytes, where: str) -> Any:
    try:
        return parse_json(text, constants=True)  # a score that is not there is NaN
    except (ValueError, RecursionError) as error:
        raise DataError(f"{where} is not JSON ({str(error)[:200]}).") from None


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else []


def _number(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value <= 10**9 else None


def _content(content: Any, kind: str = "text") -> str:
    """Return the words of a message's content, which is a text or a list of parts of several kinds."""
    if isinstance(content, str):
        return content if kind == "text" else ""
    parts = [_mapping(part) for part in _list(content)]
    return "\n".join(str(part[kind]) for part in parts if part.get("type") == kind and kind in part)


def _last_of(messages: Any, role: str) -> str:
    """Return what a role says last in a conversation; a text is all that was said."""
    if isinstance(messages, str):
        return messages
    said = [
        _content(message.get("content")) for message in map(_mapping, messages or ()) if message.get("role") == role
    ]
    return said[-1] if said else ""


def _attached(text: str, attachments: Mapping[str, Any]) -> str:
    """Return a text that Inspect keeps apart from the sample's messages, where it does."""
    return str(attachments.get(text.removeprefix("attachment://"), text)) if text.startswith("attachment://") else text
