"""llr.compat.flink: the operator by itself, and in a mini cluster of the real PyFlink."""

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from llr_service.app import App
from llr_service.settings import Settings
from starlette.testclient import TestClient
from support.flink_job import DIM, sample, settings
from support.root import ROOT

import llr
from llr.compat.flink import KeyedLearner

PYTHON = ROOT / ".venv-flink" / "bin" / "python"
READY = ROOT / ".venv-flink" / "done"
KEYS, SAMPLES = 1000, 20


class ValueState:
    """A state as Flink has it for the current key."""

    def __init__(self) -> None:
        self._value: bytes | None = None

    def value(self) -> bytes | None:
        return self._value

    def update(self, value: bytes) -> None:
        self._value = value


def expected(key: int, keys: int, samples: int) -> llr.Learner:
    """The learner of a key, from its samples in order."""
    chosen = {"algorithm": "auto"} | settings(key)
    learner = llr.Learner("linear", DIM, chosen["algorithm"])
    for number in range(key, keys * samples, keys):
        assert learner.learn(*sample(number))
    return learner


@pytest.mark.parametrize("key", [3, 4])
def test_an_element_is_predicted_then_learnt(key: int) -> None:
    operator = KeyedLearner(sample, of_key=settings, model="linear", dim=DIM)
    operator._state = ValueState()
    context: Any = SimpleNamespace(get_current_key=lambda: key)
    learner = expected(key, 10, 0)
    for t, number in enumerate(range(key, 50, 10), 1):
        x, y = sample(number)
        before = learner.predict(x)
        assert learner.learn(x, y)
        assert list(operator.process_element(number, context)) == [(key, t, before, True)]
    assert operator._state.value() == learner.pack(history=False)


class ListState:
    """A list as Flink keeps it for the current key."""

    def __init__(self) -> None:
        self._values: list[Any] = []

    def get(self) -> list[Any]:
        return list(self._values)

    def add(self, value: Any) -> None:
        self._values.append(value)

    def update(self, values: list[Any]) -> None:
        self._values = list(values)


class Context:
    """What Flink tells an operator: the key, the time of the element, the watermark."""

    def __init__(self) -> None:
        self.time: int | None = 0
        self.watermark = -1
        self.timers: set[int] = set()

    def get_current_key(self) -> int:
        return 3

    def timestamp(self) -> int | None:
        return self.time

    def timer_service(self) -> "Context":
        return self

    def current_watermark(self) -> int:
        return self.watermark

    def register_event_time_timer(self, timestamp: int) -> None:
        self.timers.add(timestamp)


def operator(**options: Any) -> KeyedLearner:
    made = KeyedLearner(lambda pair: pair, model="linear", dim=1, **options)
    made._state, made._waiting = ValueState(), ListState()
    return made


def given(made: KeyedLearner, context: Context, at: int, *pair: Any) -> list[Any]:
    context.time = at
    return list(made.process_element(pair, context))


def test_with_event_time_elements_are_learnt_in_the_order_of_their_timestamps() -> None:
    made, context = operator(event_time=True), Context()
    for at, y in ((30, 3.0), (10, 1.0), (20, 2.0), (50, 5.0)):
        assert given(made, context, at, [1.0], y) == []
    assert context.timers == {10, 20, 30, 50}
    learner = llr.Learner("linear", 1)
    found = []
    for context.watermark in (10, 30):
        found += list(made.on_timer(context.watermark, context))
    for y in (1.0, 2.0, 3.0):
        before = float(learner.predict([1.0]))
        assert learner.learn([1.0], y)
        assert found.pop(0) == (3, learner.t, before, True)
    assert found == []
    assert made._state.value() == learner.pack(history=False)
    [late] = given(made, context, 5, [1.0], 0.0)
    assert late[1] == 4


def test_event_time_needs_timestamps() -> None:
    made, context = operator(event_time=True), Context()
    context.time = None
    with pytest.raises(ValueError, match="timestamps"):
        list(made.process_element(([1.0], 1.0), context))


def test_a_bad_element_fails_the_job_or_goes_to_a_side_output() -> None:
    with pytest.raises(llr.SampleError):
        given(operator(), Context(), 0, [1.0, 2.0], 1.0)
    made, tag = operator(bad="bad"), "bad"
    assert given(made, Context(), 0, [1.0], 1.0)[0][1] == 1
    state = made._state.value()
    [(output, (key, reason, element))] = given(made, Context(), 0, [1.0, 2.0], 1.0)
    assert (output, key, element) == (tag, 3, ([1.0, 2.0], 1.0))
    assert "2" in reason
    assert made._state.value() == state


