"""The draws and the interval, beside scipy's."""

import numpy as np
import pytest
from support.late import Late

from harness.scoring import bootstrap

stats = Late("scipy.stats")


def all_draws(*arguments, **settings):
    return np.concatenate(list(bootstrap.draws(*arguments, **settings)))


@pytest.mark.parametrize("clusters", [6, 21, 1000])
def test_each_resample_draws_as_many_clusters_as_there_are(clusters):
    weights = all_draws(clusters, 500)
    assert weights.shape == (500, clusters)
    assert (weights.sum(axis=1) == clusters).all() and (weights >= 0).all()
    assert weights.mean(axis=0) == pytest.approx(np.ones(clusters), abs=0.25)


def test_a_clusters_weight_is_binomial():
    weights = all_draws(21, 20_000)
    expected = stats.binom(21, 1 / 21).pmf(range(6))
    assert [(weights == k).mean() for k in range(6)] == pytest.approx(expected, abs=0.003)


def test_draws_depend_on_the_seed_and_the_number_of_clusters_alone():
    every_draw = all_draws(21, 3000)
    assert (every_draw == all_draws(21, 3000)).all()
    assert (every_draw == all_draws(21, 3000, width=5000)).all()  # however many come at once
    assert (every_draw[:1000] == all_draws(21, 1000)).all()
    assert (every_draw != all_draws(21, 3000, seed=1)).any()


@pytest.mark.parametrize(
    ("clusters", "items", "resamples"),
    [(21, 0, 10_000), (21, 1162, 10_000), (21, 2246, 10_000), (2207, 0, 4531), (76_907, 0, 1000), (21, 10**6, 1000)],
)
def test_fewer_resamples_where_there_would_be_too_much_to_do(clusters, items, resamples):
    assert bootstrap.resamples(clusters, items) == resamples


@pytest.mark.parametrize("clusters", [6, 7, 10, 21, 50, 1000])
def test_the_tail_is_hesterbergs(clusters):
    t = stats.t.ppf(0.975, clusters - 1)
    assert bootstrap.tail(clusters) == pytest.approx(stats.norm.cdf(-t * np.sqrt(clusters / (clusters - 1))), rel=2e-3)


def test_an_interval_leaves_undefined_values_out():
    values = np.append(np.linspace(0, 1, 1001), [np.nan] * 50)
    low, high = bootstrap.interval(values, 21)
    assert (low, high) == pytest.approx((bootstrap.tail(21), 1 - bootstrap.tail(21)), abs=1e-6)


@pytest.mark.parametrize("number", [1, 2, 7, 1000, 9999])
def test_quantiles_are_numpys_to_the_last_digit(number):
    draw = np.random.default_rng(number)
    shares = [0.0, bootstrap.tail(6), bootstrap.tail(21), 0.5, 1 - bootstrap.tail(21), 1.0, *draw.random(20)]
    for values in (draw.random(number), draw.integers(0, 9, number) / 9):
        assert bootstrap.quantiles(values, shares) == np.quantile(values, shares).tolist()


def test_values_that_never_change_have_no_interval():
    assert bootstrap.interval(np.full(100, 0.3), 21) is None
    assert bootstrap.interval(np.full(100, 0.3) + 1e-16 * np.arange(100), 21) is None


@pytest.mark.parametrize("clusters", [6, 21, 60])
def test_the_interval_of_a_ratio_is_scipys(clusters):
    draw = np.random.default_rng(clusters)
    below = draw.integers(5, 91, clusters).astype(float)
    above = draw.binomial(below.astype(int), draw.beta(4, 3, clusters)).astype(float)
    weights = all_draws(clusters, 20_000)
    ours = bootstrap.interval((weights @ above) / (weights @ below), clusters)
    theirs = stats.bootstrap(
        (above, below),
        lambda a, b, axis: a.sum(axis) / b.sum(axis),
        paired=True,
        vectorized=True,
        n_resamples=20_000,
        confidence_level=1 - 2 * bootstrap.tail(clusters),
        method="percentile",
        random_state=np.random.default_rng(1),
    )
    # The ends of 20,000 draws are uncertain by some hundredths of a standard error.
    assert ours == pytest.approx(tuple(theirs.confidence_interval), abs=0.1 * theirs.standard_error)
