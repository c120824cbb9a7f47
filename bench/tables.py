"""The tables of `bench.kernels` and `bench.http` as sections of the report."""

from collections.abc import Callable
from pathlib import Path

from bench import contest, http, kernels, many, race
from bench.arena import arena
from bench.league.markdown import table
from bench.report import Section

KERNELS, HTTP = 5, 6
Tick = Callable[[], None]


def of_kernels(scale: kernels.Scale, tick: Tick) -> Section:
    """In threads, late in a stream, at the start."""
    rows = []
    for one in kernels.races(scale):
        rows += race.hold(one, lambda: None)
        tick()
    headings = ("what", "ns/sample", "ratio", "target", "reached")
    return Section("One process: age, threads, start", [table(headings, rows)])


def of_http(folder: Path, scale: http.Scale, tick: Tick) -> Section:
    """Group commit, the library itself, long uploads, many sessions."""
    lines = []
    with arena(folder) as place:
        for one in http.contests(place, scale):
            lines += contest.hold(one, lambda: None)
            tick()
        lines += many.many(place, scale.sessions)
    sync = f"A sync of this disk takes {1e3 * http.sync_time(folder):.2f} ms."
    return Section("The service and what it is made of", [sync, table(contest.HEADINGS, lines)])
