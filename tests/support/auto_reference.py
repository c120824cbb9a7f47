"""`auto` once more, in plain Python, for models of one score: what the kernel is held to.

Written from its description, one line an idea, without regard to speed. Only what a model says of
a score (loss, residual, curvature, weight, reach) is passed in.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np


@dataclass
class Says:
    """What a model says."""

    loss: Callable[[float, float], float]
    residual: Callable[[float, float], float]
    curvature: Callable[[float, float], float]
    weight: Callable[[float, float], float]
    reach: Callable[[float, float, float], tuple[float, float]]
    measured: bool
    beyond: Callable[[float, float], float] = lambda low, high: 10 * (high - low)


def _sigmoid(s: float) -> float:
    return 1.0 / (1.0 + math.exp(-s))


LINEAR = Says(
    loss=lambda s, y: 0.5 * (y - s) ** 2,
    residual=lambda s, y: y - s,
    curvature=lambda s, y: 1.0,
    weight=lambda s, y: 1.0,
    reach=lambda n, low, high: (2 * low - high, 2 * high - low),
    measured=False,
)
LOGISTIC = Says(
    loss=lambda s, y: math.log1p(math.exp(-s)) + (1 - y) * s,
    residual=lambda s, y: y - _sigmoid(s),
    curvature=lambda s, y: _sigmoid(s) * _sigmoid(-s),
    weight=lambda s, y: math.tanh(abs(s) / 2) / (2 * abs(s)) if abs(s) > 1e-4 else 0.25,
    reach=lambda n, low, high: (-math.log(n + 1), math.log(n + 1)),
    measured=True,
)


def weighted(says: Says, w: float) -> Says:
    """What the model says of a sample of weight w."""
    return replace(
        says,
        loss=lambda s, y: w * says.loss(s, y),
        residual=lambda s, y: w * says.residual(s, y),
        curvature=lambda s, y: w * says.curvature(s, y),
        weight=lambda s, y: w * says.weight(s, y),
    )


def implicit(says: Says, s: float, q: float, r: float, y: float) -> float:
    """The k with k = r · residual(s + k q), by halving."""
    low, high = sorted((0.0, r * says.residual(s, y)))
    for _ in range(200):
        k = 0.5 * (low + high)
        low, high = (k, high) if k < r * says.residual(s + k * q, y) else (low, k)
    return 0.5 * (low + high)


@dataclass
class Auto:
    """A learner; vectors carry the intercept as their last coordinate."""

    says: Says
    dim: int
    walker: Any = field(init=False)
    total: float = 0.0
    t: int = 0

    def __post_init__(self) -> None:
        self.walker, self.tangent, self.runner, self.mean = np.zeros((4, self.dim + 1))
        self.centre, self.spread, self.inverse = np.zeros((3, self.dim))
        self.votes = np.array([0.0, -2.0, -2.0, 0.0])
        self.floors = np.array([-4.0, -4.0, -7.0, -10.0])
        self.constant = self.heft = self.noise = self.stretch = self.count = 0.0
        self.slopes = self.seen = 0.0
        self.eta, self.merit = 1e-3, 4.0
        self.low = self.high = 0.0

    def learn(self, x: Any, y: float, w: float = 1.0) -> float:
        """Learn from one sample; returns what was predicted."""
        says, t = weighted(self.says, w), self.t
        u, q = self._direction(x)
        raw = np.array([v[:-1] @ x + v[-1] for v in (self.mean, self.walker, self.runner)])
        raw = np.append(raw, self.constant)
        scores = raw.copy()
        if t > 0:
            low, high = says.reach(t, self.low, self.high)
            bounded, most = np.clip(raw[:3], low, high), says.beyond(low, high)
            leak = np.clip(raw[:3] - bounded, -most, most)
            scores[:3] = bounded + leak / (1 + math.exp(self.merit))
        shares = np.exp(self.votes) / np.exp(self.votes).sum()
        s, s_raw = shares @ scores, shares @ raw
        self.total += says.loss(s, y)
        losses = np.array([says.loss(one, y) for one in scores])
        unit = 1.0
        if not says.measured:
            if t > 0:
                self.noise += (2 * min(losses[0], losses[1]) - self.noise) / min(t, 300)
            unit = self.noise
        if unit > 0:
            self.votes -= np.minimum((losses - losses.min()) / unit, 2.0)
            self.votes = np.maximum(self.votes - self.votes.max(), self.floors)
            if np.any(scores != raw):
                gain = (says.loss(s_raw, y) - says.loss(s, y)) / unit
                self.merit = min(max(self.merit + min(max(gain, -4.0), 4.0), -4.0), 4.0)
        weight = says.weight(self.constant, y)
        self.heft += weight * (2 if t == 0 and says.measured else 1)
        self.constant += says.residual(raw[3], y) / self.heft
        self._move(says, u, q, y, s, raw, x)
        self.low, self.high = min(self.low, y), max(self.high, y)
        self.t += 1
        return float(s)

    def _direction(self, x: Any) -> tuple[Any, float]:
        weight = 1.0 / (min(self.t, 10_000) + 1)
        before = x - self.centre
        self.centre += weight * before
        z = x - self.centre
        self.spread += weight * (before * z - self.spread)
        if self.t < 64 or self.t % 8 == 0:
            with np.errstate(divide="ignore"):
                self.inverse = np.where(self.spread > 0, 1 / self.spread, 0.0)
        u = np.zeros(self.dim) if self.t < 3 else z * self.inverse / (1 + 20 * weight)
        return np.append(u, 1 - u @ self.centre), float(u @ z) + 1

    def _move(self, says: Says, u: Any, q: float, y: float, s: float, raw: Any, x: Any) -> None:
        t = min(self.t, 10_000)
        bend = says.weight(s, y)
        self.stretch += (bend * q - self.stretch) * max(1 / (t + 1), 1 / 1001)
        sigma = self.tangent[:-1] @ x + self.tangent[-1]
        lam = says.residual(raw[1], y) * sigma
        w = max(
            1 / (math.sqrt(self.t + 2) * math.log(self.t + 3)),
            1 / (math.sqrt(10_002) * math.log(10_003)),
        )
        self.slopes = (1 - w) * self.slopes + w * lam**2
        self.seen = (1 - w) * self.seen + w
        if self.slopes > 0:
            self.eta *= math.exp(5 * w * lam / math.sqrt(self.slopes / self.seen))
        root = math.sqrt(t + 1)
        self.eta = min(max(self.eta, 1 / (root * self.stretch)), root / self.stretch)
        r = self.eta / root
        k = implicit(says, raw[1], q, r, y)
        bent = r * q * says.curvature(raw[1] + k * q, y)
        dk = (k - bent * sigma / q) / (1 + bent)
        full = 4 / self.stretch
        run = full * (says.residual(s, y) + bend * (s - raw[2])) / (1 + 0.8 * full * bend * q)
        self._go(u, k, dk, run, self.votes[0] <= self.floors[0])

    def _go(self, u: Any, k: float, dk: float, run: float, over: bool) -> None:
        if over:
            self.count = min(self.count, 5)
        self.count += 1
        self.walker += k * u
        self.tangent = 0.999 * (self.tangent + dk * u)
        self.runner += run * u
        self.mean += (self.runner - self.mean) / self.count

    @property
    def theta(self) -> Any:
        """θ and the intercept."""
        shares = np.exp(self.votes) / np.exp(self.votes).sum()
        mixed = shares[0] * self.mean + shares[1] * self.walker + shares[2] * self.runner
        mixed[-1] += shares[3] * self.constant
        return mixed


@dataclass
class NamedAuto(Auto):
    """The same for features that are missing from most samples: x has NaN for those."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.seen_in = np.zeros(self.dim)
        self.counted, self.noticed = np.zeros((2, self.dim + 1))
        self.starts = 0.0

    def learn(self, x: Any, y: float, w: float = 1.0) -> float:
        """Learn from one sample; returns what was predicted."""
        self.there = np.append(~np.isnan(x), True)  # the intercept always is
        return super().learn(np.nan_to_num(x), y, w)

    def _direction(self, x: Any) -> tuple[Any, float]:
        u, there = np.zeros(self.dim + 1), self.there
        u[-1] = 1.0
        for i in np.flatnonzero(there[:-1]):
            n = min(self.seen_in[i], 10_000) + 1
            self.seen_in[i] += 1
            self.spread[i] += (x[i] ** 2 - self.spread[i]) / n
            u[i] = x[i] / self.spread[i] / (1 + 20 / n) if self.spread[i] > 0 else 0.0
        return u, float(u[:-1] @ x) + 1

    def _go(self, u: Any, k: float, dk: float, run: float, over: bool) -> None:
        self.starts += over
        for i in np.flatnonzero(self.there):
            if self.noticed[i] < self.starts:
                self.counted[i] = min(self.counted[i], 5)
            self.noticed[i] = self.starts
            self.counted[i] += 1
            self.walker[i] += k * u[i]
            self.tangent[i] = 0.999 * (self.tangent[i] + dk * u[i])
            self.runner[i] += run * u[i]
            self.mean[i] += (self.runner[i] - self.mean[i]) / self.counted[i]
