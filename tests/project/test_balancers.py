"""nginx and Caddy in front of real replicas, each with the configuration that is shipped."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import suppress

import httpx
import pytest
from stress.fleet import Fleet
from support.balancer import Balancer
from support.caddy import Caddy

NAMES = [f"s{number}" for number in range(16)]
CHANGES = "llr_commit_group_size_sum"
PATIENCE = 60.0
"""Seconds after which a session is given up that does not answer."""
Front = Balancer | Caddy

visitor = httpx.Client(timeout=PATIENCE, limits=httpx.Limits(max_keepalive_connections=0))
"""Somebody with a new connection each time."""


@pytest.fixture(scope="module")
def fleet() -> Iterator[Fleet]:
    with Fleet(3, lines=True) as replicas:
        for name in NAMES:
            replicas.replicas[0].put(name, {"model": "gaussian", "algorithm": "sg/ag"})
        yield replicas


def before(fleet: Fleet, front: type[Front]) -> Front:
    return front([server.place for server in fleet.replicas])


@pytest.fixture(params=[Balancer, Caddy], ids=["nginx", "caddy"])
def front(request: pytest.FixtureRequest, fleet: Fleet) -> Iterator[Front]:
    with before(fleet, request.param) as balancer:
        yield balancer


def send(front: Front, name: str, seq: int) -> httpx.Response:
    """A sample with its number."""
    url = f"http://127.0.0.1:{front.port}/v1/sessions/{name}/samples"
    numbered = {"producer": type(front).__name__, "seq": str(seq)}
    return visitor.post(url, params=numbered, json={"y": float(seq)})


def taken(front: Front, name: str, seq: int) -> int:
    """Send it until it is taken; returns t."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        with suppress(httpx.TransportError):
            answer = send(front, name, seq)
            if answer.is_success:
                return int(answer.json()["t"])
            assert answer.status_code in (502, 503), answer.text
    raise AssertionError(f"{name} does not answer")


def at(front: Front, name: str) -> int:
    """The number of the next sample."""
    url = f"http://127.0.0.1:{front.port}/v1/sessions/{name}"
    state = visitor.get(url, params={"producer": type(front).__name__}).json()
    return int(state["next_seq"])


def home(fleet: Fleet, front: Front, name: str) -> int:
    """The place of the one replica that a session's samples go to."""
    there = [place for place in range(len(fleet.replicas)) if place not in fleet.away]
    were = {place: fleet.replicas[place].metric(CHANGES) for place in there}
    seq = at(front, name)
    for number in range(seq, seq + 4):
        taken(front, name, number)
    moved = {place: fleet.replicas[place].metric(CHANGES) - were[place] for place in there}
    [(place, changes)] = [one for one in moved.items() if one[1]]
    assert changes == 4
    return place


def test_a_session_stays_with_one_replica_and_sessions_are_spread(
    fleet: Fleet, front: Front
) -> None:
    homes = [home(fleet, front, name) for name in NAMES]
    assert len(set(homes)) > 1
    assert homes == [home(fleet, front, name) for name in NAMES]


def test_sessions_of_a_killed_replica_answer_through_another(fleet: Fleet, front: Front) -> None:
    homes = {name: home(fleet, front, name) for name in NAMES}
    next_ones = {name: at(front, name) for name in NAMES}
    killed = homes[NAMES[0]]
    fleet.kill(killed)
    ts = {name: taken(front, name, next_ones[name]) for name in NAMES}
    for name in NAMES:
        found = home(fleet, front, name)
        assert found == homes[name] or homes[name] == killed
        assert taken(front, name, next_ones[name]) == ts[name] + 4  # known, and not learnt again
    asyncio.run(fleet.replace(killed))


def test_caddy_asks_no_replica_that_does_not_reach_the_database(fleet: Fleet) -> None:
    with before(fleet, Caddy) as front:
        name = NAMES[0]
        place, seq = home(fleet, front, name), at(front, name)
        fleet.relays[place].cut()
        fleet.away.add(place)
        taken(front, name, seq)
        assert home(fleet, front, name) != place
        fleet.relays[place].heal()
        fleet.away.discard(place)


def test_events_pass_as_they_come(front: Front) -> None:
    name, seq = NAMES[0], at(front, NAMES[0])
    url = f"http://127.0.0.1:{front.port}/v1/sessions/{name}/events"
    with visitor.stream("GET", url) as events:
        ids = (line for line in events.iter_lines() if line.startswith("id: "))
        next(ids)
        t = taken(front, name, seq)
        assert any(line.startswith(f"id: {t}") for line in ids)
