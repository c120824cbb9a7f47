"""Vowpal Wabbit: a file in, its progressive predictions out, as it is run on a command line.

OjaNewton takes no notice of the learning rate: what is swept is its `alpha`, the weight of the
identity in the matrix it inverts.
"""

import functools
import hashlib
import tempfile
from pathlib import Path

import numpy as np
from vowpalwabbit import Workspace

from bench.league.peers.peer import Peer
from bench.league.stream import Stream, losses, surprises
from llr.types import Vector


@functools.cache
def _folder() -> Path:
    """A place for files; the crowd takes it away in the end."""
    return Path(tempfile.mkdtemp(prefix="vw-"))


def _written(stream: Stream) -> Path:
    """The stream in VW's format, written once."""
    path = _folder() / f"{hashlib.sha256(stream.X.tobytes() + stream.y.tobytes()).hexdigest()}.txt"
    if not path.exists():
        y = 2.0 * stream.y - 1.0 if stream.binary else stream.y + bool(stream.classes)
        lines = [_line(label, x) for label, x in zip(y.tolist(), stream.X.tolist(), strict=True)]
        path.write_text("".join(lines))
    return path


def _line(y: float, x: list[float]) -> str:
    return f"{y:.9g} | " + " ".join(f"{i}:{v:.9g}" for i, v in enumerate(x)) + "\n"


def _arguments(stream: Stream) -> str:
    if stream.classes:
        return f"--oaa {stream.classes} --loss_function logistic --probabilities"
    return "--loss_function logistic" if stream.binary else ""


def run(stream: Stream, arguments: str) -> Vector:
    """The loss of each sample, by what VW predicted for it."""
    source, told = _written(stream), _folder() / "predictions.txt"
    where = f"--quiet --data {source} --predictions {told}"
    Workspace(f"{where} {_arguments(stream)} {arguments}").finish()
    if stream.classes:
        return surprises(_probabilities(told, stream))
    return losses(stream, np.loadtxt(told, ndmin=1))


def _probabilities(told: Path, stream: Stream) -> Vector:
    """Lines like `1:0.2 2:0.8`."""
    labels = stream.y.astype(int).tolist()
    lines = told.read_text().splitlines()
    given = [line.split()[y].partition(":")[2] for line, y in zip(lines, labels, strict=True)]
    return np.array(given, np.float64)


def peer(name: str, arguments: str, step: str, real: bool = False) -> Peer:
    """VW with these arguments, and the one that sets its step size."""

    def on(stream: Stream, rate: float | None) -> Vector:
        return run(stream, arguments if rate is None else f"{arguments} {step} {rate:.6g}")

    return Peer(name, on, fast=True, real=real)


PEERS = [
    peer("VW", "", "--learning_rate", real=True),
    peer("VW --noconstant", "--noconstant", "--learning_rate"),
    peer("VW --ftrl", "--ftrl", "--ftrl_alpha"),
    peer("VW --coin", "--coin", "--ftrl_alpha"),
    peer("VW --OjaNewton", "--OjaNewton", "--alpha"),
]
