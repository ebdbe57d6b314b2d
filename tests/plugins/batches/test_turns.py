"""Steps asked one after the other, in batches: each turn goes on from the model's own reply to the one before it."""

from __future__ import annotations

from batch_runs import config, run

from harness import load_run
from harness.storage.record_lines import turns


def test_a_chain_of_steps_is_asked_in_batches_each_turn_once(server, tmp_path):
    settings = config(server.url, tmp_path, "task=corr2cause/steps", "task.num_nodes=[4]", limit=4)
    assert run(settings) == ""
    (folder,) = {file.parent for file in (tmp_path / "results").rglob("manifest.json")}
    done = load_run(folder)
    lines = {line["item"]: line for line in done.lines()}
    seen = server.seen()
    assert done.complete and seen["billed"] == len(lines) > 12 and not seen["again"] and not seen["live"]
    for line in lines.values():  # what the model said before stands between the questions
        said = [turn["content"] for turn in turns(line) if turn["role"] == "assistant"]
        earlier = ["edges", "triples", "colliders", "directions", "answer"].index(line["groups"]["step"])
        steps = ("edges", "triples", "colliders", "directions")[:earlier]
        assert said == [lines[f"{line['cluster']}/{step}"]["response"]["text"] for step in steps]
