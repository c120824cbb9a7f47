"""The running maximum likelihood: for each sample, the score by the samples before it."""

import numpy as np

from bench.league.stream import logistic as loss
from llr.types import Vector

RIDGE = 1e-6
"""Towards zero, of least squares: there is an answer before there are as many samples as features.
"""
PRIOR = 1.0
"""The same of the logistic one, which would be infinite while classes are still apart."""
OFTEN, SELDOM = 300, 20
"""The logistic one is solved anew at each of the first samples, later at every twentieth."""


def mean(y: Vector) -> Vector:
    """The mean of the labels so far; 0 before any."""
    return np.concatenate([[0.0], np.cumsum(y)[:-1] / np.arange(1, len(y))])


def coin(y: Vector) -> Vector:
    """The logit of (ones so far + ½)/(labels so far + 1)."""
    before = np.arange(len(y))
    p = (np.concatenate([[0.0], np.cumsum(y)[:-1]]) + 0.5) / (before + 1.0)
    return np.log(p / (1.0 - p))


def least_squares(X: Vector, y: Vector) -> Vector:
    """Of linear regression."""
    dim = X.shape[1]
    A, b = RIDGE * np.eye(dim), np.zeros(dim)
    s = np.empty(len(y))
    for t, (x, label) in enumerate(zip(X, y, strict=True)):
        s[t] = np.linalg.solve(A, b) @ x
        A += np.outer(x, x)
        b += label * x
    return s


def logistic(X: Vector, y: Vector) -> Vector:
    """Of logistic regression."""
    theta = np.zeros(X.shape[1])
    s = np.empty(len(y))
    for t, x in enumerate(X):
        s[t] = theta @ x
        if t < OFTEN or t % SELDOM == 0:
            theta = _climb(X[: t + 1], y[: t + 1], theta)
    return s


def _climb(X: Vector, y: Vector, theta: Vector) -> Vector:
    """Newton's method from where the last one ended, each step halved until it gains."""
    cost = _cost(X, y, theta)
    while True:
        p = 1.0 / (1.0 + np.exp(-(X @ theta)))
        slope = X.T @ (y - p) - PRIOR * theta
        bend = (X * (p * (1.0 - p))[:, None]).T @ X + PRIOR * np.eye(theta.size)
        step = np.linalg.solve(bend, slope)
        while (after := _cost(X, y, theta + step)) > cost:
            step = 0.5 * step
        theta = theta + step
        if cost - after < 1e-6:
            return theta
        cost = after


def _cost(X: Vector, y: Vector, theta: Vector) -> float:
    return float(loss(X @ theta, y).sum() + 0.5 * PRIOR * theta @ theta)
