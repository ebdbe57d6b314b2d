"""to=eee: what real runs leave is valid by Every Eval Ever's schemas, and says what the runs say."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from pathlib import Path
from statistics import fmean
from uuid import UUID

import pytest
from jsonschema import Draft7Validator
from support import forks
from support.compared_runs import always, put
from support.openai_server import Server, chat_reply, error

from harness.config_files import PROMPTS
from harness.export import main
from harness.storage.records import Writer
from harness.storage.run_folder import MANIFEST, RECORDS, RESULT
from harness.types import Answer, ChoiceRequest, Message, PairRequest, Record, Response

SCHEMAS = Path(__file__).parent / "schemas"
LOG, ROW = (
    Draft7Validator(json.loads((SCHEMAS / f"{name}.schema.json").read_text()))
    for name in ("eval", "instance_level_eval")
)
HOSTILE = 'No.\u2028\u0085\x0c\x1c {"a": 1}\r\n</script> \x00 🙂'


def answer(path, body, number):
    """Return the kinds of outcome, one after the other."""
    if "part" in body["messages"][-1]["content"] and "matrix:\n" in body["messages"][-1]["content"]:
        return chat_reply("Noted.")
    if number % 4 == 3:
        return error(400, "too long", "context_length_exceeded")
    return chat_reply(("Yes", HOSTILE, "Perhaps it does.")[number % 4])


@pytest.fixture(scope="module")
def runs_folder(tmp_path_factory) -> Path:
    """Runs of an API model, one of them in turns, of an algorithm and of a baseline, made by the commands."""
    folder = tmp_path_factory.mktemp("made")
    servers = [Server(answer), Server(answer)]  # one each: what they say goes by the number of the call
    first, second = (
        ("model=openai", "model.model=meta-llama/Llama-9", f"model.base_url={server.url}", "model.max_concurrency=1")
        for server in servers
    )
    data = ["task=causalbench/causality", "task.networks=[cancer]", "task.format=data", "task.parts=2", "task.rows=8"]
    commands = [
        ["harness", "task.limit=12", *first],
        ["harness", *data, "task.limit=4", *second],
        ["harness.discover", "network=cancer"],
        ["harness", "task.limit=12", "samples=2", "model=random_uniform"],
    ]
    environment = os.environ | {"OPENAI_API_KEY": "none"}
    running = [forks.Command(module, arguments, folder, environment) for module, *arguments in commands]
    for process in running:
        stderr = process.communicate(timeout=120)[1]
        assert process.returncode == 0, stderr
    for server in servers:
        server.close()
    assert main([str(folder / "results"), "to=eee", f"out={folder / 'out'}"]) == 0
    return folder


def log_of(out: Path, part: str) -> tuple[dict, list[dict]]:
    """Return the only evaluation in a folder whose name has that part, with its rows."""
    (file,) = (file for file in out.rglob("*.json") if part in str(file))
    log = json.loads(file.read_text(encoding="utf-8"))
    samples = file.with_name(f"{file.stem}_samples.jsonl")
    return log, [json.loads(line) for line in samples.read_text().splitlines()] if samples.exists() else []


def by_id(log: dict) -> dict[str, dict]:
    results = {result["evaluation_result_id"]: result for result in log["evaluation_results"]}
    assert len(results) == len(log["evaluation_results"])
    return results


def folder_of(runs_folder: Path, part: str) -> Path:
    """Return the only run's folder that has the part in its name."""
    (file,) = (file for file in (runs_folder / "results").rglob(RESULT) if part in str(file))
    return file.parent


