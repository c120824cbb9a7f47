"""What producers send: endless streams of samples, known by their number, in every encoding."""

import io
import json
from typing import Any

import numpy as np

import llr
from llr.types import Vector

DIM = 4
POOL = 1009
CONFIG = {"model": "linear", "dim": DIM}
NDJSON = "application/x-ndjson"


class Stream:
    """The samples of one producer: number i is the same whenever it is sent."""

    def __init__(self, seed: int) -> None:
        self._pool = np.random.default_rng(seed).normal(size=(POOL, DIM + 1))

    def rows(self, start: int, stop: int) -> Vector:
        """Samples start … stop − 1, a row each: x, then y."""
        picked: Vector = self._pool[np.arange(start, stop) % POOL]
        return picked


class Replay:
    """A learner of the library that follows a session by the numbers of its samples."""

    def __init__(self, learner: llr.Learner | None = None) -> None:
        self.learner = learner or llr.Learner("linear", DIM, regret="exact")

    def learn(self, rows: Vector) -> None:
        """Learn what the session has learnt."""
        if len(rows):
            assert self.learner.learn(rows[:, :-1], rows[:, -1])

    def equals(self, snapshot: dict[str, Any]) -> bool:
        """Whether a session's snapshot is this state to the last bit."""
        return llr.Learner.from_plain(snapshot["state"]).pack() == self.learner.pack()

    def difference(self, snapshot: dict[str, Any]) -> str:
        """Where a snapshot is not this state."""
        mine, its = self.learner.to_plain(), snapshot["state"]
        arrays = [name for name in mine["arrays"] if mine["arrays"][name] != its["arrays"][name]]
        return f"{snapshot['name']} at {snapshot['t']}: {', '.join(arrays) or 'config or order'}"


def as_json(rows: Vector) -> tuple[bytes, str]:
    """One sample as such, more as a list."""
    samples = [{"x": row[:-1].tolist(), "y": row[-1]} for row in rows]
    return json.dumps(samples[0] if len(samples) == 1 else samples).encode(), "application/json"


def as_columns(rows: Vector) -> tuple[bytes, str]:
    """A matrix and a list of labels."""
    columns = {"x": rows[:, :-1].tolist(), "y": rows[:, -1].tolist()}
    return json.dumps(columns).encode(), "application/json"


def as_ndjson(rows: Vector) -> tuple[bytes, str]:
    """A sample per line."""
    lines = (json.dumps({"x": row[:-1].tolist(), "y": row[-1]}) + "\n" for row in rows)
    return "".join(lines).encode(), NDJSON


def as_npy(rows: Vector) -> tuple[bytes, str]:
    """One array."""
    buffer = io.BytesIO()
    np.save(buffer, rows)
    return buffer.getvalue(), "application/x-npy"


ENCODINGS = {"json": as_json, "columns": as_columns, "ndjson": as_ndjson, "npy": as_npy}
