"""The bank of filters in plain Python with dense covariances: what the kernel is held to.

Written from its description, without regard to speed. Covariances are updated by the textbook
formula and factored anew, so that nothing is shared with `llr.ud`.
"""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from support.auto_reference import Says, implicit, weighted

Array = np.ndarray[Any, Any]
LONG, SHORT, SENTINEL, CONSTANT, FIRST_ORDER = range(5)


def factored(P: Array) -> tuple[Array, Array]:
    """U and D with P = U·diag(D)·Uᵀ, U unit upper triangular."""
    n = len(P)
    U, D, rest = np.eye(n), np.zeros(n), P.copy()
    for j in reversed(range(n)):
        D[j] = rest[j, j]
        U[:j, j] = rest[:j, j] / D[j] if D[j] > 0 else 0.0
        rest -= D[j] * np.outer(U[:, j], U[:, j])
    return U, D


@dataclass
class Filter:
    """θ and its covariance in units of the noise, the intercept first."""

    theta: Array
    P: Array
    ridge: float
    errors: float = 0.0
    weight: float = 0.0

    def q(self, z: Array) -> float:
        return float(z @ self.P @ z)

    def learn(self, z: Array, k: float, w: float) -> None:
        b = self.P @ z
        self.theta = self.theta + k * b
        self.P = self.P - np.outer(b, b) / (1 / w + z @ b)

    def copy(self) -> "Filter":
        return Filter(self.theta.copy(), self.P.copy(), self.ridge, self.errors, self.weight)


