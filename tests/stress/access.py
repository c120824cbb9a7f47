"""Row 17: every route × no key, a wrong key, each role; and tricks that should help nobody."""

import random
from collections import Counter
from pathlib import Path

from starlette.testclient import TestClient

from .doors import (
    LEAST,
    METHODS,
    ROLES,
    SECRETS,
    TENANT,
    TRICKS,
    guarded,
    handshake,
    kept,
    key_of,
    raw,
    routes,
    served,
)
from .verdict import Tick, Verdict, broken

PATHS = ("/v1/sessions", "/v1/sessions/demo", "/v1/sessions/demo/samples", "/metrics")
WHO: dict[str, dict[str, str]] = {
    "no key": {},
    "a wrong key": {"authorization": "Bearer llr_wrong"},
    "a key to look": key_of("read"),
    "a key of others": {"authorization": f"Bearer {TENANT}"},
}
OFTEN = 200
"""Tricks after which all there is to protect is looked at."""


def check_route(client: TestClient, route: str) -> None:
    """A route lets in whom the table says, and nobody else."""
    method, path = route.split()
    path, least = path.replace("{name}", "missing"), LEAST[route]
    path = path.replace("{asset}", "main.js").replace("{shadow}", "rival")
    path = path.replace("{path:path}", "index.html")

    def status(headers: dict[str, str]) -> int:
        if method == "WS":
            return handshake(client, path, headers)
        answer = client.request(method, path, headers=headers, follow_redirects=False)
        return int(answer.status_code)

    strangers = [{}, {"authorization": "Bearer llr_wrong"}, {"x-api-key": ""}]
    if least == "nobody":
        answers = {status(headers) for headers in strangers}
        # The guide is 404 where it was not built.
        assert answers <= {200, 307} or (path.startswith(("/guide/", "/llms")) and answers == {404})
        return
    assert {status(headers) for headers in strangers} == {401}
    for role in ROLES:
        allowed = ROLES.index(role) >= ROLES.index(least)
        for headers in (key_of(role), {"x-api-key": SECRETS[role]}):
            assert (status(headers) not in (401, 403)) == allowed, role
            assert allowed or status(headers) == 403, role


def check_trick(client: TestClient, trick: str) -> int:
    """A trick with the path gets nobody past the guard; returns how many requests it took."""
    before, tried = kept(client), 0
    for path in PATHS:
        for method in METHODS:
            for written in (path, path.upper(), path.replace("/", "%2f"), path[1:]):
                target = trick.replace("{path}", written)
                status, body = raw(client, method, target, {})
                tried += 2
                assert status in (401, 404, 405), (method, target)
                assert b'"demo"' not in body
                assert raw(client, method, target, key_of("read"))[0] != 201, (method, target)
    assert kept(client) == before
    return tried


def check_method(client: TestClient, method: str) -> None:
    """A trick with the method gets nobody past the guard."""
    before = kept(client)
    override = {"x-http-method-override": "DELETE", "x-method-override": "DELETE"}
    for path in ("/v1/sessions/demo", "/v1/sessions/demo/snapshot", "/v1/catalog"):
        assert raw(client, method, path, override)[0] == 401
        for role in ("read", "write"):
            status, _ = raw(client, method, path, override | key_of(role))
            expected = {"GET": (200,), "HEAD": (405,), "PUT": (403, 409)}.get(method, (403,))
            assert status in expected, (path, role)
    assert kept(client) == before


def twisted(path: str, lot: random.Random) -> str:
    """A path that was written by somebody who looks for a way in."""
    letters = [_letter(each, lot) if lot.random() < 0.2 else each for each in path]
    written = "".join(letters)
    for _ in range(lot.randrange(3)):
        written = lot.choice(TRICKS).replace("{path}", written)
    return written


def _letter(letter: str, lot: random.Random) -> str:
    coded = f"%{ord(letter):02x}"
    return lot.choice((coded, coded.upper(), letter.upper(), letter + "/", letter + "%2f", "./"))


def check_twisted(client: TestClient, lot: random.Random) -> str:
    """A request nobody should gain by; returns who asked and what the answer was."""
    who, method = lot.choice([*WHO]), lot.choice(METHODS)
    target = twisted(lot.choice(PATHS), lot)
    status, body = raw(client, method, target, WHO[who])
    if WHO[who] == key_of("read"):
        assert status >= 400 or method == "GET", (who, method, target, status)
    else:
        assert status >= 400 or who == "a key of others", (who, method, target, status)
        assert b'"demo"' not in body, (who, method, target)
    assert status < 500, (who, method, target, status)
    return f"{who}: {status}"


def _tables(client: TestClient, counts: Counter[str]) -> None:
    for route in LEAST:
        check_route(client, route)
    for method in METHODS:
        check_method(client, method)
    for trick in TRICKS:
        counts["known tricks"] += check_trick(client, trick)


def run(folder: Path, seed: int, count: int, tick: Tick) -> Verdict:
    """Every route, every known trick, and so many that are made up."""
    lot, counts, app = random.Random(seed), Counter[str](routes=len(LEAST)), guarded()
    faults = broken(every_route_is_in_the_table=routes(app) == set(LEAST))
    with served(app) as client:
        _tables(client, counts)
        before = kept(client)
        for number in range(count):
            counts[check_twisted(client, lot)] += 1
            if number % OFTEN == 0:
                faults += broken(nothing_is_changed=kept(client) == before)
            tick()
        faults += broken(nothing_is_changed=kept(client) == before)
    counts["made up tricks"] = count
    return Verdict(dict(counts), "401, 403 or 404; nothing told or changed", faults)
