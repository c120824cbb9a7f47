"""Arrow IPC bytes to record batches that can be read: bounded, uncompressed, of flat types.

pyarrow parses the messages and keeps its arrays inside the body. What it leaves to its caller is
done here: nothing is decompressed, no dictionary grows by deltas, the types are few, and buffers
that several columns share do not make a small body large.
"""

import importlib
import struct
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

from llr_service.problems import Problem

ARROW = "application/vnd.apache.arrow.stream"

EXPANSION, ALLOWANCE = 16, 1 << 20
"""The samples of a body may take so many times its bytes, and so many bytes more."""

CELL = 8
FILE_START, FILE_END = b"ARROW1\0\0", b"ARROW1"
OLD_COMPRESSION = b"ARROW:experimental_compression"
HEADER, BATCH_COMPRESSION, DICTIONARY_DATA, IS_DELTA = 2, 3, 1, 2
"""Fields by their numbers in Arrow's Message.fbs."""

U16, I32, U32 = struct.Struct("<H"), struct.Struct("<i"), struct.Struct("<I")


def read_batches(body: bytes, check_schema: Callable[[Any], None]) -> Iterator[Any]:
    """The record batches of a stream, or of a file, in order; `check_schema` comes before them.

    Raises a Problem for what is no Arrow IPC, or beyond the bounds. The buffers of a batch have the
    sizes that its arrays need; what is in them is not checked yet.
    """
    arrow = _pyarrow()
    is_file = body.startswith(FILE_START)
    if is_file and not body.endswith(FILE_END):
        raise Problem("malformed", "the Arrow file does not end as it should: it was cut short")
    buffer = arrow.py_buffer(body)
    stream = buffer.slice(len(FILE_START)) if is_file else buffer
    taken = 0
    try:
        _check_messages(arrow, stream, is_file)
        options = arrow.ipc.IpcReadOptions(use_threads=False)
        reader = arrow.ipc.open_stream(stream, options=options)
        check_schema(reader.schema)
        for batch in reader:
            batch.validate()
            taken += _size(batch)
            if taken > EXPANSION * len(body) + ALLOWANCE:
                detail = f"the samples take more than {EXPANSION} times the {len(body)} bytes"
                raise Problem("too-large", f"{detail} of the body: send fewer at once")
            yield batch
    except (Problem, GeneratorExit):
        raise
    except Exception:  # whatever forged metadata makes of a parser
        raise not_arrow() from None


def validate(column: Any) -> None:
    """Raise a Problem unless the values of an array can be read, whoever wrote its bytes."""
    try:
        column.validate(full=True)
    except ValueError:
        raise not_arrow() from None


def not_arrow() -> Problem:
    """What is said to bytes that are no Arrow IPC."""
    return Problem("malformed", "the body is not an Arrow IPC stream, or it is damaged")


def _pyarrow() -> ModuleType:
    try:
        importlib.import_module("pyarrow.ipc")
        return importlib.import_module("pyarrow")
    except ImportError:
        detail = f"{ARROW} needs pyarrow where the service runs: pip install 'llr[parquet]'"
        raise Problem("unsupported-type", detail) from None


def _check_messages(arrow: ModuleType, stream: Any, is_file: bool) -> None:
    """Raise for compression, deltas and bytes after the end; reads no buffer."""
    source = arrow.BufferReader(stream)
    for message in arrow.ipc.MessageReader.open_stream(source):
        kind, data = message.type, message.metadata.to_pybytes()
        batch = _field(data, _table(data, 0), HEADER)
        if kind == "dictionary":
            dictionary = _table(data, batch)
            delta = _field(data, dictionary, IS_DELTA)
            if delta and data[delta]:
                raise Problem("invalid", "the Arrow stream has delta dictionaries: send whole ones")
            batch = _field(data, dictionary, DICTIONARY_DATA)
        elif kind != "record batch":
            continue
        if OLD_COMPRESSION in data or _field(data, _table(data, batch), BATCH_COMPRESSION):
            raise Problem("invalid", "the Arrow stream is compressed: send it uncompressed")
    if not is_file and source.tell() != len(stream):
        raise Problem("malformed", "the body goes on after the end of the Arrow stream")


def _table(data: bytes, at: int) -> int:
    """Where the flatbuffers table is that the offset at this place points to."""
    return at + int(U32.unpack_from(data, at)[0])


def _field(data: bytes, table: int, number: int) -> int:
    """Where a field of a flatbuffers table is; 0 if the table has none.

    pyarrow has verified the flatbuffer, so that all offsets are within it.
    """
    fields = table - int(I32.unpack_from(data, table)[0])
    slot = 4 + 2 * number
    if slot >= U16.unpack_from(data, fields)[0]:
        return 0
    offset = int(U16.unpack_from(data, fields + slot)[0])
    return table + offset if offset else 0


def _size(batch: Any) -> int:
    """The bytes that the samples of a batch take: a number a cell, and the texts."""
    total = CELL * batch.num_rows * batch.num_columns
    for column in batch.columns:
        if str(column.type) in ("string", "large_string"):
            total += sum(buffer.size for buffer in column.buffers() if buffer is not None)
    return int(total)
