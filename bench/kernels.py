"""How fast the learners are: beside one pass, late, by name, in threads, a call, at start-up.

    .venv/bin/python -m bench.kernels            the whole table
    .venv/bin/python -m bench.kernels --quick    smaller blocks, fewer rounds

`python -m bench` has other libraries beside them.

What is timed is the whole public call: one thread, float64, explicit seeds. A target that is missed
is printed, not raised. The race of threads needs two idle cores.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from typing import NamedTuple

os.environ.update({f"{name}_NUM_THREADS": "1" for name in ("OPENBLAS", "OMP", "MKL")})

import numba
import numpy as np
from rich.console import Console

import llr
from bench import sparse
from bench.race import (
    Contestant,
    Race,
    Row,
    Run,
    Times,
    beaten,
    below,
    measure,
    plain,
    table,
    within,
    yes,
)
from llr.types import Vector

SEED = 1
DIM = 50
LATE = 10_000_000
NOISE = 0.1
CALLS = 2000  # of what a request needs, in a turn
BLOCKS = 4  # that each of two learners takes in the race of threads
FIRST_STEP = f"import llr; llr.Learner('linear', dim={DIM}).learn([[0.5] * {DIM}], [1.0])"


class Scale(NamedTuple):
    """How much is measured: samples in a block, and turns of each contestant."""

    wide: int
    rounds: int
    starts: int
    compiles: int


FULL = Scale(wide=100_000, rounds=10, starts=6, compiles=2)
QUICK = Scale(wide=100_000, rounds=4, starts=2, compiles=1)


def samples(dim: int, n: int) -> tuple[Vector, Vector]:
    """The paper's regression with noise: without it, d=1 fits exactly and steps become cheaper."""
    X, y = llr.streams.regression(SEED, dim).take(n)
    return X, y + NOISE * np.random.default_rng(SEED + 1).normal(size=n)


def learning(learner: llr.Learner, X: Vector, y: Vector, times: int = 1) -> Run:
    def run() -> None:
        for _ in range(times):
            if not learner.learn(X, y):
                raise RuntimeError("the learner diverged: its time would say nothing")

    return run


def fresh(
    name: str, X: Vector, y: Vector, regret: str = "off", algorithm: str = "sg/ag"
) -> Contestant:
    def prepare() -> Run:
        learner = llr.Learner("linear", dim=X.shape[1], algorithm=algorithm, regret=regret)
        return learning(learner, X, y)

    return Contestant(name, len(y), prepare)


def one_pass(X: Vector) -> Contestant:
    theta = np.random.default_rng(SEED).normal(size=X.shape[1])
    return Contestant("one pass", len(X), lambda: lambda: X @ theta)


def wide_race(scale: Scale, X: Vector, y: Vector) -> Race:
    contestants = [fresh("llr", X, y), one_pass(X), fresh("exact", X, y, regret="exact")]
    contestants.append(fresh("auto", X, y, algorithm="auto"))

    def verdict(ns: Times) -> list[Row]:
        d = f"d={DIM}:"
        return [
            plain(f"{d} X @ theta, one pass", ns["one pass"]),
            within(f"{d} llr learn", ns["llr"], "one pass", ns["one pass"], 3.5),
            within(f"{d} the same by auto", ns["auto"], "llr", ns["llr"], 2.5),
            below(f'{d} llr learn, regret="exact"', ns["exact"], 2500.0),
        ]

    return Race(contestants, scale.rounds, verdict)


