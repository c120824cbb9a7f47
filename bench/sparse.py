"""Named features beside dense ones: what a sample with 30 of 100,000 known features costs."""

import numpy as np

import llr
from bench.race import Contestant, Race, Row, Run, Times, plain, within
from llr.types import Vector

SEED = 1
KNOWN = 100_000
PRESENT = 30
RECURRING = 3_000
NAMES = [f"feature-{column}" for column in range(KNOWN)]
MOST = 3.0


def samples(n: int, among: int) -> tuple[llr.NamedRows, Vector, Vector]:
    """Samples of 30 features among so many of those known, by name and as rows, and labels."""
    rng = np.random.default_rng(SEED)
    among -= among % PRESENT
    columns = rng.integers(0, among // PRESENT, (n, PRESENT)) * PRESENT + np.arange(PRESENT)
    X = rng.normal(size=(n, PRESENT))
    used, at, places = np.unique(columns, return_index=True, return_inverse=True)
    order = np.argsort(at)
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)
    names = [NAMES[column * (KNOWN // among)] for column in used[order]]
    starts = PRESENT * np.arange(n + 1)
    rows = llr.NamedRows(names, starts, rank[places].ravel(), X.ravel())
    return rows, X, X @ rng.normal(size=PRESENT) + 0.1 * rng.normal(size=n)


def knowing(algorithm: str) -> llr.NamedLearner:
    """A learner that knows all of the names."""
    learner = llr.NamedLearner("linear", algorithm, max_features=KNOWN)
    starts, columns = np.arange(0, KNOWN + 1, 100), np.arange(KNOWN)
    learner.learn(llr.NamedRows(NAMES, starts, columns, np.ones(KNOWN)), np.zeros(KNOWN // 100))
    return learner


def race(n: int, rounds: int, algorithm: str) -> Race:
    """Dense samples, named ones of features that recur, and named ones of any features."""
    contestants = []
    for what, among in (("recurring", RECURRING), ("any", KNOWN)):
        rows, X, y = samples(n, among)
        contestants.append(by_name(what, knowing(algorithm), rows, y))
    contestants.append(dense(algorithm, X, y))

    def verdict(ns: Times) -> list[Row]:
        d, base = f"d={PRESENT}: {algorithm}", ns["dense"]
        what = f"{PRESENT} of {KNOWN:,} known features, {algorithm}"
        return [
            plain(f"{d} learn", base),
            within(f"{what}: any of {RECURRING:,}", ns["recurring"], "dense", base, MOST),
            within(f"{what}: any of all", ns["any"], "dense", base, MOST),
        ]

    return Race(contestants, rounds, verdict)


def by_name(what: str, learner: llr.NamedLearner, rows: llr.NamedRows, y: Vector) -> Contestant:
    return Contestant(what, len(y), lambda: lambda: learner.learn(rows, y))


def dense(algorithm: str, X: Vector, y: Vector) -> Contestant:
    def prepare() -> Run:
        learner = llr.Learner("linear", PRESENT, algorithm)
        return lambda: learner.learn(X, y)

    return Contestant("dense", len(y), prepare)
