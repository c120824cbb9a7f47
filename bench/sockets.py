"""Learning over a socket: the service beside endpoints that keep nothing and hosts that lose."""

import json
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import httpx

from bench.arena import MANY, cores
from bench.hosts import CLIENTS, CONNECTIONS, FLASK_RIVER, Daemon, Go, Hosts, hosts, text
from bench.load import FOREVER, HOST, Lane, Load, loading
from bench.markdown import number, table
from bench.report import Section, Verdict
from bench.requests import as_json, as_ndjson, as_npy, post, put, request, samples
from bench.servers import Server, running, service

BODIES, ROWS = 4096, 10_000


class Scale(NamedTuple):
    """How much is measured: turns, seconds of a turn, long bodies in a turn, samples to be lost."""

    rounds: int
    seconds: float
    bodies: int
    lost: int


FULL, QUICK = Scale(7, 2.0, 40, 2_000), Scale(2, 0.5, 8, 200)
Turns = dict[str, Callable[[], Go]]


def turns(scale: Scale) -> int:
    """How many steps of progress there will be."""
    return 14 * scale.rounds + 4


def measure(folder: Path, scale: Scale, tick: Callable[[], None]) -> Section:
    """Every contest."""
    with hosts(folder) as among:
        single = _hold(_singles(among, scale), scale.rounds, tick)
        bulk = _hold(_bulk(among, scale), scale.rounds, tick)
        half = _half(among, scale, single[OURS].rate)
        tick()
        lost = _lost(among, scale.lost)
        forgotten = _forgotten(among.vw, scale.lost)
        tick()
    killed = _killed(folder, scale.lost)
    tick()
    ready = _ready(folder)
    tick()
    text = [PROSE, "### One sample a request, d = 10", _table(single, OURS)]
    text += ["### Many samples a request", _table(bulk, VW_10), _half_table(half)]
    text += ["### What is lost", _told(lost, killed, forgotten, scale.lost)]
    text += [f"Ready after a warm start: {ready:.2f} s from the command to `/readyz`."]
    return Section("Learning over a socket", text, _verdicts(single, bulk, half, ready))


PROSE = f"""\
Servers on one core, clients on another, over loopback; {CONNECTIONS} connections, each sends
its next request when its answer is there, unless it says otherwise. The service syncs every answer
to an SQLite file; the others store nothing. `vw --daemon` learns for one connection at a time.
CPU is the server's, with its children and the kernel's on its behalf, a sample."""
OURS = "llr, one session, durable"
FLASK_SERVER = "Flask + river, Flask's own server, 4 connections, in memory"
GUNICORN = "Flask + river behind gunicorn, in memory"
VW_10 = "vw --daemon, text, pipelined, d = 10"
VW_50 = "vw --daemon, text, pipelined, d = 50"
NPY, NDJSON = "llr, npy, d = 50, durable", "llr, NDJSON, d = 10, durable"


def _singles(among: Hosts, scale: Scale) -> Turns:
    X, y = samples(10, BODIES)
    bodies = as_json(X, y)
    one = Lane([post("d10", body) for body in bodies], CONNECTIONS)
    many = Lane([post(f"many-{i % MANY}", body) for i, body in enumerate(bodies)], CONNECTIONS)
    go = partial(among.http, seconds=scale.seconds)
    return {
        "FastAPI, typed, nothing kept": partial(go, among.empty, one),
        "Starlette, nothing kept": partial(go, among.bare, one),
        OURS: partial(go, among.ours, one),
        f"llr, {MANY} sessions, durable": partial(go, among.ours, many),
        FLASK_SERVER: partial(go, among.flask, one._replace(connections=CLIENTS)),
        GUNICORN: partial(go, among.gunicorn, one),
        "vw --daemon, one connection, in memory": partial(among.daemon, text(X, y), 1),
    }


