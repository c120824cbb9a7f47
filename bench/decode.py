"""How fast bodies are decoded, beside pydantic-core or orjson with the checks that they need.

    python -m bench decode

Both sides take turns in one process, by processor time, best of all turns; the last column is how
many times as fast the service's decoder is. The other side parses without types, checks types and
finiteness, and makes the same arrays; it names no places in errors.
"""

import argparse
import json
import math
import struct
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import orjson
from llr_service.codec import decode_json, decode_ndjson, decode_query
from pydantic_core import from_json
from rich.console import Console
from rich.table import Table

from llr import NamedRows

SEED, KNOWN, LINES, SINGLES = 1, 100_000, 1000, 1000
TURNS, QUICK = 15, 3
NUMBERS = {int, float}
Parse = Callable[[bytes], Any]


def main(arguments: Sequence[str]) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench decode", description="Time decoders.")
    parser.add_argument("--quick", action="store_true", help="fewer turns")
    turns = QUICK if parser.parse_args(arguments).quick else TURNS
    table = Table("body", "us a sample", "pydantic-core", "orjson", "x pydantic", "x orjson")
    for name, (samples, *contestants) in bodies().items():
        ours, pydantic, fast = (us / samples for us in interleaved(contestants, turns))
        ratios = (f"{pydantic / ours:.2f}", f"{fast / ours:.2f}")
        table.add_row(name, *(f"{us:.2f}" for us in (ours, pydantic, fast)), *ratios)
    Console().print(table)


def bodies() -> dict[str, tuple[Any, ...]]:
    """What is decoded: how many samples, and by which functions."""
    rng = np.random.default_rng(SEED)
    found: dict[str, tuple[Any, ...]] = {}
    for d in (10, 50):
        x = json.dumps({"x": rng.normal(size=d).tolist(), "y": 1.25}).encode()
        found[f"one sample, d = {d}"] = _singly(lambda body: decode_json(body, True), one, x)
    rows = rng.normal(size=(LINES, 30)).tolist()
    named = [dict(zip(_names(rng), row, strict=True)) for row in rows]
    ask = json.dumps({"x": rows[0][:10]}).encode()
    found["one query, d = 10"] = _singly(lambda body: decode_query(body, True), query, ask)
    alone = json.dumps({"x": named[0], "y": 1.25}).encode()
    found["one sample, 30 named"] = _singly(lambda body: decode_json(body, True), one_named, alone)
    for name, xs, other in (("30 numbers", rows, lines), ("30 named", named, named_lines)):
        text = b"".join(json.dumps({"x": x, "y": 1.25}).encode() + b"\n" for x in xs)
        found[f"NDJSON, {name}"] = (LINES, *_contest(_block, other, text))
    return found


def interleaved(contestants: list[Callable[[], object]], turns: int) -> list[float]:
    """The best time of each in µs, each having its turn after the other."""
    best = [math.inf] * len(contestants)
    for _ in range(turns):
        for i, contestant in enumerate(contestants):
            start = time.process_time()
            contestant()
            best[i] = min(best[i], 1e6 * (time.process_time() - start))
    return best


def one(parse: Parse, body: bytes) -> object:
    """One sample of numbers."""
    value = parse(body)
    x, y = value["x"], value["y"]
    return _checked([x], [y]) if value.keys() == {"x", "y"} else None


def query(parse: Parse, body: bytes) -> object:
    """One row to predict for."""
    value = parse(body)
    return _checked([value["x"]], []) if value.keys() == {"x"} else None


def one_named(parse: Parse, body: bytes) -> object:
    """One sample of named features."""
    value = parse(body)
    return _checked_names([value["x"]], [value["y"]])


def lines(parse: Parse, block: bytes) -> object:
    """A sample of numbers a line."""
    values = [parse(line) for line in block.split(b"\n") if line]
    return _checked([value["x"] for value in values], [value["y"] for value in values])


def named_lines(parse: Parse, block: bytes) -> object:
    """A sample of named features a line."""
    values = [parse(line) for line in block.split(b"\n") if line]
    return _checked_names([value["x"] for value in values], [value["y"] for value in values])


def _checked(rows: list[list[Any]], labels: list[Any]) -> object:
    """Rows and labels as arrays, if they are finite numbers."""
    pack = struct.Struct(f"{len(rows[0])}d").pack
    for row in (*rows, labels):
        if not NUMBERS.issuperset(map(type, row)):
            raise TypeError
    X = np.frombuffer(b"".join([pack(*row) for row in rows])).reshape(len(rows), -1)
    y = np.array(labels, np.float64)
    if not (np.isfinite(X).all() and np.isfinite(y).all()):
        raise ValueError
    return X, y


def _checked_names(rows: list[dict[str, Any]], labels: list[Any]) -> object:
    return NamedRows.of(rows), np.array(labels, np.float64)


def _block(block: bytes) -> object:
    return decode_ndjson(block, 1, features=True)


def _contest(ours: Parse, other: Callable[[Parse, bytes], object], body: bytes) -> tuple[Any, ...]:
    def strict(text: bytes) -> Any:
        return from_json(text, allow_inf_nan=False, cache_strings="none")

    return lambda: ours(body), lambda: other(strict, body), lambda: other(orjson.loads, body)


def _singly(ours: Parse, other: Callable[[Parse, bytes], object], body: bytes) -> tuple[Any, ...]:
    """The same a thousand times, as one takes too little to be timed."""

    def repeated(once: Callable[[], object]) -> Callable[[], object]:
        return lambda: [once() for _ in range(SINGLES)]

    return SINGLES, *map(repeated, _contest(ours, other, body))


def _names(rng: np.random.Generator) -> list[str]:
    return [f"feature-{i}" for i in rng.choice(KNOWN, 30, replace=False).tolist()]
