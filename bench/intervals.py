"""How often labels were within the intervals told before each of them, and how wide these were.

python -m bench intervals            the table of docs/uncertainty.md, a minute
"""

import argparse
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from sklearn import datasets

import llr
from bench.league import drifting, real
from bench.league.stream import Stream
from llr.intervals import FEW, LEVELS
from llr.types import Vector

SEED = 7
ALGORITHMS = ("auto", "sg/ag")


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


def follow(stream: Stream, algorithm: str) -> Found:
    """Ask for the intervals of each sample, then learn it."""
    learner = llr.Learner(stream.model, algorithm=algorithm, eta0=0.01)
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
    """Print the table."""
    argparse.ArgumentParser("bench intervals").parse_args(arguments)
    heads = [f"{level:g}" for level in LEVELS]
    print("| stream | n | algorithm |", " | ".join(heads), "| width at 0.5 / 0.9 / 0.99 |")
    print("|---" * (4 + len(heads)) + "|")
    for name, stream in streams():
        for algorithm in ALGORITHMS:
            if algorithm != "auto" and np.abs(stream.X).max() > 50.0:
                continue  # a plain gradient diverges on features of such a size
            found = follow(stream, algorithm)
            shares = " | ".join(f"{share:.3f}" for share in found.coverage)
            widths = " / ".join(f"{found.width[i]:.3g}" for i in (0, 2, 4))
            print(f"| {name} | {len(stream.y)} | {algorithm} | {shares} | {widths} |", flush=True)
