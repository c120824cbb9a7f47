"""How often labels were within the intervals told before each of them, and how wide these were.

python -m bench intervals            the tables of docs/uncertainty.md, a few minutes

Numeric models have intervals, whose width is told; classes have sets, whose mean size is told.
"""

import argparse
import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np
from sklearn import datasets

import llr
from bench.league import drifting, real
from bench.league.stream import Stream
from llr.intervals import FEW, LEVELS
from llr.types import Vector

SEED = 7
N, DIM = 3000, 5
ALGORITHMS = ("auto", "kalman", "sg/ag")
OPTIONS = {"quantile": {"level": 0.8}}


class Found(NamedTuple):
    """Of each level: the share of labels within, and the mean width by that of hindsight."""

    coverage: list[float]
    width: list[float]


def streams() -> Iterator[tuple[str, Stream]]:
    """The numeric streams of the league, then numeric sets that come inside packages."""
    for name in drifting.NAMES:
        drawn = drifting.stream(name, SEED)
        if not drawn.binary:
            yield name, drawn
    for name, model in real.STREAMS.items():
        if model == "linear":
            yield name, real.stream(name)
    iris, wine = datasets.load_iris().data, datasets.load_wine().data
    yield "iris, petal width", Stream("linear", iris[:, :3].copy(), iris[:, 3].copy())
    yield "wine, alcohol", Stream("linear", wine[:, 1:].copy(), wine[:, 0].copy())


def made() -> Iterator[tuple[str, Stream]]:
    """Streams of the other numeric models: counts, skewed errors, heavy-tailed ones."""
    rng = np.random.default_rng([SEED, DIM])
    X = rng.normal(size=(N, DIM))
    s = X @ (0.4 * rng.normal(size=DIM))
    yield "counts", Stream("poisson", X, rng.poisson(np.exp(1.0 + s)).astype(np.float64))
    yield "skewed, τ = 0.8", Stream("quantile", X, s + rng.exponential(size=N))
    yield "heavy tails", Stream("huber", X, s + rng.standard_t(2.0, size=N))


def of_classes() -> Iterator[tuple[str, Stream]]:
    """Streams of classes: made ones, and sets that come inside packages."""
    for name in ("bernoulli-jump", "logistic", "logistic-jump"):
        yield name, drifting.stream(name, SEED)
    for name, model in real.STREAMS.items():
        if model in {"logistic", "softmax"} and name != "Bananas":
            yield name, real.stream(name)


def sets(stream: Stream, algorithm: str) -> Found:
    """Ask for the prediction sets of each sample, then learn it; widths are the sizes."""
    given = {"classes": stream.classes} if stream.classes else {}
    learner = llr.Learner(stream.model, algorithm=algorithm, eta0=0.01, **given)  # type: ignore[arg-type]
    within, size = np.zeros((5, len(stream.y))), np.zeros((5, len(stream.y)))
    for t, y in enumerate(stream.y.tolist()):
        x = stream.X[t] if stream.features else None
        for i, level in enumerate(LEVELS):
            found = learner.interval(x, level)
            within[i, t], size[i, t] = y in found, len(found)
        if not (learner.learn(y) if x is None else learner.learn(x, y)):
            break
    return Found(within[:, FEW:].mean(axis=1).tolist(), size[:, FEW:].mean(axis=1).tolist())


def follow(stream: Stream, algorithm: str) -> Found:
    """Ask for the intervals of each sample, then learn it."""
    options = OPTIONS.get(stream.model, {})
    learner = llr.Learner(stream.model, algorithm=algorithm, eta0=0.01, **options)  # type: ignore[arg-type]
    n = len(stream.y)
    lower, upper, errors = np.empty((5, n)), np.empty((5, n)), np.empty(n)
    for t in range(n):
        x = stream.X[t] if stream.features else None
        for i, level in enumerate(LEVELS):
            lower[i, t], upper[i, t] = learner.interval(x, level)
        errors[t] = stream.y[t] - learner.predict(x)
        y = stream.y[t]
        if not (learner.learn(y) if x is None else learner.learn(x, y)):
            break
    told = slice(FEW, None)
    within = (lower <= stream.y) & (stream.y <= upper)
    widths = (upper - lower)[:, told].mean(axis=1) / _hindsight(errors[told])
    return Found(within[:, told].mean(axis=1).tolist(), widths.tolist())


def _hindsight(errors: Vector) -> Vector:
    """The width that one interval for all errors would have needed."""
    tails = [0.5 * (1.0 - level) for level in LEVELS]
    return np.array([np.quantile(errors, 1.0 - tail) - np.quantile(errors, tail) for tail in tails])


def main(arguments: list[str]) -> None:
    """Print the tables."""
    argparse.ArgumentParser("bench intervals").parse_args(arguments)
    _table("width at 0.5 / 0.9 / 0.99", itertools.chain(streams(), made()), follow)
    print()
    _table("size at 0.5 / 0.9 / 0.99", of_classes(), sets)


def _table(
    last: str, of: Iterable[tuple[str, Stream]], measured: Callable[[Stream, str], Found]
) -> None:
    heads = [f"{level:g}" for level in LEVELS]
    print("| stream | n | algorithm |", " | ".join(heads), f"| {last} |")
    print("|---" * (4 + len(heads)) + "|")
    for name, stream in of:
        for algorithm in ALGORITHMS:
            if algorithm != "auto" and np.abs(stream.X).max() > 50.0:
                continue  # a plain gradient diverges on features of such a size
            found = measured(stream, algorithm)
            shares = " | ".join(f"{share:.3f}" for share in found.coverage)
            widths = " / ".join(f"{found.width[i]:.3g}" for i in (0, 2, 4))
            print(f"| {name} | {len(stream.y)} | {algorithm} | {shares} | {widths} |", flush=True)
