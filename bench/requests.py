"""Requests as bytes, made before anything is timed."""

import io
import json
from typing import Any

import numpy as np

from llr import streams
from llr.types import Vector

SEED = 1
NOISE = 0.1


def samples(dim: int, n: int) -> tuple[Vector, Vector]:
    """The paper's regression with noise."""
    X, y = streams.regression(SEED, dim).take(n)
    return X, y + NOISE * np.random.default_rng(SEED + 1).normal(size=n)


def request(method: str, path: str, body: bytes = b"", kind: str = "application/json") -> bytes:
    """A whole request, kept alive."""
    head = f"{method} {path} HTTP/1.1\r\nhost: localhost\r\n"
    length = f"content-type: {kind}\r\ncontent-length: {len(body)}\r\n" if body else ""
    return f"{head}{length}\r\n".encode() + body


def post(name: str, body: bytes, kind: str = "application/json") -> bytes:
    """Learn from a body."""
    return request("POST", f"/v1/sessions/{name}/samples", body, kind)


def put(name: str, **config: Any) -> bytes:
    """Create a session."""
    return request("PUT", f"/v1/sessions/{name}", json.dumps({"model": "linear"} | config).encode())


def head(name: str, length: int, kind: str) -> bytes:
    """All of a request to learn but its body."""
    path = f"/v1/sessions/{name}/samples"
    fields = f"host: localhost\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n"
    return f"POST {path} HTTP/1.1\r\n{fields}\r\n".encode()


def get(name: str) -> bytes:
    """Read a session's state."""
    return request("GET", f"/v1/sessions/{name}")


def as_json(X: Vector, y: Vector) -> list[bytes]:
    """A body for each sample."""
    pairs = zip(X.tolist(), y.tolist(), strict=True)
    return [json.dumps({"x": x, "y": label}).encode() for x, label in pairs]


def as_ndjson(X: Vector, y: Vector) -> bytes:
    """One body, a line a sample."""
    return b"\n".join(as_json(X, y)) + b"\n"


def as_npy(X: Vector, y: Vector) -> bytes:
    """One body, an array whose last column is y."""
    stream = io.BytesIO()
    np.save(stream, np.column_stack((X, y)))
    return stream.getvalue()
