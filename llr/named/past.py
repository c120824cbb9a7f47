"""θ of some columns, and the past of the first of them by name."""

import numpy as np

from llr import history
from llr.history import History
from llr.layout import THETA
from llr.models import MODELS
from llr.named.config import NamedConfig
from llr.named.state import NamedState, shown
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
        theta = settled(config, state, state.version.read(np.arange(wide))).ravel()
        now = history.present(theta, state.scalars, state.counts, state.since)
        rows = np.vstack((rows, now))
    past = history.columns(rows, state.since.shape[1], compared=False)
    names = state.version.names[:wide]
    theta, low, high = (
        _by_name(each, wide, len(names)) for each in (past.theta, past.theta_low, past.theta_high)
    )
    if config.of_model.classes:
        names = [f"{name}[{k}]" for name in names for k in range(config.scores)]
    return past._replace(theta=theta, theta_low=low, theta_high=high, names=names)


def _by_name(theta: Vector, wide: int, names: int) -> Vector:
    """Score by score of so many columns, as name by name of those that have one."""
    named = theta.reshape(len(theta), -1, wide)[:, :, :names]
    by_name: Vector = named.transpose(0, 2, 1).reshape(len(theta), -1)
    return by_name