def check(out: Path) -> int:
    """Assert what the schemas and the data store ask of the files of an export; return how many evaluations."""
    files = sorted(out.rglob("*.json"))
    for file in files:
        log = json.loads(file.read_text(encoding="utf-8"))
        LOG.validate(log)
        place = file.relative_to(out)
        assert len(place.parts) == 5 and place.parts[0] == "data"
        assert UUID(file.stem).version == 4
        for part in place.parts[1:4]:
            assert not re.search(r'[<>:"\\|?*\x00-\x1f]|[. ]$', part)
            assert part.partition(".")[0].upper() not in {"CON", "PRN", "AUX", "NUL", "DATA"}
        for result in log["evaluation_results"]:
            config = result["metric_config"]
            assert config["min_score"] <= result["score_details"]["score"] <= float(config["max_score"])
        samples = file.with_name(f"{file.stem}_samples.jsonl")
        detail = log.get("detailed_evaluation_results")
        assert (detail is not None) == samples.exists()
        if detail is None:
            continue
        lines = samples.read_text(encoding="utf-8").splitlines()
        assert detail["file_path"] == str(place.with_name(samples.name))
        assert detail["total_rows"] == len(lines)
        assert detail["checksum"] == hashlib.sha256(samples.read_bytes()).hexdigest()
        for line in lines:
            row = json.loads(line)
            ROW.validate(row)
            assert row["evaluation_id"] == log["evaluation_id"]
            assert row["model_id"] == log["model_info"]["id"]
            assert row.get("evaluation_result_id") in {None, *by_id(log)}
    return len(files)


def test_what_real_runs_left_is_valid(runs_folder):
    assert check(runs_folder / "out") == 4


def test_a_second_export_is_the_same_in_every_byte(runs_folder, tmp_path):
    assert main([str(runs_folder / "results"), "to=eee", f"out={tmp_path / 'again'}"]) == 0
    files = [file.relative_to(runs_folder / "out") for file in (runs_folder / "out").rglob("*.*")]
    assert sorted(files) == sorted(file.relative_to(tmp_path / "again") for file in (tmp_path / "again").rglob("*.*"))
    assert all((runs_folder / "out" / file).read_bytes() == (tmp_path / "again" / file).read_bytes() for file in files)


def test_rows_of_an_api_model(runs_folder):
    log, rows = log_of(runs_folder / "out", "data/corr2cause/meta-llama/Llama-9")
    lines = (
        (folder_of(runs_folder, "corr2cause/limit=12/plain/meta-llama") / RECORDS)
        .read_text(encoding="utf-8")
        .split("\n")
    )
    records = [json.loads(line) for line in lines if line]
    assert [row["sample_id"] for row in rows] == [record["item"] for record in records]
    assert rows[0]["input"]["raw"] == records[0]["request"]["messages"][0]["text"]
    texts = [row["output"]["raw"] for row in rows]
    assert sorted(texts) == sorted([["Yes"], [HOSTILE], ["Perhaps it does."], []] * 3)
    for row, record in zip(rows, records, strict=True):
        failed, unreadable = row["output"]["raw"] == [], row["output"]["raw"] == ["Perhaps it does."]
        assert row["input"]["reference"] == ["Yes" if record["gold"] else "No"]
        assert row["evaluation"] == {"score": float(record["correct"] or 0), "is_correct": bool(record["correct"])}
        assert [attribution["extracted_value"] for attribution in row["answer_attribution"]] == (
            [] if failed or unreadable else ["Yes" if record["answer"]["label"] else "No"]
        )
        assert ("error" in row) == failed == ("evaluation_result_id" not in row) == ("token_usage" not in row)
    failure = next(row for row in rows if "error" in row)
    assert failure["error"].startswith("context_length: ")
    answered = next(row for row in rows if row["output"]["raw"] == ["Yes"])
    assert answered["token_usage"] == {
        "input_tokens": 11,
        "output_tokens": 2,
        "total_tokens": 13,
        "input_tokens_cache_read": 3,
        "reasoning_tokens": 1,
    }
    assert answered["performance"]["latency_ms"] > 0
    assert answered["metadata"] | {"served_model": "served-name-2024", "sample": "0"} == answered["metadata"]
    # The result that rows name is their mean.
    values = [row["evaluation"]["score"] for row in rows if "evaluation_result_id" in row]
    assert by_id(log)["published/overall/all/accuracy"]["score_details"]["score"] == pytest.approx(fmean(values))


