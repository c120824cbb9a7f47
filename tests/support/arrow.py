"""Arrow IPC bodies as pyarrow writes them."""

import io
from typing import Any

import pyarrow as pa

HEADERS = {"content-type": "application/vnd.apache.arrow.stream"}


def stream(columns: Any, *, rows: int | None = None, file: bool = False, **options: Any) -> bytes:
    """A body of these columns, with so many rows in each of its batches."""
    table = columns if isinstance(columns, pa.Table) else pa.table(columns)
    buffer = io.BytesIO()
    new = pa.ipc.new_file if file else pa.ipc.new_stream
    with new(buffer, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table, max_chunksize=rows)
    return buffer.getvalue()


def of_samples(X: Any, **others: Any) -> bytes:
    """A body of the columns x0, x1, … and others, of which y must be one."""
    return stream({f"x{j}": column for j, column in enumerate(X.T)} | others)
