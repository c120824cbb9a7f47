"""Samples of named features on the columns of one learner: brought together, and put back."""

import numpy as np

from llr.errors import FeatureError
from llr.kernels.jit import COUNTS, INT, READ_COUNTS, READ_VECTOR, VECTOR, kernel
from llr.kernels.layout import NEXT, NO_NUMBERS, NONE, Rows, T
from llr.named.config import NamedConfig
from llr.named.feature_rows import NamedRows
from llr.named.state import NamedState, resized, shown
from llr.state import State
from llr.types import Counts, Vector

NOWHERE = np.array([-1])
"""Where columns stand if there are none: kernels tell by it that features have names."""


class TouchedColumns:
    """Some samples, and the columns of a state that they touch.

    Kernels work on a copy of those columns, so a state that cannot be kept is just dropped.

    Attributes:
        rows: the samples as kernels take them, their columns counted among those touched.
    """

    def __init__(
        self, config: NamedConfig, state: NamedState, samples: NamedRows, learns: bool = True
    ) -> None:
        self._config, self._state, self._samples = config, state, samples
        version, names = state.version, samples.names
        if learns:
            columns, self._added = version.columns(names)
            _check_most(config, samples, columns, version.size + len(self._added))
        else:
            columns, self._added = version.find(names), []
        starts, local, values = samples.starts, samples.columns, samples.values
        self._ranks: Counts | None = None
        shared = version.size + len(self._added) > config.max_features
        if shared and _collide(columns[columns >= config.max_features]):
            columns, self._ranks = _first_of_each(columns)
            starts, local, values = merged(starts, self._ranks[local], values, columns.size)
        due = learns and state.counts.item(NEXT) - state.counts.item(T) <= samples.n
        last = _last_columns(columns, shown(config)) if due else (columns, NONE)
        self._touched, (self._columns, shown_at) = columns, last
        places = self._columns if self._columns.size else NOWHERE
        self.rows = Rows(values.reshape(1, -1), starts, local, shown_at, places)

    def working_copy(self) -> State:
        """A state of the columns touched alone, to learn on."""
        state, scalars = self._state, self._state.scalars.copy()
        if self._added:
            scalars = resized(self._config, scalars, state.version.size + len(self._added))
        return State(
            state.version.read(self._columns),
            scalars,
            state.counts.copy(),
            NO_NUMBERS,
            state.history if state.version.newest else state.history.copy(),
            state.since.copy(),
            state.calibration.copy(),
            state.metrics.copy(),
        )

    def learnt(self, after: State, accepted: int) -> NamedState:
        """The whole state after the first so many samples, which left the columns touched so."""
        if not accepted:
            return self._state
        samples, version = self._samples, self._state.version
        names, added = samples.names, self._added
        if accepted < samples.n:  # names that come up later are not known yet
            names = names[: 1 + int(samples.columns[: samples.starts[accepted]].max(initial=-1))]
            added = version.columns(names)[1]
        touched = len(names)
        if self._ranks is not None:
            touched = 1 + int(self._ranks[:touched].max(initial=-1))
        after_it = version.replaced(self._touched[:touched], after.vectors[:touched], added)
        scalars = resized(self._config, after.scalars, after_it.size)
        past = after.history, after.since, after.calibration, after.metrics
        return NamedState(after_it, scalars, after.counts, *past)


def _check_most(config: NamedConfig, samples: NamedRows, columns: Counts, known: int) -> None:
    """Raise for the first name that is one too many for the algorithm."""
    most = config.most_names
    if most is not None and known > most:
        name = int(np.argmax(columns >= most))
        at = np.argmax(samples.columns == name)
        index = int(np.searchsorted(samples.starts, at, side="right")) - 1
        reason = f"is a new name, and {config.algorithm} learns at most {most} of them"
        raise FeatureError(reason, index, feature=samples.names[name])


def _collide(shared: Counts) -> bool:
    """Whether several names have the same of these columns."""
    return bool(shared.size > 1 and np.unique(shared).size < shared.size)


def _first_of_each(columns: Counts) -> tuple[Counts, Counts]:
    """Each column once, in the order of first appearance, and which of them each was."""
    _, at, ranks = np.unique(columns, return_index=True, return_inverse=True)
    order = np.argsort(at)
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    return columns[at[order]], place[ranks]


def _last_columns(columns: Counts, most: int) -> tuple[Counts, Counts]:
    """These columns and then those of the first `most` that are missing; where those first are."""
    places = np.full(most, -1)
    early = np.flatnonzero((columns >= 0) & (columns < most))
    places[columns[early]] = early
    missing = np.flatnonzero(places < 0)
    places[missing] = np.arange(columns.size, columns.size + missing.size)
    return np.concatenate((columns, missing)), places


def merged(
    starts: Counts, columns: Counts, values: Vector, most: int
) -> tuple[Counts, Counts, Vector]:
    """The samples with the values added up that a sample has in the same of `most` columns."""
    begins, once, sums = np.zeros_like(starts), np.empty_like(columns), np.empty_like(values)
    n = _merge(starts, columns, values, np.full(most, -1), begins, once, sums)
    return begins, once[:n], sums[:n]


@kernel(INT(READ_COUNTS, READ_COUNTS, READ_VECTOR, COUNTS, COUNTS, COUNTS, VECTOR), long=False)
def _merge(
    starts: Counts,
    columns: Counts,
    values: Vector,
    places: Counts,
    begins: Counts,
    once: Counts,
    sums: Vector,
) -> int:
    """`merged`; returns how many values are left. `places` has a −1 for each column."""
    n = 0
    for i in range(starts.size - 1):
        for j in range(starts[i], starts[i + 1]):
            place = places[columns[j]]
            if place < begins[i]:
                place, n = n, n + 1
                places[columns[j]], once[place], sums[place] = place, columns[j], 0.0
            sums[place] += values[j]
        begins[i + 1] = n
    return n