def test_scores_of_an_api_model(runs_folder):
    log, _ = log_of(runs_folder / "out", "data/corr2cause/meta-llama/Llama-9")
    stored = json.loads((folder_of(runs_folder, "corr2cause/limit=12/plain/meta-llama") / RESULT).read_text())
    results = by_id(log)
    expected = {
        f"{labels}/{breakdown}/{group}/{metric}": row[metric]
        for labels, breakdowns in stored["scores"].items()
        for breakdown, groups in breakdowns.items()
        for group, row in groups.items()
        for metric in ("f1", "precision", "recall", "accuracy")
        if (labels == "published" or breakdown == "overall") and row[metric] is not None
    }
    assert {name: result["score_details"]["score"] for name, result in results.items()} == expected
    assert {name.rpartition("/")[0] for name in results} > {"audited/overall/all", "published/relation/ancestor"}
    result = results["published/overall/all/accuracy"]
    row = stored["scores"]["published"]["overall"]["all"]
    assert result["evaluation_name"] == "corr2cause.limit=12.published"
    assert result["score_details"]["uncertainty"]["num_samples"] == 9
    assert (
        result["score_details"]["details"] | {"items": "12", "failed": "3", "unreadable": "3"}
        == result["score_details"]["details"]
    )
    intervals = {
        name.rpartition("/")[2]: (interval["lower"], interval["upper"], interval["confidence_level"])
        for name, result in results.items()
        if name.startswith("published/overall/all/")
        and (interval := result["score_details"]["uncertainty"].get("confidence_interval"))
    }
    assert intervals == {name: (*ends, 0.95) for name, ends in row["intervals"].items()} != {}
    assert result["source_data"]["hf_repo"] == "causalnlp/corr2cause"
    words = result["generation_config"]["generation_args"]
    assert (words["temperature"], words["max_tokens"]) == (0, 16)
    assert words["prompt_template"] in (PROMPTS / "corr2cause" / "plain.yaml").read_text().replace("\n  ", "\n")
    assert (log["eval_library"]["name"], log["model_info"]["developer"]) == ("harness", "meta-llama")
    assert log["source_metadata"]["evaluator_relationship"] == "third_party"
    assert re.fullmatch(r"\d{10}", log["retrieved_timestamp"])
    assert "inference_platform" not in log["model_info"]  # a server on this machine


def test_a_conversation_has_its_turns(runs_folder):
    _, rows = log_of(runs_folder / "out", "causalbench_causality/meta-llama")
    for row in rows:
        turns = [(message["turn_idx"], message["role"]) for message in row["messages"]]
        roles = [role for _, role in turns]
        failed = "error" in row
        assert [number for number, _ in turns] == list(range(len(turns)))
        assert roles[-1] == ("user" if failed else "assistant") and roles.count("assistant") > 1 - failed
        assert row["interaction_type"] == "multi_turn" and "output" not in row
        questions = [message["content"] for message in row["messages"] if message["role"] == "user"]
        assert row["input"]["raw"] == questions[-1]
        for attribution in row["answer_attribution"]:
            assert (
                attribution["turn_idx"] == len(turns) - 1
                and attribution["source"] == f"messages[{len(turns) - 1}].content"
            )


