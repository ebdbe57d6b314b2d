"""task=cladder/value: the number behind a question, its distance, and whether it is within 0.01."""

from __future__ import annotations

import pytest

from harness import evaluate
from harness.errors import ConfigError
from harness.plugins.cladder.reasoning import item_values
from harness.plugins.compare import command as compare
from harness.settings import build
from harness.types import Answer, Record, Response
from harness.verify import __main__ as verify


def task(**settings):
    shipped = {"_target_": "harness.plugins.cladder.value.CLadderValue", "name": "cladder/value", "prompts": ["plain"]}
    return build(shipped | settings, "task")


def worth(item, said):
    answer = Answer(1, span=repr(said)) if said is not None else Answer(None)
    record = Record(item.id, item.cluster, item.groups, item.labels, None, Response(""), answer)
    return item_values(record)


def test_a_number_is_worth_its_distance_from_what_the_printed_percents_come_to():
    items = {item.id: item for item in task(split="sample").items()}
    effect = items["alarm-mediation-ate-model0-spec0-q0"]  # 85% - 26%
    assert effect.fields["quantity"] == (
        "the probability of ringing alarm if alarm set by husband were brought about for everybody, minus that if "
        "alarm not set by husband were"
    )
    assert worth(effect, 0.59) == {"within": 1.0, "value_error": pytest.approx(0, abs=1e-12)}
    assert worth(effect, 0.60) == {"within": 1.0, "value_error": pytest.approx(0.01)}
    assert worth(effect, -0.59) == {"within": 0.0, "value_error": pytest.approx(1.18)}
    assert worth(effect, None) == {"within": 0.0, "value_error": None}
    assert not any("-IV-ate-" in name or "-arrowhead-n" in name for name in items)  # which the numbers do not settle


def test_the_value_of_a_fresh_question_follows_from_its_name_alone():
    for item in task(limit=80, seed=-3).items():
        assert worth(item, 0.0)["value_error"] is not None
    assert all(value is None for value in worth(item, 0.1).values()) is False
    assert item_values(Record("x", "no-such-s0r0", {}, {"stated": 1}, None, Response(""), Answer(1, span="1"))) == {
        "within": None,
        "value_error": None,
    }


def test_a_run_is_scored_verified_and_compared(tmp_path, capsys):
    runs = [evaluate(model=m, task="cladder/value", graphs="chain", limit=20, results=str(tmp_path)) for m in _MODELS]
    assert runs[0].scores["within"].value == 1 and runs[0].scores["value_error"].value == pytest.approx(0, abs=1e-4)
    assert runs[1].result.overall.unreadable == 20 and runs[1].scores["within"].value == 0
    assert verify.main([str(tmp_path)]) == 0
    compare.main([str(run.folder) for run in runs])
    assert "within 0.01" in capsys.readouterr().out


_MODELS = ("ladder_reasoner", "always_yes")


@pytest.mark.parametrize(
    ("settings", "said"),
    [({"queries": ["backadj"]}, "no number to ask for"), ({"labels": "exact"}, "made here")],
)
def test_settings_without_numbers_are_refused(settings, said):
    with pytest.raises(ConfigError, match=said):
        task(**settings)