@dataclass
class Bank:
    """Three filters, a constant and a first-order learner, for a squared or a logistic loss."""

    says: Says
    dim: int
    filters: list[Filter] = field(init=False)
    t: int = 0
    alarms: int = 0

    def __post_init__(self) -> None:
        self.c, self.v = np.zeros((2, self.dim))
        self.ridges = [3.0, 1.0, 0.3] if self.says.measured else [1.0, 0.1, 0.01]
        self.filters = [self._prior(ridge) for ridge in self.ridges]
        self.votes = np.array([-1.0, 0.0, -1.0, -1.0, -1.0])
        self.kept: list[tuple[Array, float, float]] = []
        self.slow = self.quick = self.usual = self.counted = self.cusum = 0.0
        self.due, self.fitted = False, 0
        self.age, self.won, self.lost, self.pending, self.merit = 1e6, 0.5, 1.0, False, 4.0

    def _caps(self, ridge: float) -> Array:
        prior = 4.0 if self.says.measured else 3 * (1 + self.dim / ridge)
        with np.errstate(divide="ignore"):
            return np.array([prior, *np.where(self.v > 0, 1 / (ridge * self.v), 0.0)])

    def _prior(self, ridge: float) -> Filter:
        return Filter(np.zeros(self.dim + 1), np.diag(self._caps(ridge)), ridge)

    def _step(self, s: float, q: float, y: float, m: float, noise: float) -> tuple[float, float]:
        if self.says.measured:
            k = implicit(weighted(self.says, m), s, q, 1.0, y)
            return k, m * max(self.says.curvature(s + k * q, y), 1e-6)
        most = 4 * math.sqrt(noise * (1 / m + q)) if noise > 0 else math.inf
        w = m * min(1.0, most / abs(y - s))
        return (y - s) * w / (1 + w * q), w

    def _refitted(self, beyond: bool, mean: Array, spread: Array) -> bool:
        n = len(self.kept)
        self.due = self.due or beyond
        again = n <= 8 or n & (n - 1) == 0 or (self.due and n >= 1.125 * self.fitted)
        if again:
            self.due, self.fitted = False, n
            self._refit(mean, spread)
        return again

    def _refit(self, mean: Array, spread: Array) -> None:
        t, measured = len(self.kept), self.says.measured
        before = [[f.theta @ [1, *(x - self.c)] for x, _, _ in self.kept] for f in self.filters]
        self.c = mean.copy()
        self.v = spread * t / (t - 1) if t > 1 else 0.0 * spread
        self.filters = [self._prior(ridge) for ridge in self.ridges]
        for k, one in enumerate(self.filters):
            for r, (x, y, m) in enumerate(self.kept):
                z = np.array([1, *(x - self.c)])
                s, q = float(one.theta @ z), one.q(z)
                if measured and t > 2:
                    at = before[k][r]
                    w = max(self.says.curvature(at, y), 1e-3)
                    to = at + min(max(self.says.residual(at, y) / w, -5.0), 5.0)
                    w *= m
                    gain = (to - s) / (1 / w + q)
                else:
                    gain, w = self._step(s, q, y, m, 0.0)
                one.errors += m * (y - s) ** 2 / (1 + m * q)
                one.weight += 1 / (1 + m * q)
                one.learn(z, gain, w)

    def learn(
        self,
        x: Array,
        y: float,
        first_order: float,
        constant: float,
        bounds: tuple[float, float],
        mean: Array,
        spread: Array,
        m: float,
        trust: float,
    ) -> float:
        """Learn from one sample; returns the score that was predicted."""
        t, measured = self.t, self.says.measured
        far = np.sqrt(10 * self.v) if t < 128 else np.inf
        near = far if t < 32 or measured else np.inf
        z = np.array([1, *np.clip(x - self.c, -near, near)])
        beyond = np.any(np.abs(x - self.c) > far)
        if t >= 128:
            one = self.filters[SHORT]
            U, D = factored(one.P)
            one.P = (U * np.maximum(D, np.minimum(D / 0.98, self._caps(one.ridge)))) @ U.T
        s = [float(one.theta @ z) for one in self.filters]
        q = [one.q(z) for one in self.filters]
        raw = [a / math.sqrt(1 + math.pi / 8 * b) for a, b in zip(s, q, strict=True)]
        raw = raw if measured else s
        inside, most = np.clip(raw, *bounds), self.says.beyond(*bounds)
        leak = np.clip(raw - inside, -most, most) if t > 0 else 0.0
        leak *= 1 - min(trust, 1 / (1 + math.exp(-self.merit)))
        scores = np.array([*(inside + leak), constant, first_order])
        shares = np.exp(self.votes) / np.exp(self.votes).sum()
        together = float(shares @ scores)
        if measured:
            p = float(shares @ (1 / (1 + np.exp(-scores))))
            together = math.log(p / (1 - p))
        late = max(0.0, math.log((t + 1) / 1000))
        leader = self._judge(y, m, scores, raw, inside, late)
        if t < 128:
            self.kept.append((x.copy(), y, m))
            if t >= 64 and not measured:
                self.counted += 1
                excess = 2 * m * self.says.loss(scores[leader], y)
                self.usual += (excess - self.usual) / self.counted
        again = t < 128 and self._refitted(bool(beyond), mean, spread)
        for k, one in enumerate([] if again else self.filters):
            own = one.errors / one.weight if one.weight > 0 else 0.0
            robust = (k == LONG or t < 128) and not measured
            gain, w = self._step(s[k], q[k], y, m, own if robust else 0.0)
            keep = 0.98 if k == SHORT and t >= 128 else 1.0
            one.errors = keep * one.errors + w * (y - s[k]) ** 2 / (1 + m * q[k])
            one.weight = keep * one.weight + 1 / (1 + m * q[k])
            one.learn(z, gain, w)
        if t + 1 == 128:
            self._settle_ridge(leader)
        elif t >= 128:
            if (t + 1) & t == 0:
                self._recentre(mean, spread)
            self._hand_on(leader, late)
            z = np.array([1, *(x - self.c)])
            self._watch(y, m, z, scores, leader, late)
        self.t += 1
        return together

    def _judge(
        self, y: float, m: float, scores: Array, raw: Any, inside: Array, late: float
    ) -> int:
        t, measured, loss = self.t, self.says.measured, weighted(self.says, m).loss
        losses = np.array([loss(one, y) for one in scores])
        unit = 1.0
        if not measured:
            if t > 0:
                r = 2 * min(losses[0], losses[1], losses[2], losses[4])
                slow = r * 9 / (8 + r / self.slow) if t > 20 and self.slow > 0 else r
                quick = r * 9 / (8 + r / self.quick) if t > 20 and self.quick > 0 else r
                self.slow += (slow - self.slow) / min(t, 300)
                self.quick += (quick - self.quick) / min(t, 30)
            unit = max(self.slow, self.quick)
            if unit > 0:
                losses = 4.5 * np.log1p(2 * losses / (8 * unit))
        if unit > 0:
            self.votes = self.votes - np.minimum(losses - losses.min(), 8.0)
            self.votes = np.maximum(self.votes - self.votes.max(), -10 - late)
        leader = int(np.argmax(self.votes[:3]))
        if unit > 0 and raw[leader] != inside[leader]:
            gain = (loss(raw[leader], y) - loss(float(inside[leader]), y)) / unit
            self.merit = min(max(self.merit + min(max(gain, -4.0), 4.0), -4.0), 4.0)
        return leader

    def _settle_ridge(self, leader: int) -> None:
        top, best = self.votes[leader], self.filters[leader]
        self.filters = [best.copy() for _ in range(3)]
        for one in self.filters[1:]:
            one.ridge = min(one.ridge, 0.03)
        self.votes[:3] = top - 2.0 * np.arange(3)

    def _recentre(self, mean: Array, spread: Array) -> None:
        shift = np.eye(self.dim + 1)
        shift[0, 1:] = mean - self.c
        for one in self.filters:
            one.theta, one.P = shift @ one.theta, shift @ one.P @ shift.T
        self.c, self.v = mean.copy(), np.where(spread > 0, spread, self.v)

    def _copy(self, one: int, to: int) -> None:
        ridge = self.filters[to].ridge
        self.filters[to] = self.filters[one].copy()
        self.filters[to].ridge = ridge

    def _hand_on(self, leader: int, late: float) -> None:
        top = self.votes[leader]
        if top < -1:
            return
        for k in range(leader):
            if self.votes[k] <= top - 9.9 - late:
                self._copy(leader, k)
                self.votes[k] = top - 2

    def _watch(self, y: float, m: float, z: Array, scores: Array, leader: int, late: float) -> None:
        loss = m * self.says.loss(scores[leader], y)
        if self.says.measured:
            p = 1 / (1 + math.exp(-scores[leader]))
            surprise = loss + m * (p * math.log(p) + (1 - p) * math.log(1 - p)) - 0.2
        else:
            surprise = min(2 * loss / self.usual, 20.0) - 3
            self.usual += (min(2 * loss, 20 * self.usual) - self.usual) / 300
        self.cusum = max(0.0, self.cusum + surprise)
        self.age += 1
        n, behind = self.dim + 1, self.votes[leader] - self.votes[SENTINEL]
        if self.pending and (self.age >= 3 * n or behind > 6 or (behind <= 0 and self.age >= 4)):
            self.pending = False
            self.won, self.lost = (
                (self.won + 1, self.lost) if behind <= 2 else (self.won, self.lost + 1)
            )
        if self.cusum <= 12 + 2.5 * late or (behind < 6 and self.age <= 3 * n):
            return
        self.cusum, self.age, self.pending, self.alarms = 0.0, 0.0, True, self.alarms + 1
        if leader == SENTINEL:
            self._copy(SENTINEL, LONG)
            self.votes[LONG], leader = self.votes[SENTINEL], LONG
        self._copy(leader, SENTINEL)
        one = self.filters[SENTINEL]
        U, _ = factored(one.P)
        one.P = (U * self._caps(one.ridge)) @ U.T
        one.learn(z, *self._step(float(one.theta @ z), one.q(z), y, m, 0.0))
        self.votes[SENTINEL] = self.votes[leader] + math.log(self.won / self.lost)