def test_distances_are_better_when_lower_and_have_no_upper_end(runs_folder):
    log, rows = log_of(runs_folder / "out", "causalbench_causality/harness/hc")
    stored = json.loads((folder_of(runs_folder, "/hc/") / RESULT).read_text())["scores"]["exact"]["overall"]["all"]
    results = by_id(log)
    for name in ("shd", "sid"):
        result = results[f"exact/overall/all/{name}"]
        assert result["score_details"]["score"] == stored[name]
        config = result["metric_config"]
        assert (config["lower_is_better"], config["min_score"], config["max_score"]) == (True, 0, "Infinity")
    assert not results["exact/overall/all/accuracy"]["metric_config"]["lower_is_better"]
    assert {"density", "acyclic"} <= set(stored)
    assert not [name for name in results if name.endswith(("/density", "/acyclic"))]
    assert results["exact/overall/all/shd"]["source_data"]["source_type"] == "url"
    assert "prompt_template" not in results["exact/overall/all/shd"]["generation_config"]["generation_args"]
    assert {row["input"]["raw"] for row in rows} == {""} and not [row for row in rows if "sample_hash" in row]
    assert len(rows) == stored["items"]


def test_rows_of_several_answers_name_no_result_because_the_score_is_the_votes(runs_folder):
    log, rows = log_of(runs_folder / "out", "harness/random_uniform")
    assert len(rows) == 24 and {row["metadata"]["sample"] for row in rows} == {"0", "1"}
    assert not [row for row in rows if "evaluation_result_id" in row]
    assert by_id(log)["published/overall/all/accuracy"]["score_details"]["uncertainty"]["num_samples"] == 12


def test_rankings_pairs_and_hostile_words(tmp_path):
    odd = "\ud83d \x00\u2028\u0085</script>"
    runs_folder = Path(put(tmp_path / "r", always(1, count=2)))
    requests = [PairRequest(odd, "h"), ChoiceRequest((Message("system", odd), Message("user", "q")), ("Yes", "No"))]
    with (runs_folder / RECORDS).open("w", encoding="utf-8") as file:
        writer = Writer(file, "published", lambda response: 0.25)
        for number, request in enumerate(requests):
            response = Response("Yes", logprobs={"Yes": -0.1, "No": -2.0}, finish_reason=odd)
            record = Record(f"{odd}{number}", odd, {odd: odd}, {"published": 1}, "d", response, Answer(1, 0.75, odd))
            writer.write(record, request)
    assert main([str(runs_folder), "to=eee", f"out={tmp_path / 'o'}"]) == 0
    assert check(tmp_path / "o") == 1
    _, (pair, choice) = log_of(tmp_path / "o", "data")
    clean = odd.replace("\ud83d", "?")
    assert (pair["input"]["raw"], choice["input"]["raw"]) == (f"{clean}\n\nh", f"{clean}\n\nq")
    assert choice["input"]["choices"] == ["Yes", "No"] and "choices" not in pair["input"]
    assert choice["answer_attribution"][0]["extraction_method"] == "log-probabilities"
    assert choice["metadata"] | {"probability": "0.75", "cost_usd": "0.25", "span": clean} == choice["metadata"]
    assert "token_usage" not in choice and "performance" not in choice
    assert choice["sample_hash"] != pair["sample_hash"]


def test_without_records_there_are_the_scores(runs_folder, tmp_path, capsys):
    shutil.copytree(runs_folder / "results", tmp_path / "results")
    for file in (tmp_path / "results").rglob(RECORDS):
        file.unlink()
    assert main([str(tmp_path / "results"), "to=eee", f"out={tmp_path / 'o'}"]) == 0
    assert "; 4 without records.jsonl, so with scores only." in capsys.readouterr().out
    assert check(tmp_path / "o") == 4
    assert not list((tmp_path / "o").rglob("*.jsonl"))
    log, _ = log_of(tmp_path / "o", "data/corr2cause/meta-llama")
    with_records, _ = log_of(runs_folder / "out", "data/corr2cause/meta-llama")
    assert log["source_metadata"]["source_type"] == "documentation"
    assert [result["score_details"] for result in log["evaluation_results"]] == [
        result["score_details"] for result in with_records["evaluation_results"]
    ]


