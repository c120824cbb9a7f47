"""Row 11: schemathesis against our own OpenAPI document, in process.

Whatever a request holds: no 5xx, no status that is not documented, an answer that fits its schema.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from llr_service.app import App
from requests import Session
from schemathesis import Case
from schemathesis.checks import not_a_server_error
from schemathesis.python.asgi import get_client, shutdown_lifespans
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from .drawn import drawn, turns
from .fuzz_requests import CONFIGS, LIMITS, requests
from .verdict import Tick, Verdict, broken

CHECKS: list[Any] = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
Seen = Counter[tuple[str, int]]


@contextmanager
def served(app: App) -> Iterator[Session]:
    """A started app with a session of every model; the first sample tells their dim."""
    try:
        with get_client(app) as client:
            for config in CONFIGS:
                made = client.put(f"/v1/sessions/{config['model']}", json=config)
                assert made.status_code == 201
            config = {"model": "linear", "max_features": 9, "hash_bits": 3}
            assert client.put("/v1/sessions/named", json=config).status_code == 201
            yield client
    finally:
        shutdown_lifespans()


def turn(number: int, cases: int, seen: Seen, tick: Tick) -> list[str]:
    """So many requests to a fresh app; returns how an answer was wrong."""
    app = App(LIMITS)
    with served(app) as http:

        def check(case: Case[Any]) -> None:
            operation = case.operation.definition.raw["operationId"]
            app.context.draining = operation == "watchSession"  # or its answer would have no end
            answer = case.call(session=http)
            seen[operation, answer.status_code] += 1
            case.validate_response(answer, checks=CHECKS)

        return drawn(requests(), number, cases, check, tick)


def run(folder: Path, seed: int, cases: int, tick: Tick) -> Verdict:
    """So many requests, in turns."""
    seen, faults = Seen(), list[str]()
    for number, some in turns(seed, cases):
        faults += turn(number, some, seen, tick)
    statuses = Counter[int]()
    for (_, status), times in seen.items():
        statuses[status] += times
    taken = sum(times for status, times in statuses.items() if status < 300)
    counts = {"cases": seen.total(), "operations": len({operation for operation, _ in seen})}
    counts |= {f"answers {status}": times for status, times in sorted(statuses.items())}
    faults += broken(
        every_case_was_sent=seen.total() >= cases,
        not_all_are_refused_at_the_door=taken > seen.total() / 10,
    )
    return Verdict(counts, "no 5xx, no undocumented status, answers fit the schema", faults)
