"""Growth: what a sample costs the service as streams, samples, stores, crowds and bodies grow."""

import os
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl

mpl.use("agg")
import numpy as np
from llr_service.sessions.config import SessionConfig, to_stored
from llr_service.stores import open_store
from llr_service.stores.store import CreateSession
from matplotlib import pyplot as plt

from bench.arena import MANY, cores
from bench.load import Lane, Load, loading
from bench.markdown import number, table
from bench.report import Section, Verdict
from bench.requests import as_json, as_ndjson, as_npy, head, post, put, request, samples
from bench.servers import Server, service

BODIES = 4096
LARGE = (
    "--max-dim",
    "2000000",
    "--max-body",
    "4GiB",
    "--max-bodies",
    "8GiB",
    "--max-queue",
    "4000",
)
GROUP = 1000
"""Sessions that are made at once."""
NPY, NDJSON = "application/x-npy", "application/x-ndjson"


class Scale(NamedTuple):
    """How far each curve goes: samples, features, sessions, connections, bytes; seconds a point."""

    samples: int
    features: int
    sessions: int
    connections: int
    size: int
    seconds: float


FULL = Scale(10**7, 10**6, 10**6, 2000, 10**9, 2.0)
QUICK = Scale(10**6, 10**5, 10**4, 500, 10**8, 0.5)


class Point(NamedTuple):
    """Processor seconds a unit at some size, and the server's memory after it."""

    at: int
    cpu: float
    memory: int


class Curve(NamedTuple):
    """A cost against a size.

    Attributes:
        what: what grows.
        unit: what is paid for.
        points: the costs, the smallest size first.
        most: how often the first cost the last one may be, if anything is asked of it.
    """

    what: str
    unit: str
    points: list[Point]
    most: float | None = None

    @property
    def stretch(self) -> float:
        """The last cost by the first."""
        return self.points[-1].cpu / self.points[0].cpu


CURVES = 5


def measure(folder: Path, scale: Scale, pictures: Path, tick: Callable[[], None]) -> Section:
    """All curves, each on a service and a store of its own."""
    core, other = cores()
    os.sched_setaffinity(0, {core})
    curves = []
    with loading(other) as load:
        for i, draw in enumerate((by_t, by_dim, by_sessions, by_connections, by_size)):
            curves.append(draw(folder / f"growth-{i}.db", load, scale))
            tick()
    path = _picture(curves, pictures)
    text = [PROSE, f"![cost against size]({path.parent.name}/{path.name})", _table(curves)]
    return Section("Growth", text, [_verdict(curve) for curve in curves if curve.most])


PROSE = """\
Processor time of the server, the kernel's on its behalf included, as one thing grows and all else
stays. Flat is what it should be."""