def test_a_broken_line_leaves_no_half_a_file(tmp_path, capsys):
    runs_folder = Path(put(tmp_path / "r", always(1, count=3)))
    with (runs_folder / RECORDS).open("a", encoding="utf-8") as file:
        file.write("{}\n")
    assert main([str(runs_folder), "to=eee", f"out={tmp_path / 'o'}"]) == 1
    assert "line 4 is not a record" in capsys.readouterr().err
    assert not [file for file in (tmp_path / "o").rglob("*") if file.is_file()]


def test_a_run_given_twice_is_written_once(runs_folder, tmp_path, capsys):
    shutil.copytree(runs_folder / "results", tmp_path / "copy")
    folders, written = [str(runs_folder / "results"), str(tmp_path / "copy")], []
    for given in (1, 2):
        out = tmp_path / str(given)
        assert main([*folders[:given], "to=eee", f"out={out}"]) == 0
        written.append({file.name: file.read_bytes() for file in out.rglob("*") if file.is_file()})
    assert written[0].keys() == written[1].keys()
    said = capsys.readouterr().err.splitlines()
    assert len(said) == sum(name.endswith(".json") for name in written[0]) > 1
    assert all(str(tmp_path / "copy") in line and "holds the same run as another" in line for line in said)


def server(model: str, url: str) -> dict:
    return {"config": {"base_url": url}, "identity": {"kind": "openai.chat", "endpoint": url, "model": model}}


def local(path: str) -> dict:
    return {"config": {"path": path}, "identity": {"kind": "nli"}}


@pytest.mark.parametrize(
    ("model", "shown", "name", "place", "more"),
    [
        (server("gpt-4", "https://api.openai.com/v1"), "g", "openai/gpt-4", "openai/gpt-4", {"developer": "openai"}),
        (server("a/b", "https://llm.example/v1"), "m", "a/b", "a/b", {"inference_platform": "llm.example"}),
        (server("llama3:8b", "http://localhost:1/v1"), "m", "llama3:8b", "unknown/llama3_8b", {}),
        (server("m", "http://[bad"), "m", "m", "unknown/m", {}),
        (local("roberta-large-mnli"), "r", "FacebookAI/roberta-large-mnli", "FacebookAI/roberta-large-mnli", {}),
        (local("org/model"), "m", "org/model", "org/model", {"developer": "org"}),
        (local("/home/me/models/mine"), "/home/me/models/mine", "mine", "unknown/mine", {}),
        (local("../../.."), "../../..", "unknown", "unknown/unknown", {}),
        ({"identity": {"kind": "new"}}, "data", "data", "unknown/_data", {}),
        ({"identity": {"kind": "new"}}, 'CON.<x>"\n?', 'CON.<x>"\n?', "unknown/_CON._x____", {}),
        ({"identity": {"kind": "new"}}, "é" * 200, "é" * 200, f"unknown/{'é' * 40}-", {}),
        ({}, "", "unknown", "unknown/unknown", {}),
    ],
)  # fmt: skip
def test_who_made_a_model_as_far_as_the_run_tells(tmp_path, monkeypatch, model, shown, name, place, more):
    monkeypatch.chdir(tmp_path)
    run = Path(put(tmp_path / "run", always(1, count=20), model=shown))
    manifest = json.loads((run / MANIFEST).read_text())
    manifest["configuration"]["model"] = model.get("identity", {})
    manifest["config"] = {"model": model.get("config", {})}
    (run / MANIFEST).write_text(json.dumps(manifest))
    assert main(["run", "to=eee", "out=o"]) == 0
    assert check(tmp_path / "o") == 1
    (file,) = (tmp_path / "o").rglob("*.json")
    info = json.loads(file.read_text(encoding="utf-8"))["model_info"]
    assert info | {"name": shown, "id": name} | more == info
    assert ("developer" in info) == ("/" in name)
    assert str(file.parent.relative_to(tmp_path / "o" / "data" / "corr2cause")).startswith(place)