def _bulk(among: Hosts, scale: Scale) -> Turns:
    X, y = samples(10, ROWS)
    wide, labels = samples(50, ROWS)
    few, named = scale.bodies, "application/x-ndjson"
    columns = json.dumps({"x": X[:1000].tolist(), "y": y[:1000].tolist()}).encode()
    listed = b"[" + b",".join(as_json(X[:1000], y[:1000])) + b"]"
    npy = Lane([post("d50", as_npy(wide, labels), "application/x-npy")], CLIENTS, 4 * few)
    lines = Lane([post("d10", 10 * as_ndjson(X, y), named)], 1, max(1, few // 10))
    return {
        VW_10: partial(among.daemon, text(X, y), 500),
        NDJSON: partial(among.http, among.ours, lines, each=10 * ROWS),
        "llr, JSON columns of 1,000, d = 10, durable": partial(
            among.http, among.ours, Lane([post("d10", columns)], CLIENTS, few), each=1000
        ),
        "Flask + river by gunicorn, JSON lists of 1,000, d = 10": partial(
            among.http,
            among.gunicorn,
            Lane([post("d10", listed)], CLIENTS, max(4, few // 4)),
            each=1000,
        ),
        "FastAPI, JSON columns of 1,000, typed, nothing learnt": partial(
            among.http, among.empty, Lane([_columns(columns)], CLIENTS, few), each=1000
        ),
        VW_50: partial(among.daemon, text(wide, labels), 500),
        NPY: partial(among.http, among.ours, npy, each=ROWS),
    }


def _columns(body: bytes) -> bytes:
    return request("POST", "/v1/sessions/d10/columns", body)


def _hold(turns: Turns, rounds: int, tick: Callable[[], None]) -> dict[str, Go]:
    """The best turn of each, by its rate."""
    best: dict[str, Go] = {}
    for _ in range(rounds):
        for name, take in turns.items():
            taken = take()
            best[name] = max(best.get(name, taken), taken)
            tick()
    return best


def _half(among: Hosts, scale: Scale, saturating: float) -> Go:
    """Half of what saturates it, sent on time."""
    bodies = as_json(*samples(10, BODIES))
    pace = CONNECTIONS / (0.5 * saturating)
    lane = Lane([post("d10", body) for body in bodies], CONNECTIONS, pace=pace)
    taken = [among.http(among.ours, lane, 4 * scale.seconds) for _ in range(3)]
    return min(taken, key=lambda go: (go.p99 or 0.0) / (go.p50 or 1.0))


def _ready(folder: Path) -> float:
    """Seconds until a service whose kernels are compiled answers that it is ready."""
    best = FOREVER
    for _ in range(3):
        begin = time.perf_counter()
        with service(folder / "ready.db") as server:
            httpx.get(f"http://{HOST}:{server.port}/readyz", timeout=20.0).raise_for_status()
            best = min(best, time.perf_counter() - begin)
    return best


def _table(found: dict[str, Go], base: str) -> str:
    rows = [
        (
            name,
            number(go.rate),
            f"{go.rate / found[base].rate:.2f}",
            f"{1e6 * go.cpu:.3g}",
            *(_milliseconds(seconds) for seconds in (go.p50, go.p99, go.p999)),
        )
        for name, go in found.items()
    ]
    return table(("", "samples/s", "ratio", "CPU µs", "p50 ms", "p99 ms", "p99.9 ms"), rows)


def _milliseconds(seconds: float | None) -> str:
    return "" if seconds is None else f"{1e3 * seconds:.3g}"


def _half_table(half: Go) -> str:
    quantiles = ", ".join(_milliseconds(seconds) for seconds in (half.p50, half.p99, half.p999))
    return (
        f"At half of what saturates it ({half.rate:,.0f} requests/s, sent on time and counted from"
        f" when they were due): p50, p99, p99.9 are {quantiles} ms."
    )


def _verdicts(single: dict[str, Go], bulk: dict[str, Go], half: Go, ready: float) -> list[Verdict]:
    ours = single[OURS].rate

    def at_least(what: str, ratio: float, least: float) -> Verdict:
        return Verdict(what, f"≥ {least:g}", f"{ratio:.3g}", ratio >= least)

    stretch = (half.p99 or 0.0) / (half.p50 or 1.0)
    rate = bulk[NPY].rate
    return [
        at_least(
            "single durable POST by the empty typed FastAPI endpoint",
            ours / single["FastAPI, typed, nothing kept"].rate,
            1.2,
        ),
        at_least("single durable POST by Flask + river", ours / single[FLASK_SERVER].rate, 10.0),
        at_least(
            "single durable POST by Flask + river behind gunicorn",
            ours / single[GUNICORN].rate,
            10.0,
        ),
        Verdict("bulk npy, d = 50, samples/s", "≥ 1,000,000", f"{rate:,.0f}", rate >= 1e6),
        at_least("bulk npy by vw --daemon pipelined, d = 50", rate / bulk[VW_50].rate, 10.0),
        at_least(
            "bulk NDJSON by vw --daemon pipelined, d = 10",
            bulk[NDJSON].rate / bulk[VW_10].rate,
            3.0,
        ),
        Verdict("p99 by p50 at half the saturating load", "≤ 3", f"{stretch:.3g}", stretch <= 3.0),
        Verdict("seconds to be ready after a warm start", "≤ 2", f"{ready:.2f}", ready <= 2.0),
    ]


def _lost(among: Hosts, n: int) -> dict[str, int]:
    """What is missing after so many samples from four clients at once."""
    X, y = samples(10, n)
    lane = Lane([post("lost", body) for body in as_json(X, y)], CLIENTS, n)
    found = {}
    for name, server in (("llr", among.ours), ("Flask + river", among.gunicorn)):
        before = _learnt(server)
        among.load.run(server.port, [lane])
        found[name] = before + n - _learnt(server)
    return found


def _forgotten(vw: Daemon, n: int) -> bool:
    """Whether `vw --daemon` predicts after a kill as if it had learnt nothing."""
    lines = text(*samples(10, n))
    question = ["| " + lines[0].partition("| ")[2]]
    vw.kill()
    fresh = vw.learn(question, 1)["last"]
    vw.learn(lines, 100)
    learnt = vw.learn(question, 1)["last"]
    vw.kill()
    return bool(vw.learn(question, 1)["last"] == fresh != learnt)


def _killed(folder: Path, n: int) -> dict[str, int]:
    """What is missing when a server is killed after so many answers, and started again."""
    X, y = samples(10, n)
    lane = Lane([post("lost", body) for body in as_json(X, y)], CLIENTS, n)
    store = folder / "killed.db"
    with loading(cores()[1]) as load:
        ours = n - _after_kill(load, lane, lambda: service(store), create=True)
        flask = partial(running, *FLASK_RIVER, "gunicorn")
        theirs = n - _after_kill(load, lane, flask, create=False)
    return {"llr": ours, "Flask + river": theirs}


def _after_kill(load: Load, lane: Lane, start: Callable[[], Any], create: bool) -> int:
    with start() as server:
        if create:
            load.run(server.port, [Lane([put("lost", dim=10)], 1, 1)])
        load.run(server.port, [lane])
        server.kill()
    with start() as server:
        return _learnt(server)


def _learnt(server: Server) -> int:
    answer = httpx.get(f"http://{HOST}:{server.port}/v1/sessions/lost", timeout=20.0)
    return int(answer.raise_for_status().json()["t"])


def _told(lost: dict[str, int], killed: dict[str, int], forgotten: bool, n: int) -> str:
    """All of it as a table."""
    headings = ("", f"four clients at once, of {n:,}", f"killed after {n:,} answers")
    rows = [(name, f"{lost[name]:,}", f"{killed[name]:,}") for name in lost]
    vw = ("vw --daemon", "takes one client", f"{n:,}" if forgotten else "0")
    return table(headings, [*rows, vw])
