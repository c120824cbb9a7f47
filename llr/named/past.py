"""θ of some columns, and the past of the first of them by name."""

import numpy as np

from llr import history
from llr.history import History
from llr.layout import ETA, LOG_ETA, LOSS, REGRET, THETA
from llr.models import MODELS
from llr.named.config import NamedConfig
from llr.named.state import NamedState, shown
from llr.recorder import COLUMNS
from llr.types import Vector


def settled(config: NamedConfig, state: NamedState, columns: Vector) -> Vector:
    """θ of these columns, score × column, as it is in this state."""
    sparse = config.of_algorithm.sparse
    if sparse is None or sparse.settle is None or state.t == 0:
        theta: Vector = columns[:, sparse.starting[0] if sparse else THETA].T
        return theta
    vectors = np.ascontiguousarray(columns.transpose(1, 2, 0))
    sparse.settle(list(MODELS).index(config.model), vectors, state.scalars.copy())
    mixed: Vector = vectors[THETA]
    return mixed


def read(config: NamedConfig, state: NamedState) -> History:
    """The past, ending with the present; of θ the first columns that have a name by now."""
    rows, wide = history.used(state), shown(config)
    if rows[-1, 0] != state.t:
        rows = np.vstack((rows, _present(config, state, rows.shape[1])))
    t, log_eta, eta, loss, _ = rows[:, :COLUMNS].T.copy()
    names = state.version.names[:wide]
    theta = rows[:, COLUMNS:].reshape(len(rows), -1, wide)[:, :, : len(names)]
    by_name = theta.transpose(0, 2, 1).reshape(len(rows), -1)
    if config.of_model.classes:
        names = [f"{name}[{k}]" for name in names for k in range(theta.shape[1])]
    return History(t.astype(np.int64), log_eta, eta, loss, None, by_name, names)


def _present(config: NamedConfig, state: NamedState, width: int) -> Vector:
    theta = settled(config, state, state.version.read(np.arange(shown(config))))
    numbers = state.scalars[[LOG_ETA, ETA, LOSS, REGRET]]
    row = np.concatenate(([float(state.t)], numbers, theta.ravel()))
    return row[:width]
