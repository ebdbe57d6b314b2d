"""The limit of CausalBench's items: a sample with a share for every network and label."""

from __future__ import annotations

from collections import Counter

import pytest
from support.causalbench_help import ALL_SIX, causalbench, items
from support.thinned import few


def share(item_list: list, kind: str, settings: dict) -> None:
    """Assert that networks and labels of a subset have their shares."""
    task = causalbench(kind, **settings)
    everything, label = list(task.items()), task.headline
    networks, labels = (
        [Counter(item.groups["network"] for item in some) for some in (everything, item_list)],
        [Counter((item.groups["network"], item.labels[label]) for item in some) for some in (everything, item_list)],
    )
    for network, number in networks[0].items():
        assert abs(networks[1][network] - len(item_list) * number / len(everything)) < 1, network
    for (network, gold), number in labels[0].items():
        assert abs(labels[1][network, gold] - networks[1][network] * number / networks[0][network]) < 1, network


@pytest.mark.parametrize("limit", few([7, 1, 50, 77, 189, 333], 2))
@pytest.mark.parametrize(("kind", "settings"), ALL_SIX)
def test_a_limit_gives_every_network_and_label_its_share(kind, settings, limit):
    settings = {"scale": "small", **settings}
    item_list = items(kind, limit=limit, **settings)
    assert len(item_list) == limit == len(causalbench(kind, limit=limit, **settings).items())
    share(item_list, kind, settings)
    everything = {item.id: k for k, item in enumerate(items(kind, **settings))}
    places = [everything[item.id] for item in item_list]
    assert places == sorted(set(places))


def test_what_is_drawn_of_a_network_does_not_depend_on_the_others():
    def subset_by_network(**settings) -> dict:
        subset: dict = {}
        for item in items("Causality", **settings):
            subset.setdefault((item.groups["network"], item.labels["exact"]), set()).add(item.id)
        return subset

    together, alone = (
        subset_by_network(networks=["asia", "sachs"], limit=200),
        subset_by_network(networks="asia", limit=100),
    )
    for label in (0, 1):
        among_others, on_its_own = together["asia", label], alone["asia", label]
        assert among_others <= on_its_own or on_its_own <= among_others


def test_a_limit_takes_the_same_questions_in_every_format_and_under_every_name():
    ids = {
        tuple(item.id for item in items("Skeleton", networks="asia", limit=30, rows=10, **settings))
        for settings in ({}, {"format": "background_data"}, {"names": "readable"})
    }
    assert len(ids) == 1
