"""Draw which expert of `auto` leads when, on a stream whose truth jumps.

python -m bench leading                 writes docs/leading.png; --out FOLDER says otherwise
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
import numpy as np

mpl.use("agg")
from matplotlib import pyplot as plt

import llr
from llr.auto.bank_layout import EXPERTS, WEIGHTS
from llr.auto.layout import EACH, FIRST
from llr.types import Vector

N, DIM, JUMPS, SEED = 1500, 5, (500, 1000), 3
NAMES = ("long memory", "short memory", "sentinel", "constant", "first order")
COLOURS = ("#0072B2", "#56B4E9", "#D55E00", "#999999", "#E69F00")


def main(given: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench leading", description="who leads when")
    docs = Path(__file__).parent.parent / "docs"
    parser.add_argument("--out", type=Path, default=docs, help="folder to write to")
    path = parser.parse_args(given).out / "leading.png"
    draw(weights(), path)
    print(f"written: {path}")


def weights() -> Vector:
    """The weights of the experts after every sample."""
    rng = np.random.default_rng(SEED)
    X, found = rng.normal(size=(N, DIM)), np.empty((N, EXPERTS))
    learner, theta = llr.Learner("linear", DIM), rng.normal(size=DIM)
    for t in range(N):
        if t in JUMPS:
            theta = rng.normal(size=DIM)
        learner.learn(X[t], X[t] @ theta + 0.5 * rng.normal())
        bank = learner._state.scalars[FIRST + EACH :]  # type: ignore[union-attr]
        found[t] = bank[WEIGHTS : WEIGHTS + EXPERTS]
    return found


def draw(found: Vector, path: Path) -> None:
    mpl.rcParams.update({"font.size": 9})
    figure, axes = plt.subplots(figsize=(7.5, 2.8), layout="constrained")
    axes.stackplot(np.arange(1, N + 1), found.T, labels=NAMES, colors=COLOURS)
    for jump in JUMPS:
        axes.axvline(jump, color="black", linestyle=":", linewidth=1)
    axes.axvline(128, color="black", linewidth=0.5)
    axes.set(xlim=(1, N), ylim=(0, 1), xlabel="samples", ylabel="weight in the prediction")
    figure.legend(loc="outside upper center", ncols=len(NAMES), frameon=False)
    figure.savefig(path, dpi=150)
    plt.close(figure)
