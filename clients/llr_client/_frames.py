"""Frames of pandas, polars and pyarrow as samples whose features have the columns' names.

Missing values are missing features. Needs narwhals, the extra `frames`.
"""

from collections.abc import Iterable
from typing import Any


def is_frame(values: Any) -> bool:
    """Whether it is a table: all three libraries export Arrow, and a table has several columns."""
    return hasattr(values, "__arrow_c_stream__") and len(getattr(values, "shape", ())) == 2


def frame_samples(frame: Any, y: Any, w: Any) -> tuple[list[dict[str, Any]], Any, Any]:
    """The features, labels and weights of a frame; `y` and `w` may be the names of columns."""
    apart = {name for name in (y, w) if isinstance(name, str)}
    table = _table(frame)
    for name in apart:
        if name not in table.columns:
            raise ValueError(f"the frame has no column {name!r}")
    columns = [table[each].to_list() if isinstance(each, str) else _listed(each) for each in (y, w)]
    return (_rows(table, [name for name in table.columns if name not in apart]), *columns)


def frame_rows(frame: Any) -> list[dict[str, Any]]:
    """The features of a frame, a dict a row."""
    table = _table(frame)
    return _rows(table, table.columns)


def _table(frame: Any) -> Any:
    try:
        import narwhals  # noqa: PLC0415 - an extra
    except ImportError:
        raise ImportError("frames need narwhals: pip install 'llr-client[frames]'") from None
    return narwhals.from_native(frame, eager_only=True)


def _rows(table: Any, columns: Iterable[str]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = [{} for _ in range(len(table))]
    for name in columns:
        missing = table[name].is_null().to_list()
        for row, value, absent in zip(rows, table[name].to_list(), missing, strict=True):
            if not absent:
                row[name] = value
    return rows


def _listed(values: Any) -> Any:
    """A series as a list; anything else as it is."""
    for method in ("to_list", "to_pylist"):
        if hasattr(values, method):
            return getattr(values, method)()
    return values
