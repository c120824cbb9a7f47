"""The tables of other benchmarks as sections of the report."""

from collections.abc import Callable
from pathlib import Path

from bench import contest, http, kernels, many, postgres, race, replicas
from bench.arena import arena
from bench.markdown import table
from bench.report import Section, Verdict

KERNELS, HTTP = 9, 7
NOT_THERE = "Not measured: there is no Postgres on this machine."
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


def of_postgres(scale: postgres.Scale, tick: Tick) -> Section:
    """Group commit in Postgres beside a statement for each change."""
    if not postgres.installed():
        return Section("Postgres", [NOT_THERE])
    with postgres.database(None) as database:
        [one] = postgres.contests(database, scale.rounds, scale.seconds)
        scores = contest.scores(one, tick)
    ratio = scores[f"{postgres.RIVAL}"].best / scores["each"].best
    what = f"Postgres: commits of {postgres.RIVAL} clients in groups by one each"
    verdict = Verdict(what, "≥ 5", f"{ratio:.3g}", ratio >= 5.0)
    return Section("Postgres", [table(contest.HEADINGS, one.verdict(scores))], [verdict])


def of_replicas(scale: postgres.Scale, tick: Tick) -> Section:
    """What replicas cost as there are more of them."""
    if not postgres.installed():
        return Section("Replicas", [NOT_THERE])
    return replicas.section(replicas.measured(2 * scale.seconds, tick))
