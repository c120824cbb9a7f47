"""What hostile clients send: bodies that are none, and what their answers have to be."""

import io
import json
import math
import os
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

JSON, NDJSON, NPY = "application/json", "application/x-ndjson", "application/x-npy"
ARROW = "application/vnd.apache.arrow.stream"
KINDS = (JSON, NDJSON, NPY, ARROW, "application/octet-stream", "application/json+x", "")
"""What a body can be said to be, rightly or not."""


def strictly(text: str) -> Any:
    """JSON as the standard has it, in which every number is finite."""

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    def finite(digits: str) -> float:
        assert math.isfinite(float(digits)), digits
        return float(digits)

    return json.loads(text, parse_constant=refuse, parse_float=finite)


class Canary:
    """Sings when it is unpickled."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> tuple[Any, ...]:
        return (os.mkdir, (str(self.file),))


def npy(array: Any, **options: Any) -> bytes:
    """An array as numpy writes it."""
    buffer = io.BytesIO()
    np.save(buffer, array, **options)
    return buffer.getvalue()


def arrow(columns: Any, **options: Any) -> bytes:
    """Columns as an Arrow IPC stream."""
    table, buffer = pa.table(columns), io.BytesIO()
    with pa.ipc.new_stream(buffer, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as out:
        out.write_table(table)
    return buffer.getvalue()


def bodies(canary: Canary) -> dict[str, bytes]:
    """Bodies that hold no samples, whatever they are said to be."""
    good, archive, packed = npy(np.ones((2, 3))), io.BytesIO(), io.BytesIO()
    np.savez(archive, samples=np.ones((2, 3)))
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as inside:
        inside.writestr("samples.json", b"1" * 1_000_000)
    return {
        "nothing": b"",
        "nested lists": b"[" * 30_000 + b"]" * 30_000,
        "nested objects": b'{"x":' * 10_000 + b"1" + b"}" * 10_000,
        "a nested x": b'{"x":' + b"[" * 500 + b"1" + b"]" * 500 + b',"y":1}',
        "no end": b'{"x":[1,2],"y":1',
        "two values": b'{"x":[1,2],"y":1}{"x":[1,2],"y":1}',
        "ragged rows": b'{"x":[[1,2],[3]],"y":[1,2]}',
        "fewer labels": b'{"x":[[1,2],[3,4]],"y":[1]}',
        "a digit too many": b'{"x":[1,2],"y":' + b"1" * 20_000 + b"}",
        "no text": b"\xff\xfe{\x00}\x00",
        "half a pair": b'{"x":[1,2],"y":1,"\\ud800":1}',
        "pickle": pickle.dumps(canary),
        "npy of objects": npy(np.array([[canary, 1, 2]], object), allow_pickle=True),
        "npy of text": npy(np.array([["1", "2", "3"]])),
        "npy of complex": npy(np.ones((2, 3), complex)),
        "npy of records": npy(np.zeros(2, [("x", "f8"), ("y", "f8")])),
        "npy of three axes": npy(np.ones((2, 3, 3))),
        "npy without rows": npy(np.ones((0, 3))),
        "npy of another width": npy(np.ones((2, 9))),
        "npy cut short": good[:-1],
        "npy too long": good + b"\0",
        "npy of a petabyte": good.replace(b"(2, 3), }           ", b"(9999999999999, 3), }"),
        "npy of less than nothing": good.replace(b"(2, 3)", b"(-2,3)"),
        "npy that calls": good.replace(b"(2, 3), }", b"exit(), }"),
        "arrow without labels": arrow({"a": [1.0], "b": [2.0]}),
        "arrow of lists": arrow({"a": [[1.0]], "b": [[2.0]], "y": [1.0]}),
        "arrow of pickles": arrow({"a": [pickle.dumps(canary)], "b": [1.0], "y": [1.0]}),
        "arrow of nulls": arrow({"a": [1.0], "b": [2.0], "y": pa.array([None], pa.float64())}),
        "arrow of zeros, packed": arrow(dict.fromkeys("aby", np.zeros(10_000)), compression="zstd"),
        "npz": archive.getvalue(),
        "zip": packed.getvalue(),
    }
