"""A run's folder changed by somebody who knows how verify works: all digests beside a change made again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness.codec import canonical, digest, text_digest
from harness.scoring.samples import summarize_votes
from harness.storage import records
from harness.storage.atomic_write import format_json
from harness.storage.manifest import SEALS, Manifest
from harness.storage.rebuild import task_of
from harness.storage.records import Seal
from harness.storage.result_json import counts, result_json

Line = dict[str, Any]


def load(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


def save(path: Path, content: object) -> None:
    path.write_text(_text(content, f"{format_json(content)}\n"), encoding="utf-8")


def _text(content: object, text: str) -> str:
    """Return JSON as the writer has it; half a character by its number, since UTF-8 cannot write it."""
    return json.dumps(content) if any("\ud800" <= sign <= "\udfff" for sign in text) else text


def lines(folder: Path) -> list[Line]:
    return [json.loads(line) for line in (folder / "records.jsonl").read_text(encoding="utf-8").splitlines()]


def save_lines(folder: Path, changed: list[Line]) -> None:
    text = "".join(f"{_text(line, json.dumps(line, ensure_ascii=False))}\n" for line in changed)
    (folder / "records.jsonl").write_text(text, encoding="utf-8")


def change(folder: Path, name: str, how: Callable[[dict[str, Any]], object]) -> None:
    """Change result.json or manifest.json in place."""
    content = load(folder / name)
    how(content)
    save(folder / name, content)


def digest_requests(folder: Path) -> None:
    """Give all words and requests of the records their own digests."""
    changed, texts = lines(folder), {}
    for line in changed:
        if (request := line.get("request")) is None:
            continue
        places = request.get("messages") or [request["premise"], request["hypothesis"]]
        for place in places:
            if "text" in place:
                texts[place["sha256"]] = place["sha256"] = text_digest(place["text"])
            else:
                place["sha256"] = texts.get(place["sha256"], place["sha256"])
        request["digest"] = text_digest(canonical(_bare({k: v for k, v in request.items() if k != "digest"})))
    save_lines(folder, changed)


def _bare(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _bare(member) for name, member in value.items() if name != "text"}
    return [_bare(member) for member in value] if isinstance(value, list) else value


def reseal(folder: Path) -> None:
    """Make the digests again that the manifest holds: of the configuration, the records, the result and itself."""
    manifest = load(folder / "manifest.json")
    if "configuration" in manifest:
        manifest["configuration_digest"] = digest(manifest["configuration"])
    if (folder / "records.jsonl").is_file():
        seal = Seal()
        for line in (folder / "records.jsonl").read_bytes().splitlines():
            seal.add(line)
        manifest["records"] = dict(seal.as_json)
    manifest["result"] = digest(load(folder / "result.json"))
    manifest.pop(SEALS, None)
    save(folder / "manifest.json", manifest | {SEALS: digest(manifest)})


def rescore(folder: Path) -> None:
    """Make result.json and the counts again from the records, the usage and the cost of what stands there included."""
    manifest, result = load(folder / "manifest.json"), load(folder / "result.json")
    config = manifest["config"]
    samples = config.get("samples", 1) if "model" in config else 1
    again = summarize_votes(task_of(Manifest.from_json(manifest)), records.read(folder / "records.jsonl"), samples)
    expected = json.loads(json.dumps(result_json(again)))
    usage, usd, requests = {}, 0.0, {}
    for line in lines(folder):
        if line.get("request") and "response" in line:
            requests[line["request"]["digest"]] = line
    for line in requests.values():
        usd += line.get("cost_usd") or 0.0
        for name, count in line["response"].get("usage", {}).items():
            usage[name] = usage.get(name, 0) + count
    if not manifest.get("words", {}).get("opening"):  # whose tokens stand in no record
        result["usage"] = usage
    expected["usage"] = result["usage"] if requests else {}
    if "cost" in result:
        unknown = sum(line.get("cost_usd") is None for line in requests.values())
        expected["cost"] = result["cost"] | {"usd": usd, "answers": len(requests), "answers_without_cost": unknown}
    save(folder / "result.json", {"run": result["run"], "complete": result["complete"], **expected})
    manifest["counts"] = json.loads(json.dumps(counts(again)))
    save(folder / "manifest.json", manifest)
    for name, text in again.files.items():
        (folder / name).write_text(text, encoding="utf-8")
