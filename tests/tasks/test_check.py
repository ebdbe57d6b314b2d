"""What a task of somebody's gives is checked: one sentence for its author, before anything is asked."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace

import pytest
from support.scripted import Scripted

from harness.errors import ConfigError
from harness.prompting.prompts import Prompt
from harness.prompting.schema import read
from harness.run import run
from harness.runtime.progress import Progress
from harness.scoring.summary import summarize
from harness.storage.manifest import Manifest
from harness.storage.run_folder import Folder
from harness.tasks.base import TaskBase
from harness.tasks.check import CheckedItems, look_ahead
from harness.types import Item, Response, replace

GOOD = Item("a", {"question": "So?"}, {"gold": 1}, "c", groups={"kind": "x"})


class Mine:
    name, headline, prompts, prompt_format, data = "mine", "gold", ("plain",), "", {}
    remarks, like, draw_size = (), "", None

    def __init__(self, *items, result=None):
        self._items, self._result = items, result

    def items(self):
        return iter(self._items)

    def examples(self):
        return ()

    def summarize(self, records):
        scored = summarize(records, headline="gold", orders={}, unreadable="wrong")
        return scored if self._result is None else self._result


@pytest.mark.parametrize(
    ("item", "sentence"),
    [
        (
            replace(GOOD, labels={"gold": "0"}),
            r"item 'b' is no harness\.types\.Item: Expected `int`, got `str` - at `\$\.labels",
        ),
        (replace(GOOD, labels={"gold": True}), "Expected `int`, got `bool`"),
        (replace(GOOD, labels={"gold": 2}), r"has the gold label 2; 0 \(No\) and 1 \(Yes\) are allowed"),
        (replace(GOOD, labels={"silver": 1}), "has labels of silver, and none of the task's headline 'gold'"),
        (replace(GOOD, fields={"question": object()}), "has a object as its field question"),
        (replace(GOOD, fields=["So?"]), "Expected `object`, got `array` - at `\\$\\.fields`"),
        (replace(GOOD, groups={"kind": 3}), "Expected `str`, got `int` - at `\\$\\.groups"),
        (replace(GOOD, cluster=7), "Expected `str`, got `int` - at `\\$\\.cluster`"),
        ({"id": "b"}, r"item number 2 is a dict; harness\.types\.Item is needed"),
    ],
)
def test_an_item_that_cannot_be_asked_or_scored_is_named(item, sentence):
    item = replace(item, id="b") if isinstance(item, Item) else item
    with pytest.raises(ConfigError, match=rf"task mine \(\S*Mine\): .*{sentence}"):
        look_ahead(Mine(GOOD, item))


def test_ids_that_come_twice_and_no_items_at_all():
    with pytest.raises(ConfigError, match="two items have the id 'a'"):
        look_ahead(Mine(GOOD, GOOD))
    with pytest.raises(ConfigError, match=r"gives no items: items\(\) has to yield"):
        look_ahead(Mine())
    choice = replace(GOOD, fields={"choices": ["x", "y", "z"]}, labels={"gold": 2})
    assert list(CheckedItems(Mine(choice))) == [choice]


@pytest.mark.parametrize(
    ("task", "sentence"),
    [
        (Mine(GOOD, GOOD), "two items have the id"),
        (Mine(GOOD, result=SimpleNamespace()), r"summarize gives SimpleNamespace; harness\.types\.Result is needed"),
    ],
)
def test_a_run_refuses_them_in_a_sentence(tmp_path, task, sentence):
    (tmp_path / "p.yaml").write_text('source: mine\nmakes: [chat]\nuser: "{question}"\n', encoding="utf-8")
    prompt = Prompt("p", tmp_path / "p.yaml", read(tmp_path / "p.yaml"))
    model = Scripted(lambda request: Response("Yes"))
    place = {"task": "mine", "variant": "default", "prompt": "p", "model": "m"}
    with pytest.raises(ConfigError, match=sentence):
        run(task, prompt, model, Folder(tmp_path / "r", Manifest(run=place, configuration={})), Progress("t"))


@dataclass(frozen=True)
class Own(TaskBase):
    headline = "gold"

    def all_items(self):
        return [replace(GOOD, id=str(n), labels={"gold": n % 2}, groups={"kind": "xy"[n % 5 == 0]}) for n in range(40)]


class Heedless(Own):
    def items(self):
        return self.all_items()


def test_what_the_base_class_offers_it_keeps_for_every_task():
    few, other = (list(Own("own", limit=10, seed=seed).items()) for seed in (0, 1))
    assert len(few) == len(other) == 10 and few != other and len(list(Own("own").items())) == 40
    assert all(sum(item.labels["gold"] for item in items) == 5 for items in (few, other))
    look_ahead(Own("own", limit=10))
    with pytest.raises(ConfigError, match=r"pay no heed to task\.limit=10: leave it out"):
        look_ahead(Heedless("own", limit=10))
