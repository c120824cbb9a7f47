"""Contests of the hot routes beside an empty typed FastAPI endpoint, in requests a second."""

import json
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count

from bench.arena import KEYS, MANY, Arena
from bench.contest import Contest, Line, Scores, Turn, at_least, plain
from bench.load import Lane
from bench.names import KNOWN, THERE
from bench.names import bodies as named_bodies
from bench.names import prepare as prepare_names
from bench.requests import as_json, get, post, put, request, samples
from bench.servers import Server
from llr.types import Vector

BODIES, CLIENTS = 4096, 64
TURN = 150
"""Requests of one client in a turn of samples with a producer, or of labels."""
HEADERS = (
    "user-agent: python-httpx/0.28.1",
    "accept: */*",
    "accept-encoding: gzip, deflate",
    "connection: keep-alive",
    "authorization: Bearer key-7",
)
"""What a client sends beside host, content-type and content-length."""

Entry = tuple[str, float, Callable[[], Turn]]
"""What is measured, the least ratio to reach, and a turn of it."""


def routes(arena: Arena, rounds: int, seconds: float) -> Contest:
    """Every hot route, in turn with the empty endpoint."""
    _prepare(arena)
    table = _entries(arena, seconds)
    entries = {what: turn for what, _, turn in table}
    empty = Lane([post("d10", body) for body in as_json(*samples(10, BODIES))], CLIENTS)
    entries["empty"] = partial(arena.turn, arena.empty, empty, seconds)

    def verdict(scores: Scores) -> list[Line]:
        rival = scores["empty"]
        lines = [plain("empty typed FastAPI endpoint, nothing kept", "requests/s", rival)]
        for what, least, _ in table:
            line = plain(what, "requests/s", scores[what])
            lines.append(at_least(line, scores[what], "empty", rival, least))
        return lines

    return Contest(entries, rounds, verdict)


def _entries(arena: Arena, seconds: float) -> list[Entry]:
    ten, fifty = as_json(*samples(10, BODIES)), as_json(*_with_a_zero(50))
    learn = [post("d10", body) for body in ten]
    many = [post(f"many-{i % MANY}", body) for i, body in enumerate(ten)]
    zero = [post("zero", body) for body in as_json(*_with_a_zero(10))]
    equal = [post("equal", body) for body in as_json(*_with_equal_ones(10))]
    row = json.dumps({"x": json.loads(ten[0])["x"]}).encode()
    ours = partial(arena.turn, arena.ours)
    return [
        ("learn, d=10, one session", 1.6, partial(ours, Lane(learn, CLIENTS), seconds)),
        (f"learn, d=10, {MANY} sessions", 1.4, partial(ours, Lane(many, CLIENTS), seconds)),
        ("learn, d=10, one feature always 0", 1.5, partial(ours, Lane(zero, CLIENTS), seconds)),
        ("learn, d=10, two equal features", 1.5, partial(ours, Lane(equal, CLIENTS), seconds)),
        (
            "learn, d=50, one feature always 0",
            1.2,
            partial(ours, Lane([post("zero-50", body) for body in fifty], CLIENTS), seconds),
        ),
        (
            f"learn, d=10, {KEYS} keys, producers with seq, eight headers",
            1.4,
            partial(_keyed, arena, ten, count()),
        ),
        (
            "predict, one row, d=10",
            3.0,
            partial(
                ours, Lane([request("POST", "/v1/sessions/d10/predict", row)], CLIENTS), seconds
            ),
        ),
        ("GET session, d=10", 2.2, partial(ours, Lane([get("d10")], CLIENTS), seconds)),
        ("POST one label, d=10", 1.3, partial(_labelled, arena, row, count())),
        (
            f"learn, {THERE} named of {KNOWN:,} known",
            0.9,
            partial(ours, Lane([post("named", body) for body in named_bodies()], CLIENTS), seconds),
        ),
    ]


def _prepare(arena: Arena) -> None:
    """The sessions of these contests."""
    prepare_names(arena)
    made = [
        put("zero", dim=10),
        put("equal", dim=10),
        put("labels", dim=10),
        put("zero-50", dim=50),
    ]
    arena.load.run(arena.ours.port, [Lane(made, 1, len(made))])
    arena.load.run(arena.keyed.port, [Lane([_with_headers(put("keyed", dim=10))], 1, 1)])


def _with_a_zero(dim: int) -> tuple[Vector, Vector]:
    """Samples whose last feature is always 0."""
    X, y = samples(dim, BODIES)
    X[:, -1] = 0.0
    return X, y


def _with_equal_ones(dim: int) -> tuple[Vector, Vector]:
    """Samples whose last two features are equal."""
    X, y = samples(dim, BODIES)
    X[:, -1] = X[:, -2]
    return X, y


def _with_headers(sent: bytes) -> bytes:
    head, _, rest = sent.partition(b"\r\n")
    return b"\r\n".join([head, *(line.encode() for line in HEADERS), rest])


def _keyed(arena: Arena, bodies: list[bytes], turns: Iterator[int]) -> Turn:
    """Every client is a producer of its own that numbers its samples, and sends a key."""
    turn, lanes = next(turns), []
    for client in range(CLIENTS):
        sent = []
        for seq in range(TURN):
            path = f"/v1/sessions/keyed/samples?producer=p{turn}-{client}&seq={seq}"
            sent.append(_with_headers(request("POST", path, bodies[seq])))
        lanes.append(Lane(sent, 1, TURN))
    return _together(arena, arena.keyed, lanes)


def _labelled(arena: Arena, row: bytes, turns: Iterator[int]) -> Turn:
    """Labels for rows that were kept just before."""
    turn, x = next(turns), json.loads(row)["x"]
    ids = [[f"{turn}-{client}-{i}" for i in range(TURN)] for client in range(CLIENTS)]
    kept = [
        request(
            "POST",
            "/v1/sessions/labels/predict",
            json.dumps({"x": [x] * TURN, "ids": own}).encode(),
        )
        for own in ids
    ]
    arena.load.run(arena.ours.port, [Lane(kept, 1, len(kept))])
    path = "/v1/sessions/labels/labels"
    lanes = [
        Lane(
            [request("POST", path, json.dumps({"id": i, "y": 1.0}).encode()) for i in own], 1, TURN
        )
        for own in ids
    ]
    return _together(arena, arena.ours, lanes)


def _together(arena: Arena, server: Server, lanes: list[Lane]) -> Turn:
    before = server.cpu
    tallies = arena.load.run(server.port, lanes)
    answers = sum(tally.answers for tally in tallies)
    taken = max(tally.seconds for tally in tallies)
    return Turn(answers / taken, (server.cpu - before) / answers)
