"""How often drift is reported where there is none, and how soon where there is.

    python -m bench drift

For every model, streams of ten features (the models without have none) that stay what they are, and
streams whose θ jumps to another one after 5,000 samples. Each is learnt by an algorithm and watched
by `llr.Drift`. The delay is counted from the first sample of the new θ.
"""

import argparse
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

import llr
from llr.types import Vector

DIM = 10
JUMP = 5000
AFTER = 2000
Random = np.random.Generator


def _near(random: Random, s: Vector) -> Vector:
    return s + random.normal(size=s.size)


def _far(random: Random, s: Vector) -> Vector:
    return s + random.standard_t(3, size=s.size)


def _yes(random: Random, s: Vector) -> Vector:
    return (random.random(s.size) < 1.0 / (1.0 + np.exp(-s))).astype(np.float64)


def _count(random: Random, s: Vector) -> Vector:
    return random.poisson(np.exp(np.clip(0.5 * s, -6.0, 6.0))).astype(np.float64)


def _class(random: Random, s: Vector) -> Vector:
    return np.digitize(s + 0.1 * random.normal(size=s.size), [-1.0, 1.0]).astype(np.float64)


LABELS: dict[str, Callable[[Random, Vector], Vector]] = {
    "gaussian": _near,
    "bernoulli": _yes,
    "linear": _near,
    "logistic": _yes,
    "poisson": _count,
    "softmax": _class,
    "quantile": _far,
    "huber": _far,
}
"""How labels come of scores, by model."""

OPTIONS: dict[str, dict[str, Any]] = {"softmax": {"classes": 3}}


@dataclass(frozen=True)
class Found:
    """What came of the streams of one model.

    Attributes:
        samples: how many there were without a jump.
        false: how many alarms they gave.
        delays: how long each jump took to be told; None if it was not, within 2,000 samples.
    """

    samples: int
    false: int
    delays: list[int | None]


def samples(model: str, truths: Sequence[Vector], each: int, random: Random) -> tuple[Any, ...]:
    """As many samples of each truth, one truth after the other."""
    X = random.normal(size=(each * len(truths), DIM))
    scores = np.concatenate([X[k * each :][:each] @ truth for k, truth in enumerate(truths)])
    if model in ("gaussian", "bernoulli"):
        scores = np.repeat([truth[0] for truth in truths], each)
        return (LABELS[model](random, scores),)
    return X, LABELS[model](random, scores)


def alarms(model: str, algorithm: str, data: tuple[Any, ...]) -> list[int]:
    """When drift was told of these samples."""
    learner = llr.Learner(model, algorithm=algorithm, **OPTIONS.get(model, {}))
    drift = llr.Drift()
    excess = learner.learn(*data, excess=True).excess
    if excess is None:
        raise RuntimeError("the excess was asked for")
    drift.watch(excess)
    return drift.at


def truth(random: Random) -> Vector:
    """A θ: its scores have a deviation of about 2."""
    return 2.0 / math.sqrt(DIM) * random.normal(size=DIM)


def jump(model: str, random: Random) -> tuple[Vector, Vector]:
    """θ before and after; of the models without features it goes from −2 to 2."""
    if model in ("gaussian", "bernoulli"):
        return np.full(DIM, -2.0), np.full(DIM, 2.0)
    return truth(random), truth(random)


def of_model(model: str, algorithm: str, seeds: int, long: int) -> Found:
    """The streams of one model."""
    false, delays = 0, list[int | None]()
    for seed in range(seeds):
        random = np.random.default_rng([seed, 6])
        false += len(alarms(model, algorithm, samples(model, [truth(random)], long, random)))
        first, second = jump(model, random)
        data = samples(model, [first, second], JUMP, random)
        told = alarms(model, algorithm, tuple(part[: JUMP + AFTER] for part in data))
        delays.append(next((t - JUMP for t in told if t > JUMP), None))
    return Found(seeds * long, false, delays)


def row(model: str, found: Found) -> str:
    """A line of the table."""
    told = sorted(delay for delay in found.delays if delay is not None)
    shown = f"{median(told):g} ({told[0]} to {told[-1]})" if told else "none"
    return (
        f"| {model} | {found.false} in {found.samples:,} | {shown} | "
        f"{len(told)} of {len(found.delays)} |"
    )


def main(arguments: Sequence[str]) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench drift", description="Watch for drift.")
    parser.add_argument("--algorithm", default="auto")
    parser.add_argument("--seeds", type=int, default=50)
    parser.add_argument("--long", type=int, default=20_000)
    parser.add_argument("--quick", action="store_true", help="five seeds")
    asked = parser.parse_args(arguments)
    seeds = min(5, asked.seeds) if asked.quick else asked.seeds
    print("| model | false alarms in samples | median delay (least to most) | jumps told |")
    print("|---|---|---|---|")
    for model in LABELS:
        print(row(model, of_model(model, asked.algorithm, seeds, asked.long)), flush=True)
