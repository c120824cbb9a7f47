"""`auto` on one page, with a switch for each of its parts, to see what each is worth.

The library has no such switches. This says the same as `llr.auto` for a model of one score, and
with everything on `tests/project/test_bench_regret.py` holds it to the library's losses.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numba
import numpy as np

from bench.league.stream import Stream
from llr.auto.clipping import MOST
from llr.auto.expert_weights import AT_FIRST, LOWEST, RECENT, STRICT
from llr.auto.preconditioner import ALWAYS, EIGHTH, HELD, LONG, WARY
from llr.auto.step_size import GAIN, SHORT, SLOWEST
from llr.auto.updates import BEYOND, FULL, KEEP, RESTART
from llr.models import implicit, linear, logistic
from llr.types import Vector

F = TypeVar("F", bound=Callable[..., Any])
NEVER = -1e9
"""A vote from which nobody comes back."""


class Parts(NamedTuple):
    """What is on.

    Attributes:
        gain: how fast LLR moves η; 0 is LLR off.
        keep: what is kept of the tangent at a step; 1 is memory off.
        window: whether η is held within its window.
        eta0: where η starts, which matters without the window only.
        metric: whether features are scaled.
        bounds: whether predictions are kept within what was seen.
        first: the votes of mean, walker, runner and constant before the first sample.
        lowest: where their votes end; NEVER, in both, takes one out.
        intercept: whether there is a constant term.
        centred: whether steps are as if features had mean 0.
    """

    gain: float = GAIN
    keep: float = KEEP
    window: bool = True
    eta0: float = 1.0
    metric: bool = True
    bounds: bool = True
    first: tuple[float, float, float, float] = AT_FIRST
    lowest: tuple[float, float, float, float] = LOWEST
    intercept: bool = True
    centred: bool = True


def plain(formula: F) -> F:
    """Compile it, with room for arrays of its own."""
    return numba.njit(error_model="numpy")(formula)  # type: ignore[return-value]


def without(*voters: int) -> Parts:
    """All but these: 0 the mean, 1 the walker, 2 the runner, 3 the constant."""
    votes = [[NEVER if k in voters else v for k, v in enumerate(of)] for of in (AT_FIRST, LOWEST)]
    return Parts(first=_four(votes[0]), lowest=_four(votes[1]))


def total(stream: Stream, parts: Parts) -> float:
    """The progressive loss of `auto` with these parts; infinite if it did not get through."""
    intercept = parts.intercept and stream.features
    fitting = parts._replace(intercept=intercept, centred=parts.centred and intercept)
    constant = intercept or not stream.features
    loss = _learn(stream.X, stream.y, stream.binary, constant, fitting)
    return float(loss) if loss < np.inf else math.inf


def _four(votes: list[float]) -> tuple[float, float, float, float]:
    return votes[0], votes[1], votes[2], votes[3]


_root = implicit.root_of(logistic.residual, logistic.curvature)


@plain
def _learn(X: Vector, y: Vector, coin: bool, constant: bool, on: Parts) -> float:
    dim = X.shape[1]
    places, h = np.zeros((3, dim + 1)), np.zeros(dim + 1)  # of mean, walker and runner; tangent
    known, rate = np.zeros((3, dim)), np.array([on.eta0, 0.0, 0.0])
    votes, lowest = np.array(on.first), np.array(on.lowest)
    total, still, heft, noise, stretch, count, merit = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, MOST
    low, high, floor, ceiling = 0.0, 0.0, -np.inf, np.inf
    for t in range(y.size):
        weight = 1.0 / (min(t, LONG) + 1.0)
        u, q = _aim(X[t], known, t, weight, on)
        x = np.append(X[t], 1.0 if on.intercept else 0.0)
        raw = np.append((places * x).sum(1), still)
        kept = _kept(raw, floor, ceiling, merit, on.bounds)
        share = np.exp(votes) / np.exp(votes).sum()
        s, bare, sigma = (share * kept).sum(), (share * raw).sum(), (h * x).sum()
        loss, bend = _loss(coin, s, y[t]), _bend(coin, s)
        each = np.array([_loss(coin, one, y[t]) for one in kept])
        total += loss
        if not coin and t > 0:
            noise += (2.0 * min(each[0], each[1]) - noise) / min(t, RECENT)
        unit = 1.0 if coin else noise
        if unit > 0.0:
            votes -= np.minimum((each - each.min()) / unit, STRICT)
            votes = np.maximum(votes - votes.max(), lowest)
            if bare != s:
                merit = _clip(merit + _clip((_loss(coin, bare, y[t]) - loss) / unit, MOST), MOST)
        if constant:
            heft += _bend(coin, still) * (2.0 if coin and t == 0 else 1.0)
            still += _residual(coin, still, y[t]) / heft
        if q > 0.0:
            stretch += max(weight, SHORT) * (bend * q - stretch)
            r = _pace(rate, _residual(coin, raw[1], y[t]) * sigma, t, weight, 1.0 / stretch, on)
            k, w = _solve(coin, raw[1], q, r, y[t])
            places[1] += k * u
            h = on.keep * (h + implicit.tangent(k, w, q, sigma) * u)
            full = FULL / stretch
            towards = _residual(coin, s, y[t]) + bend * (s - raw[2])
            places[2] += full * towards / (1.0 + BEYOND * full * bend * q) * u
            count = (min(count, RESTART) if votes[0] <= lowest[0] else count) + 1.0
            places[0] += (places[2] - places[0]) / count
        low, high = min(low, y[t]), max(high, y[t])
        ceiling = math.log(t + 2.0) if coin else 2.0 * high - low
        floor = -ceiling if coin else 2.0 * low - high
    return total


@plain
def _aim(x: Vector, known: Vector, t: int, weight: float, on: Parts) -> tuple[Vector, float]:
    """The direction u, its last number the intercept's, and q."""
    centre, spread, inverse = known
    before = x - centre
    if on.centred:
        centre += weight * before
    spread += weight * (before * (x - centre) - spread)
    if t < ALWAYS or t % EIGHTH == 0:
        for i in range(x.size):
            inverse[i] = 1.0 / spread[i] if spread[i] > 0.0 else 0.0
    if not on.metric:
        inverse[:] = 1.0
    z = x - centre
    u = 0.0 * z if on.centred and t < HELD else z * inverse / (1.0 + WARY * weight)
    if on.intercept:
        return np.append(u, 1.0 - (u * centre).sum()), (u * z).sum() + 1.0
    return np.append(u, 0.0), (u * z).sum()


