"""Samples, retries, shadows that come, go and take over, and restarts, in any order: a model."""

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)
from llr_service.app import App
from llr_service.settings import Settings
from starlette.testclient import TestClient

import llr

pytestmark = pytest.mark.slow

DEMO = "/v1/sessions/demo"
ROWS = [[0.5, -1.2], [0.1, 0.3], [2.0, 1.0]]
NAMES = st.sampled_from("abc")
ALGORITHMS = st.sampled_from(["sg", "sg/ag", "auto"])
BATCHES = st.lists(st.tuples(st.sampled_from(ROWS), st.integers(-3, 3)), min_size=1, max_size=5)


def learner(algorithm: str, theta0: Any = None) -> llr.Learner:
    return llr.Learner("linear", 2, algorithm, theta0=theta0, regret="exact")


class Machine(RuleBasedStateMachine):
    """One session, and learners that know nothing of each other."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.store = f"sqlite:///{Path(self.folder.name) / 'llr.db'}"
        self.champion, self.name = learner("sg"), ""
        self.shadows: dict[str, llr.Learner] = {}
        self.sent: list[Any] = []
        self.open()

    def open(self) -> None:
        self.client = TestClient(App(Settings(store=self.store, docs=False)))
        self.client.__enter__()

    def teardown(self) -> None:
        self.client.__exit__(None, None, None)
        self.folder.cleanup()

    @initialize(algorithm=ALGORITHMS)
    def create(self, algorithm: str) -> None:
        shadow = {"a": {"algorithm": algorithm}}
        config = {"model": "linear", "dim": 2, "algorithm": "sg", "shadows": shadow}
        assert self.client.put(DEMO, json=config).status_code == 201
        self.shadows["a"] = learner(algorithm)

    def post(self, rows: Any, seq: int) -> dict[str, Any]:
        body = {"x": [x for x, _ in rows], "y": [float(y) for _, y in rows]}
        query = {"producer": "p", "seq": seq}
        answer = self.client.post(f"{DEMO}/samples", json=body, params=query)
        assert answer.status_code == 200
        return dict(answer.json())

    @rule(rows=BATCHES)
    def learn(self, rows: Any) -> None:
        answer = self.post(rows, len(self.sent))
        self.sent += rows
        for one in (self.champion, *self.shadows.values()):
            for x, y in rows:
                assert one.learn([x], [float(y)])
        assert answer["t"] == len(self.sent)
        totals = {name: one["loss"]["total"] for name, one in answer.get("shadows", {}).items()}
        assert totals == {name: one.loss.total for name, one in self.shadows.items()}

    @rule(back=st.integers(1, 8))
    def send_again(self, back: int) -> None:
        seq = max(0, len(self.sent) - back)
        if self.sent[seq:]:
            assert self.post(self.sent[seq:], seq)["duplicate"]

    @rule(name=NAMES, algorithm=ALGORITHMS)
    def add(self, name: str, algorithm: str) -> None:
        answer = self.client.put(f"{DEMO}/shadows/{name}", json={"algorithm": algorithm})
        known = self.shadows.get(name)
        if known is not None:
            assert answer.status_code == (200 if known.config.algorithm == algorithm else 409)
        elif name == self.name:
            assert answer.status_code == 409
        else:
            assert answer.status_code == 201
            theta = self.champion.theta if self.champion.t else None
            self.shadows[name] = learner(algorithm, theta)

    @rule(name=NAMES)
    def remove(self, name: str) -> None:
        answer = self.client.delete(f"{DEMO}/shadows/{name}")
        assert answer.status_code == (204 if self.shadows.pop(name, None) else 404)

    @rule(name=NAMES, times=st.integers(1, 2))
    def promote(self, name: str, times: int) -> None:
        for _ in range(times):
            answer = self.client.post(f"{DEMO}/promote", json={"name": name})
        if name not in self.shadows and name != self.name:
            assert answer.status_code == 404
            return
        state = answer.json()
        if name != self.name:
            former, self.champion = self.champion, self.shadows.pop(name)
            self.shadows[state["former"]], self.name = former, name
        assert state["champion"] == name

    @rule()
    def restart(self) -> None:
        self.client.__exit__(None, None, None)
        self.open()

    @invariant()
    def everybody_is_as_if_alone(self) -> None:
        if not self.shadows and not self.sent:
            return
        snapshot = self.client.get(f"{DEMO}/snapshot").json()
        team = snapshot["team"]
        assert snapshot["t"] == len(self.sent)
        assert snapshot["state"] == self.champion.to_plain()
        states = dict(zip(team["shadows"], team["states"], strict=True))
        assert states == {name: one.to_plain() for name, one in self.shadows.items()}


def test_a_session_agrees_with_learners_that_know_nothing_of_each_other() -> None:
    run_state_machine_as_test(
        Machine, settings=settings(max_examples=12, stateful_step_count=12, deadline=None)
    )
