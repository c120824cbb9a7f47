"""What is lost: samples of several clients at once, and all that was learnt before a kill."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import httpx

from bench.arena import cores
from bench.client import HOST
from bench.daemon import Daemon, text
from bench.hosts import CLIENTS, FLASK_RIVER, Hosts
from bench.league.markdown import table
from bench.load import Lane, Load, loading
from bench.requests import as_json, post, put, samples
from bench.servers import Server, running, service


def lost(among: Hosts, n: int) -> dict[str, int]:
    """What is missing after so many samples from four clients at once."""
    X, y = samples(10, n)
    lane = Lane([post("lost", body) for body in as_json(X, y)], CLIENTS, n)
    found = {}
    for name, server in (("llr", among.ours), ("Flask + river", among.gunicorn)):
        before = _learnt(server)
        among.load.run(server.port, [lane])
        found[name] = before + n - _learnt(server)
    return found


def forgotten(vw: Daemon, n: int) -> bool:
    """Whether `vw --daemon` predicts after a kill as if it had learnt nothing."""
    lines = text(*samples(10, n))
    question = ["| " + lines[0].partition("| ")[2]]
    vw.kill()
    fresh = vw.learn(question, 1)["last"]
    vw.learn(lines, 100)
    learnt = vw.learn(question, 1)["last"]
    vw.kill()
    return bool(vw.learn(question, 1)["last"] == fresh != learnt)


def killed(folder: Path, n: int) -> dict[str, int]:
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


def told(lost: dict[str, int], killed: dict[str, int], forgotten: bool, n: int) -> str:
    """All of it as a table."""
    headings = ("", f"four clients at once, of {n:,}", f"killed after {n:,} answers")
    rows = [(name, f"{lost[name]:,}", f"{killed[name]:,}") for name in lost]
    vw = ("vw --daemon", "takes one client", f"{n:,}" if forgotten else "0")
    return table(headings, [*rows, vw])
