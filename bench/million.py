"""What `auto` loses on a long stationary stream beyond its own filter that forgets nothing.

python -m bench million            a million samples of 20 features; --samples says otherwise

The filter is the long memory of the bank, asked before each sample: its score without bounds and
without the others. The difference is what mixing, bounds and alarms cost.
"""

import argparse
from collections.abc import Sequence

import numpy as np

import llr
from llr.auto.bank_layout import HEAD, first_filter
from llr.auto.layout import EACH, FIRST

SAMPLES, DIM, SEED = 1_000_000, 20, 0
BLOCK = 10_000


def beyond(samples: int = SAMPLES, seed: int = SEED) -> dict[int, float]:
    """The loss of `auto` beyond that of the filter, in nats, after 128 samples and each decade."""
    rng = np.random.default_rng([9, seed])
    theta, learner = rng.normal(size=DIM), llr.Learner("linear", DIM)
    shown, found, alone = _decades(samples), {}, 0.0
    for start in range(0, samples, BLOCK):
        X = rng.normal(size=(min(BLOCK, samples - start), DIM))
        y = X @ theta + 1.0 + rng.normal(size=len(X))
        for x, label in zip(X, y.tolist(), strict=True):
            alone += 0.5 * (label - _score(learner, x)) ** 2
            learner.learn(x, label)
            if learner.t in shown:
                found[learner.t] = learner.loss.total - alone
    return found


def _score(learner: llr.Learner, x: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> float:
    """The score of the bank's long memory."""
    if learner.t == 0:
        return 0.0
    bank = learner._state.scalars[FIRST + EACH :]  # type: ignore[union-attr]
    at = first_filter(DIM)
    return float(bank[at] + bank[at + 1 : at + 1 + DIM] @ (x - bank[HEAD : HEAD + DIM]))


def _decades(samples: int) -> set[int]:
    """128 samples, 1,000, ten times as many, and the last."""
    return {128, samples} | {10**k for k in range(3, 9) if 10**k < samples}


def main(given: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench million", description="see above")
    parser.add_argument("--samples", type=int, default=SAMPLES)
    for samples, nats in beyond(parser.parse_args(given).samples).items():
        print(f"{samples:>9,} samples: {nats:8.2f} nats")
