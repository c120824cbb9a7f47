"""Files of samples, and what a session is that has learnt them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
from llr_client import State
from pyarrow import parquet

from llr import Learner

RNG = np.random.default_rng(4)
X = RNG.normal(size=(25, 3))
Y = RNG.normal(size=25)
NAMES = ("a", "b", "c")


def write(path: Path, kind: str, X: Any = X, y: Any = Y) -> Path:
    """A file of samples in a format."""
    file = path / f"samples.{kind}"
    if kind == "csv":
        cells = [map(repr, [*x.tolist(), float(v)]) for x, v in zip(X, y, strict=True)]
        lines = [",".join(row) for row in [(*NAMES, "y"), *cells]]
        file.write_text("\n".join(lines) + "\n")
    elif kind == "ndjson":
        rows = [{"x": x.tolist(), "y": float(v)} for x, v in zip(X, y, strict=True)]
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    elif kind == "npy":
        np.save(file, np.column_stack([X, y]))
    else:
        columns = dict(zip(NAMES, X.T, strict=True)) | {"y": y}
        parquet.write_table(pyarrow.table(columns), file, row_group_size=7)
    return file


def direct(X: Any, y: Any) -> Learner:
    learner = Learner("linear", X.shape[1], regret="exact")
    assert learner.learn(X, y)
    return learner


def assert_learnt(state: State, X: Any, y: Any) -> None:
    """The session is what learning these samples directly makes of it, to the last bit."""
    learner = direct(X, y)
    assert (state.t, state.theta, state.eta) == (learner.t, learner.theta.tolist(), learner.eta)
    assert (state.loss.total, state.regret.ml) == (learner.loss.total, learner.regret.ml)