def age_race(scale: Scale, X: Vector, y: Vector) -> Race:
    old = llr.Learner("linear", dim=DIM, algorithm="sg/ag")
    learning(old, X, y, LATE // len(y))()
    late = Contestant("late", len(y), lambda: learning(old.copy(), X, y))

    def verdict(ns: Times) -> list[Row]:
        return [
            plain(f"d={DIM}: llr learn from t = 0", ns["early"]),
            within(f"d={DIM}: llr learn from t = 1e7", ns["late"], "early", ns["early"], 1.1),
        ]

    return Race([fresh("early", X, y), late], scale.rounds, verdict)


def thread_race(scale: Scale, X: Vector, y: Vector) -> Race:
    def pair() -> list[Run]:
        return [
            learning(llr.Learner("linear", dim=DIM, algorithm="sg/ag"), X, y, BLOCKS)
            for _ in range(2)
        ]

    def in_turn() -> Run:
        one, two = pair()
        return lambda: (one(), two())

    def verdict(ns: Times) -> list[Row]:
        apart, both = ns["in turn"], ns["together"]
        return [
            plain("two llr learners in two threads", both),
            beaten("the same, one after the other", apart, "in threads", both, 1.8),
        ]

    samples = 2 * BLOCKS * len(y)
    together = Contestant("together", samples, lambda: in_threads(pair()))
    return Race([Contestant("in turn", samples, in_turn), together], scale.rounds, verdict)


def in_threads(runs: list[Run]) -> Run:
    threads = [threading.Thread(target=run) for run in runs]

    def run() -> None:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    return run


def request_races(scale: Scale) -> list[Race]:
    """What one request needs, in ns a call: once with full rank, once with a feature always 0."""
    return [request_race(scale, dim) for dim in (10, DIM)]


def request_race(scale: Scale, dim: int) -> Race:
    X, y = samples(dim, 2000)
    flat = X.copy()
    flat[:, 1] = 0.0
    x, label = X[:1].copy(), y[:1].copy()

    def learnt(rows: Vector) -> llr.Learner:
        learner = llr.Learner("linear", dim=dim, regret="exact")
        learning(learner, rows, y)()
        return learner

    full, short = learnt(X), learnt(flat)
    calls: dict[str, Callable[[], object]] = {
        "learn one row": lambda: full.learn(x, label),
        "predict one row": lambda: full.predict(x),
        "regret": lambda: full.quick_regret,
        "regret, a feature always 0": lambda: short.quick_regret,
        "eta_status": lambda: full.eta_status,
    }

    def verdict(ns: Times) -> list[Row]:
        first = ns["learn one row"]
        others = [name for name in calls if name != "learn one row"]
        return [
            plain(f"d={dim}: learn one row, a call", first),
            *(within(f"d={dim}: {one}", ns[one], "learn one row", first, 1.5) for one in others),
        ]

    return Race([repeated(name, call) for name, call in calls.items()], scale.rounds, verdict)


def repeated(name: str, call: Callable[[], object]) -> Contestant:
    def run() -> None:
        for _ in range(CALLS):
            call()

    return Contestant(name, CALLS, lambda: run)


def start(**environment: str) -> None:
    """A new process imports llr and learns one sample."""
    command = [sys.executable, "-c", FIRST_STEP]
    subprocess.run(command, env=os.environ | environment, check=True, stderr=subprocess.DEVNULL)  # noqa: S603


def start_from_nothing() -> None:
    with tempfile.TemporaryDirectory() as folder:
        start(LLR_KERNELS=folder)


def start_race(what: str, run: Run, rounds: int, limit: float) -> Race:
    def verdict(ns: Times) -> list[Row]:
        seconds = ns[what] / 1e9
        return [Row(what, f"{seconds:.2f} s", "", f"< {limit:g} s", yes(seconds < limit))]

    return Race([Contestant(what, 1, lambda: run)], rounds, verdict)


def races(scale: Scale) -> list[Race]:
    X, y = samples(DIM, scale.wide)
    return [
        wide_race(scale, X, y),
        age_race(scale, X, y),
        sparse.race(scale.wide, scale.rounds, "sg/ag"),
        sparse.race(scale.wide, scale.rounds, "auto"),
        thread_race(scale, X, y),
        *request_races(scale),
        start_race("new process: import and first step", start, scale.starts, 2.0),
        start_race("the same, nothing compiled yet", start_from_nothing, scale.compiles, 60.0),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description="Time the learners.")
    parser.add_argument("--quick", action="store_true", help="smaller blocks, fewer rounds")
    scale = QUICK if parser.parse_args().quick else FULL
    load = f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.2f} before"
    rows = measure(lambda: races(scale))
    versions = (("numba", numba), ("numpy", np))
    print(", ".join(f"{name} {module.__version__}" for name, module in versions))
    print(f"{load} and {os.getloadavg()[0]:.2f} after")
    print(f"blocks of {scale.wide:,} (d={DIM}), best of {scale.rounds}")
    Console(width=100).print(table(rows))


if __name__ == "__main__":
    main()
