"""Row 12: what is no number, or hardly one, in JSON, NDJSON and npy. Never is a NaN stored."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st
from llr_service.app import App
from llr_service.settings import Settings
from starlette.testclient import TestClient

import llr

from .drawn import drawn, turns
from .hostile import JSON, NDJSON, NPY, npy, strictly
from .verdict import Tick, Verdict, broken

NOT_NUMBERS = ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", "1" + "0" * 400, '"1.5"', "true"]
NOT_NUMBERS += ["false", "null", "[1]", '{"0":1}', '""']
EXTREME = ["1e308", "-1e308", "1.7976931348623157e308", "5e-324", "-5e-324", "1e-400", "-0", "-0.0"]
EXTREME += ["0", "1", "9" * 300, "0.1e-307", "1e154", "-1e200"]
LIMITS = Settings(
    store="memory:",
    max_body=64 * 1024,
    max_line=1024,
    block_bytes=1024,
    allowed_hosts=("testserver",),
)
CONFIGS: dict[str, dict[str, Any]] = {
    name: {"model": name} | ({"dim": 2} if model.features else {})
    for name, model in llr.MODELS.items()
}
for name, model in llr.MODELS.items():
    if model.parameter is not None and model.parameter.default is None:
        CONFIGS[name]["options"] = {model.parameter.name: 3}

Extreme = tuple[str, list[list[str]], str]
Bits = tuple[list[int], str]
extremes: st.SearchStrategy[Extreme] = st.tuples(
    st.sampled_from([*CONFIGS]),
    st.lists(st.lists(st.sampled_from(EXTREME), min_size=3, max_size=3), min_size=1, max_size=3),
    st.sampled_from([JSON, NDJSON, NPY]),
)
"""A model, rows of extreme numbers, and how they are sent."""
any_bits: st.SearchStrategy[Bits] = st.tuples(
    st.lists(st.integers(0, 2**64 - 1), min_size=3, max_size=9), st.sampled_from("fd")
)
"""Bits that are read as numbers of four bytes or eight."""


@contextmanager
def served() -> Iterator[TestClient]:
    """An app with small limits and a session of every model."""
    with TestClient(App(LIMITS), raise_server_exceptions=False) as started:
        for name, config in CONFIGS.items():
            assert started.put(f"/v1/sessions/{name}", json=config).status_code == 201
        yield started


def seen(client: TestClient, name: str) -> int:
    """t, after a look at everything that shows numbers."""
    t = 0
    for what in ("/history", "/snapshot", ""):
        answer = client.get(f"/v1/sessions/{name}{what}")
        assert answer.status_code == 200
        t = strictly(answer.text)["t"]
    return t


def post(client: TestClient, name: str, kind: str, body: bytes) -> Any:
    """The answer to samples."""
    headers = {"content-type": kind}
    return client.post(f"/v1/sessions/{name}/samples", content=body, headers=headers)


def sample(name: str, *numbers: str) -> bytes:
    """One sample with these numbers, as text."""
    if llr.MODELS[name].features:
        return f'{{"x":[{numbers[0]},{numbers[1]}],"y":{numbers[2]}}}'.encode()
    return f'{{"y":{numbers[2]}}}'.encode()


def check_not_a_number(client: TestClient, literal: str, kind: str) -> None:
    """What is no finite number is 422, by its place, and changes nothing."""
    for name in ("linear", "gaussian"):
        before = seen(client, name)
        for place in {0, 1, 2} if name == "linear" else {2}:
            numbers = [literal if i == place else "1" for i in range(3)]
            refused = post(client, name, kind, sample(name, *numbers))
            if literal == "[1]" and place == 2 and kind == JSON:
                continue  # labels as a column: another shape, right or wrong
            assert refused.status_code == 422, refused.text
            assert refused.json()["errors"][0]["pointer"] == ("/y" if place == 2 else f"/x/{place}")
        assert seen(client, name) == before or literal == "[1]"


def check_extreme(client: TestClient, case: Extreme) -> int:
    """Extreme numbers are refused or leave a finite state; returns the status."""
    name, _, kind = case
    before = seen(client, name)
    answer = post(client, name, kind, _body(*case))
    assert answer.status_code in (200, 409, 422), answer.text
    strictly(answer.text)
    if answer.status_code == 409:
        assert answer.json()["type"] == "urn:llr:problem:diverged"
    assert seen(client, name) == before + answer.json().get("accepted", 0)
    return int(answer.status_code)


def _body(name: str, rows: list[list[str]], kind: str) -> bytes:
    if kind == NPY:
        table = np.array([[float(number) for number in row] for row in rows])
        return npy(table if llr.MODELS[name].features else table[:, 2:])
    texts = [sample(name, *row) for row in rows]
    return b"[" + b",".join(texts) + b"]" if kind == JSON else b"\n".join(texts)


def check_bits(client: TestClient, case: Bits) -> int:
    """Any bits in an npy body are refused or leave a finite state; returns the status."""
    bits, width = case
    numbers = np.array(bits[: len(bits) // 3 * 3], np.uint64).view(np.float64).reshape(-1, 3)
    with np.errstate(all="ignore"):
        table = numbers.astype(width)
    before = seen(client, "linear")
    answer = post(client, "linear", NPY, npy(table))
    assert answer.status_code in ((200, 409) if np.isfinite(table).all() else (422,))
    assert seen(client, "linear") == before + (len(table) if answer.status_code == 200 else 0)
    return int(answer.status_code)


def _turn(client: TestClient, number: int, cases: int, tick: Tick, seen: Counter[str]) -> list[str]:
    for literal in NOT_NUMBERS:
        for kind in (JSON, NDJSON):
            check_not_a_number(client, literal, kind)
            seen["no numbers at all"] += 1

    def extreme(case: Extreme) -> None:
        seen[f"extreme numbers: {check_extreme(client, case)}"] += 1

    def bits(case: Bits) -> None:
        seen[f"any bits: {check_bits(client, case)}"] += 1

    faults = drawn(extremes, number, cases - cases // 3, extreme, tick)
    return faults + drawn(any_bits, number, cases // 3, bits, tick) if cases // 3 else faults


def run(folder: Path, seed: int, cases: int, tick: Tick) -> Verdict:
    """So many bodies of extreme numbers or any bits, in turns, each with all that is no number."""
    seen, faults = Counter[str](), list[str]()
    for number, some in turns(seed, cases):
        with served() as client:
            faults += _turn(client, number, some, tick, seen)
    learnt = seen["extreme numbers: 200"] + seen["any bits: 200"]
    faults += broken(some_are_learnt=learnt > 0, some_are_refused=learnt < cases)
    target = "422, or a finite state"
    return Verdict({"bodies": cases} | dict(sorted(seen.items())), target, faults)
