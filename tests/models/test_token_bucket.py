from __future__ import annotations

from support.clocks import Clock

from harness.models.api.gate import TokenBucket


def test_a_bucket_lets_its_rate_through_and_saves_up_little():
    clock = Clock()
    bucket = TokenBucket(10, clock)
    gone = 0
    for _ in range(1000):
        while bucket.wait(1) <= 1e-9:
            bucket.take(1)
            gone += 1
        clock.now += 0.01
    assert 99 <= gone <= 102
    clock.now += 60
    assert bucket.wait(1) <= 1e-9
    bucket.take(1)
    assert bucket.wait(1) > 0


def test_a_call_larger_than_the_bucket_goes_when_it_is_full():
    clock = Clock()
    bucket = TokenBucket(10, clock)
    assert bucket.wait(21) == 2.0  # one unit is there from the start
    clock.now += 2
    assert bucket.wait(21) == 0.0
    bucket.take(21)
    assert bucket.wait(1) == 0.1


def test_a_rate_that_changes_holds_from_then_on():
    clock = Clock()
    bucket = TokenBucket(10, clock)
    bucket.wait(1)
    bucket.take(1)
    bucket.rate = 2
    assert bucket.wait(1) == 0.5