def by_t(store: Path, load: Load, scale: Scale) -> Curve:
    """A stream that goes on: ten blocks to a decade."""
    block = 10_000
    npy = as_npy(*samples(10, block))
    first = [put(name, dim=10, regret="off") for name in ("t", "warm")]
    body = post("t", npy, NPY)
    points, t = [], 0
    with service(store, *LARGE) as server:
        load.run(server.port, [Lane([*first, *50 * [post("warm", npy, NPY)]], 1, 52)])
        while t < scale.samples:
            blocks = max(100, t // block)
            points.append(_point(server, load, Lane([body], 1, blocks), t + blocks * block, block))
            t += blocks * block
    return Curve("samples learnt, d = 10, blocks of 10,000", "sample", points, 1.1)


def by_dim(store: Path, load: Load, scale: Scale) -> Curve:
    """Samples that get wider, in bodies of about as many numbers."""
    points = []
    rng = np.random.default_rng(1)
    with service(store, *LARGE) as server:
        for dim in _decades(10, scale.features):
            name, rows = f"d{dim}", max(2, 10**6 // dim)
            load.run(server.port, [Lane([put(name, dim=dim, regret="off")], 1, 1)])
            body = as_npy(rng.normal(size=(rows, dim)), rng.normal(size=rows))
            path = f"/v1/sessions/{name}/samples?theta=false"
            body = request("POST", path, body, NPY)
            points.append(_point(server, load, Lane([body], 1, 20), dim, rows * dim))
    return Curve("features, npy of a million numbers", "feature", points)


def by_sessions(store: Path, load: Load, scale: Scale) -> Curve:
    """More and more sessions, of which some are busy; most are put into the store beforehand."""
    bodies = as_json(*samples(10, BODIES))
    hot = Lane([post(f"s{i % MANY}", body) for i, body in enumerate(bodies)], 64)
    config = to_stored(SessionConfig(model="linear", dim=10))
    points, made = [], 0
    for count in _decades(100, scale.sessions):
        with closing(open_store(f"sqlite:///{store}")) as opened:
            while made < count:
                some = range(made, min(made + GROUP, count))
                opened.write([CreateSession(f"s{i}", config) for i in some])
                made = some.stop
        with service(store, *LARGE) as server:
            load.run(server.port, [hot], scale.seconds)
            points.append(_point(server, load, hot, count, 1, 2 * scale.seconds))
    return Curve(f"sessions in the store, {MANY} of them busy", "sample", points, 1.1)


def by_connections(store: Path, load: Load, scale: Scale) -> Curve:
    """A crowd."""
    requests = [post("c", body) for body in as_json(*samples(10, BODIES))]
    sizes = [n for n in (1, 4, 16, 64, 256, 1000, 2000) if n <= scale.connections]
    with service(store, *LARGE) as server:
        load.run(server.port, [Lane([put("c", dim=10)], 1, 1)])
        load.run(server.port, [Lane(requests, 64)], scale.seconds)
        points = [_point(server, load, Lane(requests, n), n, 1, scale.seconds) for n in sizes]
    return Curve("connections, one sample a request", "sample", points)


def by_size(store: Path, load: Load, scale: Scale) -> Curve:
    """Longer and longer NDJSON in one request."""
    block = as_ndjson(*samples(10, BODIES))
    points = []
    with service(store, *LARGE) as server:
        load.run(server.port, [Lane([put("b", dim=10)], 1, 1)])
        for size in _decades(10**6, scale.size):
            times = max(1, round(size / len(block)))
            before = server.cpu
            load.upload(server.port, head("b", times * len(block), NDJSON), block, times)
            cost = (server.cpu - before) / (times * BODIES)
            points.append(Point(times * len(block), cost, server.memory))
    return Curve("bytes of one NDJSON body, d = 10", "sample", points)


def _point(
    server: Server, load: Load, lane: Lane, at: int, each: int, seconds: float = 1e9
) -> Point:
    before = server.cpu
    [tally] = load.run(server.port, [lane], seconds)
    return Point(at, (server.cpu - before) / (each * tally.answers), server.memory)


def _decades(first: int, last: int) -> list[int]:
    return [int(n) for n in np.geomspace(first, last, 1 + round(np.log10(last / first)))]


def _table(curves: list[Curve]) -> str:
    rows = [
        (
            curve.what,
            f"{point.at:,}",
            f"{1e6 * point.cpu:.3g}",
            f"{point.cpu / curve.points[0].cpu:.2f}",
            number(point.memory / 2**20),
        )
        for curve in curves
        for point in curve.points
    ]
    headings = ("what grows", "to", "CPU µs a unit", "by the first", "server MiB")
    return table(headings, rows)


def _verdict(curve: Curve) -> Verdict:
    most = curve.most or 0.0
    what = f"cost a {curve.unit} at {curve.points[-1].at:,} {curve.what} by that at the start"
    return Verdict(what, f"≤ {most:g}", f"{curve.stretch:.2f}", curve.stretch <= most)


def _picture(curves: list[Curve], folder: Path) -> Path:
    mpl.rcParams.update({"font.family": "DejaVu Sans", "font.size": 9, "svg.hashsalt": "llr"})
    figure, panels = plt.subplots(2, 3, figsize=(11.0, 6.0), layout="constrained")
    for axes, curve in zip(panels.flat, curves, strict=False):
        _panel(axes, curve)
    for axes in panels.flat[len(curves) :]:
        axes.set_axis_off()
    folder.mkdir(exist_ok=True)
    path = folder / "growth.svg"
    figure.savefig(path, metadata={"Date": None})
    figure.savefig(path.with_suffix(".png"), dpi=110)
    plt.close(figure)
    return path


def _panel(axes: Any, curve: Curve) -> None:
    at = [point.at for point in curve.points]
    cost = [1e6 * point.cpu for point in curve.points]
    axes.loglog(at, cost, marker="o", color="#0072B2")
    axes.set_ylim(min(cost) / 5.0, max(cost) * 5.0)
    axes.set_title(curve.what, fontsize=9)
    axes.set_ylabel(f"CPU µs a {curve.unit}")
    axes.grid(visible=True, which="major", color="#D4D4D4", linewidth=0.6)