def test_an_element_without_a_label_is_predicted_only() -> None:
    made = operator()
    given(made, Context(), 0, [1.0], 4.0)
    state = made._state.value()
    [(_, t, prediction, learnt)] = given(made, Context(), 0, [1.0], None)
    assert (t, learnt) == (1, False)
    assert prediction == llr.Learner.unpack(state).predict([1.0])
    assert made._state.value() == state


def test_an_operator_is_sent_to_the_workers_without_its_learners() -> None:
    made = KeyedLearner(sample, model="linear", dim=DIM)
    empty = len(pickle.dumps(made))
    made._state = ValueState()
    list(made.process_element(1, Context()))
    made._state = None
    assert len(pickle.dumps(made)) == empty


REPLACED = """
import builtins, sys
class Printer:
    def print(self, *args): sys.stdout.write(args[0])
builtins.print = Printer().print
import llr
print(str(llr.Learner("gaussian").theta))
"""


def test_the_library_loads_where_print_was_replaced_as_flinks_workers_do() -> None:
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", REPLACED], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout == "[0.]"


def run(folder: Path, kill: str) -> dict[int, str]:
    """Run the job; returns the state of each key."""
    folder.mkdir()
    environment = os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'tests'}"}
    done = subprocess.run(  # noqa: S603
        [PYTHON, ROOT / "tests/support/flink_job.py", folder, str(KEYS), str(SAMPLES), kill],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    rows = json.loads((folder / "states.json").read_text())
    assert len(rows) == KEYS  # each key's end came once
    assert all(learnt for _, learnt, _ in rows)
    return {key: state for key, _, state in rows}


def by_the_service(keys: int, samples: int) -> dict[int, str]:
    """The same states from sessions of the service, fed with the same samples."""
    found = {}
    with TestClient(App(Settings(store="memory:"))) as app:
        for key in range(keys):
            chosen = {"model": "linear", "dim": DIM, "regret": "off"} | settings(key)
            app.put(f"/v1/sessions/k{key}", json=chosen).raise_for_status()
            x, y = zip(*map(sample, range(key, keys * samples, keys)), strict=True)
            body = {"x": x, "y": y}
            app.post(f"/v1/sessions/k{key}/samples", json=body).raise_for_status()
            state = app.get(f"/v1/sessions/k{key}/snapshot").json()["state"]
            found[key] = llr.Learner.from_plain(state).pack(history=False).hex()
    return found


def test_a_session_of_the_service_has_the_state_of_a_key() -> None:
    states = by_the_service(4, 10)
    for key, state in states.items():
        assert state == expected(key, 4, 10).pack(history=False).hex()


@pytest.mark.slow
@pytest.mark.skipif(not READY.exists(), reason="PyFlink has its own environment: make test-flink")
def test_a_killed_worker_is_restored_bit_by_bit(tmp_path: Path) -> None:
    killed = run(tmp_path / "killed", "kill")
    assert (tmp_path / "killed" / "killed").exists()
    assert killed == run(tmp_path / "whole", "no")
    assert killed == by_the_service(KEYS, SAMPLES)
    for key in range(KEYS):
        assert killed[key] == expected(key, KEYS, SAMPLES).pack(history=False).hex()


@pytest.mark.slow
@pytest.mark.skipif(not READY.exists(), reason="PyFlink has its own environment: make test-flink")
def test_the_example_predicts_each_customers_orders(tmp_path: Path) -> None:
    orders = [
        {"customer": "ab"[n % 2], "x": [n % 5, 1.0], "price": float((n % 5) * (1 + n % 2))}
        for n in range(80)
    ]
    orders += [{"customer": "a", "x": [2, 1.0]}, {"customer": "b", "x": [1, 2, 3], "price": 1.0}]
    file = tmp_path / "orders.ndjson"
    file.write_text("\n".join(map(json.dumps, orders)))
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(  # noqa: S603
        [PYTHON, ROOT / "examples/flink/orders.py", "--file", file],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert len(lines) == 81
    learner = llr.Learner("linear", 2, second_order=False)
    mine = [order for order in orders[:80] if order["customer"] == "a"]
    told = [line for line in lines if line["customer"] == "a"]
    for order, line in zip(mine, told, strict=False):
        assert line["predicted"] == float(learner.predict(order["x"]))
        assert learner.learn(order["x"], order["price"])
    assert told[-1] == {"customer": "a", "t": 40, "predicted": float(learner.predict([2, 1.0]))}
    assert "an order of b cannot be learnt" in done.stdout
