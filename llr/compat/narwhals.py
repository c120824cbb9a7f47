"""Frames of pandas, polars and pyarrow as samples of named features.

A column is a feature under its name. Strings and categories are one-hot, `city=Rome`, and a missing
value is a missing feature, which counts as 0. `llr.NamedLearner` takes frames directly:

>>> import llr, pandas
>>> flats = pandas.DataFrame({"rooms": [3, 2], "city": ["Rome", None], "price": [2.1, 1.5]})
>>> learner = llr.NamedLearner("linear")
>>> learner.learn(flats, "price").accepted
2
>>> list(learner.theta), learner.predict(flats[["city", "rooms"]]).shape
(['rooms', 'city=Rome'], (2,))
"""

from collections.abc import Collection
from typing import Any

import narwhals as nw
import numpy as np

from llr.errors import DtypeError, FeatureError, SampleError
from llr.named import NamedRows

WORDS = (nw.String, nw.Categorical, nw.Enum)


def samples(frame: Any, y: Any, w: Any = None) -> tuple[NamedRows, Any, Any]:
    """The features, labels and weights of a frame.

    Args:
        frame: a row a sample.
        y: the name of the column of labels, or the labels.
        w: the name of the column of weights, or the weights.
    """
    table = _table(frame)
    apart = {name for name in (y, w) if isinstance(name, str)}
    for name in apart:
        if name not in table.columns:
            raise FeatureError("is no column of the frame", feature=name)
    labels = _values(table[y]) if isinstance(y, str) else y
    weights = _values(table[w]) if isinstance(w, str) else w
    return rows(table, without=apart), labels, weights


def rows(frame: Any, *, without: Collection[str] = ()) -> NamedRows:
    """The features of a frame, of all columns but some.

    >>> import polars
    >>> found = rows(polars.DataFrame({"a": [1, None], "b": [True, False]}))
    >>> found.names, found.starts.tolist(), found.values.tolist()
    (['a', 'b'], [0, 2, 3], [1.0, 1.0, 0.0])
    """
    table = _table(frame)
    columns = [name for name in table.columns if name not in without]
    shape, known = (len(table), len(columns)), dict[str, int]()
    numbers, values = np.full(shape, -1), np.ones(shape)
    for at, name in enumerate(columns):
        if not isinstance(name, str):
            raise DtypeError(f"a name must be a string, not {name!r:.50}")
        series = table[name]
        there = ~series.is_null().to_numpy()
        if not there.any():
            continue
        series, kind = series.drop_nulls(), series.dtype
        if kind.is_numeric() or kind == nw.Boolean:
            numbers[there, at] = known.setdefault(name, len(known))
            values[there, at] = series.cast(nw.Float64).to_numpy()
        elif kind in WORDS:
            words = [f"{name}={word}" for word in series.cast(nw.String).to_list()]
            numbers[there, at] = [known.setdefault(word, len(known)) for word in words]
        else:
            reason = f"must be numbers, true or false, or strings, not {kind}"
            raise DtypeError(reason, feature=name)
    there = numbers >= 0
    starts = np.concatenate(([0], there.sum(axis=1).cumsum()))
    names = list(known)
    cells = [names[number] for number in numbers[there].tolist()]
    return NamedRows.from_cells(cells, starts, values[there])


def _table(frame: Any) -> nw.DataFrame[Any]:
    try:
        return nw.from_native(frame, eager_only=True)
    except (TypeError, ValueError) as error:  # not a frame, or two columns of one name
        raise SampleError(str(error)) from None


def _values(series: nw.Series[Any]) -> Any:
    """Labels or weights as numbers, or as the names of classes."""
    if series.dtype in WORDS:
        return series.cast(nw.String).to_list()
    return series.cast(nw.Float64).to_numpy()
