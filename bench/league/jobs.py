"""What the processes of the crowd do: a job is told in words and numbers, and makes its stream."""

import functools
import math
import warnings
from collections.abc import Callable, Sequence
from typing import NamedTuple

from bench.league import drifting, hostile, ours, parts, peers, quality, real, score
from bench.league.peers.peer import Peer
from bench.league.stream import Stream, nothing, summed

FINE = score.grid(4)


class Ours(NamedTuple):
    """The library on one stream of one seed: losses, and sweeps in the order of `FINE`."""

    least: float
    losses: dict[str, float]
    sweeps: dict[str, list[float]]


class Hostile(NamedTuple):
    """Losses on a hostile stream; `first` is `auto` with its first order alone."""

    nothing: float
    tuned: float
    auto: float
    first: float


def on_stream(name: str, seed: int) -> Ours:
    """Everything of the library on one of the fifteen streams."""
    stream = drifting.stream(name, seed)
    sweeps = {
        ours.FIXED: [ours.plain(stream, eta, constant=False) for eta in FINE],
        ours.CONSTANT: [ours.plain(stream, eta, constant=True) for eta in FINE],
    }
    if name in drifting.STATIONARY:
        for paper in ours.PAPERS:
            sweeps[paper] = [ours.total(stream, paper, eta) for eta in FINE]
    losses = {algorithm: ours.total(stream, algorithm) for algorithm in ("auto", *ours.PAPERS)}
    return Ours(drifting.least(name, seed), losses, sweeps)


def on_hostile(name: str, seed: int) -> Hostile:
    """`auto` and SG tuned in hindsight, either kind of it."""
    stream = hostile.streams(seed)[name]
    tuned = min(ours.plain(stream, eta, constant) for eta in FINE for constant in (False, True))
    both = (ours.total(stream, "auto", second_order=on) for on in (True, False))
    return Hostile(nothing(stream), tuned, *both)


def peer_on_stream(package: str, peer: str, name: str, seed: int) -> float:
    """The loss of a peer at its default."""
    return total_loss(peers.peers_of(package)[peer], drifting.stream(name, seed), None)


def peer_swept(
    package: str, peer: str, name: str, seeds: Sequence[int], per_decade: int
) -> dict[float, float]:
    """The mean losses of a peer at the step sizes of a sweep."""
    found, streams = peers.peers_of(package)[peer], [drifting.stream(name, s) for s in seeds]

    def loss(rate: float) -> float:
        return score.average(total_loss(found, stream, rate) for stream in streams)

    return score.refined(loss, per_decade)


def peer_on_real(package: str, peer: str, name: str) -> float:
    """The mean loss of a peer, at its default, on a real set."""
    stream = real.stream(name)
    return total_loss(peers.peers_of(package)[peer], stream, None) / len(stream.y)


def auto_on_real(name: str, second_order: bool) -> float:
    """The mean loss of `auto` on a real set."""
    stream = real.stream(name)
    return ours.total(stream, "auto", second_order=second_order) / len(stream.y)


def quality_of(place: int, name: str, model: str) -> list[float]:
    """The metrics of a line of river's table."""
    return quality.measure(place, name, model)


def ablated(name: str, seed: int) -> dict[str, list[float]]:
    """The losses of every ablation, on one of the fifteen streams or a hostile one."""
    if name in drifting.NAMES:
        return _each_ablation(drifting.stream(name, seed))
    return _each_ablation(hostile.streams(seed)[name])


def _each_ablation(stream: Stream) -> dict[str, list[float]]:
    total: Callable[[parts.Parts], float] = functools.partial(parts.total, stream)
    return {what: [total(one) for one in on] for what, on in parts.ABLATIONS.items()}


def total_loss(peer: Peer, stream: Stream, rate: float | None) -> float:
    """Its total loss, infinite if it breaks down, NaN if it has no such loss.

    What it has to say about breaking down is left out.
    """
    if peer.numeric and (stream.binary or stream.classes):
        return math.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return summed(peer.run(stream, rate))
        except (ArithmeticError, ValueError):  # D-Adaptation divides by 0, TRAC refuses NaN
            return math.inf
