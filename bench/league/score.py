"""What regrets amount to: ratios that small numbers cannot blow up, and their geometric mean."""

import math
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import numpy as np

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
    """(regret + 2)/(target + 2); a regret below −2 counts as next to −2."""
    return max(regret + EASE, 1e-3) / (target + EASE)


def geometric_mean(numbers: Iterable[float]) -> float:
    """exp of the mean logarithm."""
    found = [math.log(number) for number in numbers]
    return math.exp(sum(found) / len(found))


def best(swept: Mapping[float, float]) -> Tuned:
    """The least value of a sweep {step size: value}."""
    rate = min(swept, key=lambda rate: swept[rate])
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


def compare(regrets: Mapping[str, float], targets: Mapping[str, float]) -> float:
    """The geometric mean of the ratios over the streams of `targets`."""
    return geometric_mean(ratio(regrets[name], targets[name]) for name in targets)


def worst(losses: Mapping[str, float], targets: Mapping[str, float]) -> tuple[float, str]:
    """The largest loss against the target's, and on which stream."""
    return max((losses[name] / targets[name], name) for name in targets)


def average(numbers: Iterable[float]) -> float:
    """Their mean; infinite if one is."""
    return float(np.mean(list(numbers)))
