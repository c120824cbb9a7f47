"""What LLR is worth on the forgetting factor of a filter: beside the best factor, and the bank.

python -m bench forgetting         regret on truths that walk and that jump, seeds 0 to 2

A recursive least squares with forgetting, λ = 1 − η, is natural gradient with the learning rate η
(Ollivier 2018). So LLR can learn η as it learns that of SG: with the derivatives of θ and P by
log η, carried along the filter, log η goes up the slope of the loss of the next sample.
"""

import argparse
from collections.abc import Sequence

import numba
import numpy as np

from bench.league import drifting, ours
from bench.league.score import average
from bench.league.stream import losses
from bench.markdown import number, table
from llr.types import Vector

NAMES = ("gaussian-walk", "scales-walk", "gaussian-jump", "scales-jump")
SEEDS = (0, 1, 2)
MEMORIES = tuple(10.0 ** (k / 8) for k in range(6, 29))
"""Of the sweep: 1/η, from 6 to 3,200 samples."""
START, PRIOR = 100.0, 10.0
LEAST, MOST = np.log(1e-4), np.log(0.3)
GAINS = (0.0, 1.0, 5.0)
"""Of LLR: 0 is a factor that stays; 1 is the paper's rate, 5 that of `auto`."""


@numba.njit(error_model="numpy")
def scores(X: Vector, y: Vector, memory: float, gain: float) -> Vector:
    """The score of each sample before it is learnt."""
    n = X.shape[1]
    P, S = PRIOR * np.eye(n), np.zeros((n, n))
    theta, psi, s = np.zeros(n), np.zeros(n), np.empty(y.size)
    log_eta, square, seen = -np.log(memory), 0.0, 0.0
    for t in range(y.size):
        x = X[t]
        s[t], along = theta @ x, psi @ x
        e = y[t] - s[t]
        w = 1.0 / (np.sqrt(t + 2.0) * np.log(t + 3.0))
        square += w * ((e * along) ** 2 - square)
        seen += w * (1.0 - seen)
        if gain > 0.0 and square > 0.0:
            log_eta += gain * w * e * along / np.sqrt(square / seen)
            log_eta = min(max(log_eta, LEAST), MOST)
        eta = np.exp(log_eta)
        keep = 1.0 - eta
        S = S / keep + P * (eta / keep**2)
        P = P / keep
        b, db = P @ x, S @ x
        alpha, d_alpha = 1.0 + x @ b, x @ db
        psi += (db * e - b * along) / alpha - b * (e * d_alpha / alpha**2)
        theta += b * (e / alpha)
        both = np.outer(db, b)
        S += np.outer(b, b) * (d_alpha / alpha**2) - (both + both.T) / alpha
        P -= np.outer(b, b) / alpha
    return s


def regret(name: str, memory: float, gain: float) -> float:
    """The mean regret over the seeds, with an intercept, on features of like scales."""
    found = []
    for seed in SEEDS:
        drawn = drifting.drawn(name, seed)
        X = drawn.even
        if drawn.stream.features:
            X = np.column_stack([np.ones(len(X)), X])
        s = scores(np.ascontiguousarray(X), drawn.stream.y, memory, gain)
        found.append(float(losses(drawn.stream, s).sum()) - drifting.least(name, seed))
    return average(found)


def of_bank(name: str) -> float:
    """The same of `auto`."""
    return average(
        ours.total(drifting.stream(name, seed), "auto") - drifting.least(name, seed)
        for seed in SEEDS
    )


def main(given: Sequence[str]) -> None:
    """Print the table."""
    argparse.ArgumentParser(prog="python -m bench forgetting").parse_args(given)
    rows = []
    for name in NAMES:
        swept = {memory: regret(name, memory, 0.0) for memory in MEMORIES}
        best = min(swept, key=lambda memory: swept[memory])
        learnt = [regret(name, START, gain) for gain in GAINS[1:]]
        by = [f"{number(one)} ({one / swept[best]:.2f})" for one in learnt]
        rows.append((name, f"{number(swept[best])} ({best:.0f})", *by, number(of_bank(name))))
    headings = ("regret", "best factor (memory)", "LLR, rate 1 (by it)", "LLR, rate 5", "auto")
    print(table(headings, rows))
