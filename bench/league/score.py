"""Losses seed by seed, the regrets that follow, and what they amount to.

Regrets are compared by ratios that small numbers cannot blow up, and by their geometric mean.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from bench.league.ours import CONSTANT, FIXED

EASE = 2.0
"""Added to both regrets of a ratio: two nats more or less are luck."""

DECADES = (-10, 10)


class Tuned(NamedTuple):
    """The best of a sweep in hindsight: its loss or regret, and the step size that had it."""

    value: float
    rate: float


def grid(per_decade: int) -> list[float]:
    """Step sizes from 1e−10 to 1e10."""
    low, high = DECADES
    return [10.0 ** (low + k / per_decade) for k in range((high - low) * per_decade + 1)]


def ratio(regret: float, target: float) -> float:
    """(regret + 2)/(target + 2); a regret below 0 counts as 0.

    Otherwise one stream with a regret below −2 would decide the geometric mean. A target below −2
    counts as next to −2, which makes it no easier to reach.
    """
    return (max(regret, 0.0) + EASE) / max(target + EASE, 1e-3)


def ratio_as_it_is(regret: float, target: float) -> float:
    """The same, but a regret below 0 counts as it is, down to −1."""
    return (max(regret, 1.0 - EASE) + EASE) / max(target + EASE, 1e-3)


def geometric_mean(numbers: Iterable[float]) -> float:
    """exp of the mean logarithm."""
    found = [math.log(number) for number in numbers]
    return math.exp(sum(found) / len(found))


def best(swept: Mapping[float, float]) -> Tuned:
    """The least value of a sweep {step size: value}; NaN only if all are."""
    known = [rate for rate, value in swept.items() if not math.isnan(value)]
    rate = min(known or swept, key=lambda rate: swept[rate])
    return Tuned(swept[rate], rate)


def refined(loss: Callable[[float], float], per_decade: int, finest: int = 4) -> dict[float, float]:
    """Sweep every decade's step sizes, then `finest` to a decade around the best of them."""
    swept = {rate: loss(rate) for rate in grid(per_decade)}
    middle = best(swept).rate
    if per_decade < finest:
        reach = finest // per_decade
        for k in range(1 - reach, reach):
            rate = middle * 10.0 ** (k / finest)
            if k != 0:
                swept[rate] = loss(rate)
    return dict(sorted(swept.items()))


def compare(
    regrets: Mapping[str, float],
    targets: Mapping[str, float],
    of: Callable[[float, float], float] = ratio,
) -> float:
    """The geometric mean of the ratios over the streams of `targets`."""
    return geometric_mean(of(regrets[name], targets[name]) for name in targets)


def worst(losses: Mapping[str, float], targets: Mapping[str, float]) -> tuple[float, str]:
    """The largest loss against the target's, and on which stream."""
    return max((losses[name] / targets[name], name) for name in targets)


def average(numbers: Iterable[float]) -> float:
    """Their mean; infinite if one is."""
    return float(np.mean(list(numbers)))


class Sweep(NamedTuple):
    """The mean loss over some seeds at each step size."""

    seeds: tuple[int, ...]
    losses: dict[float, float]


@dataclass
class Results:
    """Losses of learners on streams.

    Attributes:
        seeds: the streams' seeds.
        least: the loss that regret is counted from, by stream and seed.
        losses: at default, by learner, stream and seed.
        sweeps: by learner and stream.
    """

    seeds: tuple[int, ...]
    least: dict[tuple[str, int], float] = field(default_factory=dict)
    losses: dict[tuple[str, str, int], float] = field(default_factory=dict)
    sweeps: dict[tuple[str, str], Sweep] = field(default_factory=dict)

    def learners(self) -> list[str]:
        """Who ran at default, in the order of coming."""
        return list(dict.fromkeys(learner for learner, _, _ in self.losses))

    def swept(self) -> list[str]:
        """Who was swept, in the order of coming."""
        return list(dict.fromkeys(learner for learner, _ in self.sweeps))

    def loss(self, learner: str, name: str, seeds: Sequence[int] = ()) -> float:
        """The mean loss at default."""
        return average(self.losses[learner, name, seed] for seed in seeds or self.seeds)

    def floor(self, name: str, seeds: Sequence[int] = ()) -> float:
        """The mean loss that regret is counted from."""
        return average(self.least[name, seed] for seed in seeds or self.seeds)

    def regret(self, learner: str, name: str, seeds: Sequence[int] = ()) -> float:
        """The mean regret at default."""
        return self.loss(learner, name, seeds) - self.floor(name, seeds)

    def curve(self, learner: str, name: str) -> dict[float, float]:
        """The mean regret at each step size that was tried."""
        sweep = self.sweeps[learner, name]
        floor = self.floor(name, sweep.seeds)
        return {rate: loss - floor for rate, loss in sweep.losses.items()}

    def tuned(self, learner: str, name: str) -> Tuned:
        """The least regret over its sweep."""
        return best(self.curve(learner, name))

    def better(self, name: str) -> float:
        """The regret of the better of both tuned SG."""
        return min(self.tuned(FIXED, name).value, self.tuned(CONSTANT, name).value)
