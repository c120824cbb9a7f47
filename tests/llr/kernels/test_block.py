"""The kernels of a block: which keep the GIL, and that nothing in them raises without it."""

import sys
import threading
import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import llr


@pytest.fixture
def patience() -> Iterator[None]:
    """Another thread gets the GIL only where it is given up."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(600.0)
    yield
    sys.setswitchinterval(before)


def fewest_turns(work: Callable[[], object]) -> int:
    """The turns of another thread in the quietest of five runs: other causes only add."""
    return min(turns_of_another(work) for _ in range(5))


def turns_of_another(work: Callable[[], object]) -> int:
    """How often a thread that always wants the GIL gets it during the work."""
    turns, ran, done = 0, threading.Event(), False

    def other() -> None:
        nonlocal turns
        while not done:
            turns += 1
            ran.set()
            time.sleep(0.0)

    thread = threading.Thread(target=other)
    thread.start()
    ran.wait()
    before = turns
    work()
    during = turns - before
    done = True
    thread.join()
    return during


FEW = 5
"""Turns that an allocation or the collector of garbage may give away in fifty calls."""


@pytest.mark.slow
@pytest.mark.usefixtures("patience")
def test_a_single_sample_keeps_the_gil_and_a_block_gives_it_up() -> None:
    X, y = llr.streams.regression(1, 10).take(200_000)
    learner = llr.Learner("linear", dim=10, regret="exact")
    x1, y1 = X[:1], y[:1]
    assert learner.learn(x1, y1)
    assert np.isfinite(learner.predict(X[0]))
    assert fewest_turns(lambda: [learner.learn(x1, y1) for _ in range(50)]) <= FEW
    assert fewest_turns(lambda: [learner.predict(X[0]) for _ in range(50)]) <= FEW
    assert turns_of_another(lambda: learner.learn(X, y)) > 0
    assert turns_of_another(lambda: learner.predict(np.tile(X, (10, 1)))) > 0


def test_a_block_that_is_refused_has_the_gil_again() -> None:
    learner = llr.Learner("bernoulli")
    with pytest.raises(llr.DomainError):
        learner.learn(np.full(100_000, 0.5))
    assert learner.learn(np.ones(100_000))