@plain
def _kept(raw: Vector, floor: float, ceiling: float, merit: float, bounds: bool) -> Vector:
    """Scores within bounds as far as these are trusted; the constant's is as it is."""
    kept = raw.copy()
    if bounds:
        for k in range(3):
            inside = min(max(raw[k], floor), ceiling)
            if inside != raw[k]:
                kept[k] += (inside - raw[k]) / (1.0 + math.exp(-merit))
    return kept


@plain
def _pace(rate: Vector, lam: float, t: int, weight: float, unit: float, on: Parts) -> float:
    """Learn η; returns the walker's step."""
    w = max(1.0 / (math.sqrt(t + 2.0) * math.log(t + 3.0)), SLOWEST)
    rate[1:] += w * (np.array([lam * lam, 1.0]) - rate[1:])
    if rate[1] > 0.0:
        rate[0] *= math.exp(on.gain * w * lam * math.sqrt(rate[2] / rate[1]))
    small = math.sqrt(weight)
    if on.window:
        rate[0] = min(max(rate[0], small * unit), unit / small)
    return float(rate[0] * small)


@plain
def _loss(coin: bool, s: float, y: float) -> float:
    return logistic.loss(s, y, 0.0) if coin else linear.loss(s, y, 0.0)


@plain
def _residual(coin: bool, s: float, y: float) -> float:
    return logistic.residual(s, y, 0.0) if coin else linear.residual(s, y, 0.0)


@plain
def _bend(coin: bool, s: float) -> float:
    return logistic.weight(s, 0.0, 0.0, 0.0) if coin else 1.0


@plain
def _solve(coin: bool, s: float, q: float, r: float, y: float) -> tuple[float, float]:
    return _root(s, q, r, y, 0.0) if coin else linear.implicit(s, q, r, y, 0.0)


@plain
def _clip(number: float, most: float) -> float:
    return min(max(number, -most), most)


WORST = (1e-6, 1e-3, 1.0, 1e3)
"""Where η starts with the window off: the worst of these is told, since nobody knows which."""

ABLATIONS: dict[str, list[Parts]] = {
    "nothing: `auto` as it is": [Parts()],
    "LLR: η stays where the window puts it": [Parts(gain=0.0)],
    "memory: the tangent is kept for ever": [Parts(keep=1.0)],
    "window, at the worst η₀ of 10⁻⁶, 10⁻³, 1, 10³": [Parts(window=False, eta0=e) for e in WORST],
    "metric: no scaling": [Parts(metric=False)],
    "centring": [Parts(centred=False)],
    "intercept, and with it centring and the constant": [Parts(intercept=False)],
    "bounds of predictions": [Parts(bounds=False)],
    "constant": [without(3)],
    "mean": [without(0)],
    "runner in the vote": [without(2)],
    "walker, and with it LLR": [without(1)],
    "all but the walker": [without(0, 2, 3)],
    "all but the walker, and LLR": [without(0, 2, 3)._replace(gain=0.0)],
    "all but the walker, and the window, at the worst η₀": [
        without(0, 2, 3)._replace(window=False, eta0=e) for e in WORST
    ],
    "all but mean and constant": [without(1, 2)],
}
"""What is taken away from `auto`, a line of the table each."""
