"""The filters of classes in plain Python with dense covariances: what the kernel is held to.

Written from its description, without regard to speed. The trust in bounds of scores is that of the
first-order learner, and is passed in.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def softmax(s: Array) -> Array:
    e = np.exp(s - s.max())
    shares: Array = e / e.sum()
    return shares


def joint_step(s: Array, q: Array, y: int, m: float) -> Array:
    """The g with g = m(e_y − π(s + g∘q)), by Newton's method on a convex function."""
    g, target = np.zeros_like(s), np.eye(len(s))[y]
    for _ in range(100):
        share = softmax(s + g * q)
        miss = g - m * (target - share)
        bend = np.eye(len(s)) + m * (np.diag(share) - np.outer(share, share)) * q
        step, size = np.linalg.solve(bend, miss), np.abs(miss).max()
        while size > 1e-14:
            share = softmax(s + (g - step) * q)
            if np.abs(g - step - m * (target - share)).max() < size:
                break
            step /= 2
        g = g - step
        if size <= 1e-14:
            break
    return g


@dataclass
class ClassFilters:
    """A filter for each class, beside the probabilities of a first-order learner."""

    dim: int
    classes: int

    def __post_init__(self) -> None:
        self.c, self.v, self.mean, self.spread = np.zeros((4, self.dim))
        self.votes, self.t, self.restarts = np.array([0.0, -1.0]), 0, 0
        self.kept: list[tuple[Array, int, float]] = []
        self.theta = np.zeros((self.classes, self.dim + 1))
        self.P = self._prior()

    def _prior(self) -> Array:
        with np.errstate(divide="ignore"):
            caps = [4.0, *np.where(self.v > 0, 1 / self.v, 0.0)]
        return np.array([np.diag(caps)] * self.classes)

    def _take_in(self, z: Array, y: int, m: float) -> None:
        b = self.P @ z
        s, q = self.theta @ z, b @ z
        g = joint_step(s, q, y, m)
        share = softmax(s + g * q)
        w = m * np.maximum(share * (1 - share), 1e-6)
        self.theta = self.theta + g[:, None] * b
        self.P = self.P - (w / (1 + w * q))[:, None, None] * b[:, :, None] * b[:, None, :]

    def learn(self, x: Array, y: int, first_order: Array, m: float, trust: float) -> Array:
        """Learn from one sample; returns the probabilities that were predicted."""
        t = self.t
        self.t += 1
        off = x - self.mean
        self.mean = self.mean + off / (t + 1)
        self.spread = self.spread + (off * (x - self.mean) - self.spread) / (t + 1)
        z = np.array([1.0, *(x - self.c)])
        near = z.copy()
        if t < 16:
            near[1:] = np.clip(z[1:], -np.sqrt(10 * self.v), np.sqrt(10 * self.v))
        s = self.theta @ near
        most = math.log(t + 1) if t else math.inf
        inside = np.clip(s, -most, most)
        s = inside + (1 - trust) * np.clip(s - inside, -20 * most, 20 * most)
        own, weights = softmax(s), np.exp(self.votes) / np.exp(self.votes).sum()
        together: Array = weights[0] * own + weights[1] * first_order
        losses = -m * np.log([own[y], first_order[y]])
        floor = -10 - max(0.0, math.log((t + 1) / 1000))
        self.votes = self.votes - np.minimum(losses - losses.min(), 8.0)
        self.votes = np.maximum(self.votes - self.votes.max(), floor)
        power = (t + 1) & t == 0
        if t < 16:
            self.kept.append((x, y, m))
        if t < 8 or (t < 16 and power):
            self.c, self.v = self.mean, self.spread * (t + 1) / max(t, 1) * (t > 0)
            self.theta, self.P = np.zeros_like(self.theta), self._prior()
            for row, label, weight in self.kept:
                self._take_in(np.array([1.0, *(row - self.c)]), label, weight)
        else:
            self._take_in(z, y, m)
        if t >= 16 and power:
            by = self.mean - self.c
            shift = np.eye(self.dim + 1)
            shift[0, 1:] = by
            self.theta, self.P = self.theta @ shift.T, shift @ self.P @ shift.T
            self.c, self.v = self.mean, self.spread
        if self.votes[0] <= floor:
            self.P, self.votes[0], self.restarts = self._prior(), -3.0, self.restarts + 1
        return together
