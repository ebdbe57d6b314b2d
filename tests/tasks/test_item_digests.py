"""Items never change: ids, texts, labels, clusters and groups of every task and way to ask, by their digest.

What they are is checked elsewhere, by theory that is not the harness's own. Another version must not make other items:
the runs of months ago are verified by them. After a change that is meant, `python tests/tasks/test_item_digests.py`
prints the table anew.
"""

from __future__ import annotations

import hashlib

import msgspec
import pytest
import yaml

from harness.config_files import CONFIGS
from harness.settings import build

TABLE = """
cladder | limit=300 | cc7f38fcbfd4
cladder | limit=200 perturbation=nonsense labels=exact seed=7 | ee33362c05ba
cladder | limit=120 variants=[easy,hard,nonsense] | c8172f4c1324
cladder | limit=60 queries=[backadj,det-counterfactual,collider_bias] | 876bb2baa729
cladder | split=sample | ca17a9760d2f
cladder | split=sample labels=stated limit=200 | 95cf6ef1dc28
cladder | split=sample labels=exact perturbation=letters limit=150 | 91e9729e2c64
cladder | split=sample perturbation=nonsense limit=150 queries=[nie,ett] | 747a83a774e9
cladder | split=balanced1000 limit=100 | 08cf3ba831d2
cladder | split=balanced1000 labels=stated limit=100 seed=3 | b73c6f7048fb
corr2cause | limit=null | fddb190a75fa
corr2cause | perturbation=paraphrase | a13b30ecfe53
corr2cause | perturbation=refactorization labels=audited | a3075deac303
corr2cause | perturbation=permutation | 53f1d735a8b4
corr2cause | perturbation=varied seed=2 | 10b44d1c1425
corr2cause | version=v1 | 4d187371e646
corr2cause | version=v1 perturbation=permutation seed=1 | cb9dbf73c20c
corr2cause | argument=true limit=100 | 363fd39ec36c
corr2cause | relations=[child,collider] num_nodes=[6,2] | 80beecd92b9f
corr2cause | limit=100 seed=4 | c2d97477d459
corr2cause | wording=1 limit=60 | 76bf7678a737
corr2cause | wording=2 limit=60 | fbe09816662d
corr2cause | wording=4 limit=60 | 00b690e76a3d
corr2cause | wording=7 perturbation=varied limit=60 | e71d893aed48
corr2cause | split=dev limit=200 | bd56efabad7a
corr2cause | split=train num_nodes=[4,5] limit=300 seed=2 | f4fda563a070
corr2cause | split=all num_nodes=[2,3,4] | b53bd515b9a5
corr2cause | split=all num_nodes=[4,5] whole=true limit=4 | b2af31b984e2
corr2cause/fresh | num_nodes=[5,6] limit=48 | 6e0a1711af5a
corr2cause/fresh | num_nodes=[5,6] limit=66 balance=published names=words seed=1 | e5f60c8b9e3a
corr2cause/fresh | num_nodes=[5] limit=36 per_premise=12 names=first | 2d6efe6e1c50
corr2cause/pairs | num_nodes=[5,6] limit=60 | a7d7542e48e1
corr2cause/pairs | num_nodes=[5,6] limit=60 same_premise=true names=words | 3ead96af99a9
corr2cause/pairs | num_nodes=[6] limit=40 matching=strict names=first | 74882015092f
corr2cause/pairs | num_nodes=[6] limit=40 matching=strict same_premise=true seed=3 | 455ef4884924
causalbench/causality | limit=500 | 7327b96ddd1c
causalbench/causality | networks=all limit=500 names=readable | c32853e1541b
causalbench/causality | scale=small method=2 | 4ce71aff01cb
causalbench/causality | scale=small method=2 structure=common_cause names=readable | 2d94750a8cc2
causalbench/causality | networks=[asia,alarm] format=background limit=200 | 464d28009f09
causalbench/causality | networks=[asia,alarm] format=data limit=100 convention=paper | f76cac162dee
causalbench/causality | networks=asia format=data rows=10 parts=1 seed=1 | 0b6e286c36a3
causalbench/causality | networks=asia format=background background=authors | 0cf1fb2d8358
causalbench/correlation | networks=all limit=500 | 88ffe0c9c1fc
causalbench/correlation | scale=small kind=direct | 31206bace633
causalbench/correlation | scale=small kind=indirect convention=paper | 090bae0838f4
causalbench/correlation | networks=child format=background_data names=readable limit=100 | d43d1a0c6ffa
causalbench/skeleton | scale=small | 5b09c6041738
causalbench/skeleton | scale=small seed=1 limit=200 names=readable | e6b0897a01a9
causalbench/skeleton | scale=[small,medium] convention=paper limit=500 | 6830927f5837
causalbench/cot | seed=0 | ff7c3a664040
causalbench/cot | seed=1 limit=20 | 1839a3f3b8ff
"""


def digest(task: str, settings: str) -> str:
    content = yaml.safe_load((CONFIGS / "task" / f"{task}.yaml").read_text(encoding="utf-8"))
    content |= {name: yaml.safe_load(value) for name, _, value in (each.partition("=") for each in settings.split())}
    whole = hashlib.sha256()
    for item in build(content, "task").items():
        whole.update(msgspec.json.encode(item))
    return whole.hexdigest()[:12]


ROWS = [tuple(map(str.strip, line.split("|"))) for line in TABLE.split("\n") if line]


@pytest.mark.parametrize(("task", "settings", "expected"), ROWS)
def test_items_are_those_of_every_version_before(task, settings, expected):
    assert digest(task, settings) == expected


if __name__ == "__main__":
    for task, settings, _ in ROWS:
        print(f"{task} | {settings} | {digest(task, settings)}")
