"""Predictions with ids, labels, samples, time and restarts, in any order, against a model."""

import tempfile
from pathlib import Path
from typing import Any, NamedTuple

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
TTL = 10
ROWS = [[0.5, -1.2], [0.1, 0.3], [2.0, 1.0]]
IDS = st.lists(st.sampled_from("abcdef"), min_size=1, max_size=3)
NUMBERS = st.integers(-3, 3).map(float)


class Known(NamedTuple):
    """What the model knows of an id."""

    x: int
    expires: float
    learnt: bool


class Machine(RuleBasedStateMachine):
    """One session and its model: a table of ids, and the samples in the order they are learnt."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.store = f"sqlite:///{Path(self.folder.name) / 'llr.db'}"
        self.now = 1000.0
        self.known: dict[str, Known] = {}
        self.learner = llr.Learner("linear", 2, "sg/ag", regret="exact")
        self.open()

    def open(self) -> None:
        self.app = App(Settings(store=self.store, docs=False), lambda: self.now)
        self.client = TestClient(self.app, raise_server_exceptions=False)
        self.client.__enter__()

    @initialize(default=st.sampled_from([None, -2.0]))
    def create(self, default: float | None) -> None:
        self.default = default
        config = {"model": "linear", "dim": 2, "algorithm": "sg/ag", "label_seconds": TTL}
        answer = self.client.put(DEMO, json=config | {"expired_label": default})
        assert answer.status_code == 201

    def learn(self, x: int, y: float) -> None:
        assert self.learner.learn([ROWS[x]], [y])

    def expire(self) -> None:
        """What is due is gone, in the order of its time."""
        due = [name for name in self.known if self.known[name].expires <= self.now]
        for name in sorted(due, key=lambda name: (self.known[name].expires, name)):
            gone = self.known.pop(name)
            if self.default is not None and not gone.learnt:
                self.learn(gone.x, self.default)

    @rule(ids=IDS, data=st.data())
    def predict(self, ids: list[str], data: st.DataObject) -> None:
        rows = [data.draw(st.integers(0, 2)) for _ in ids]
        body: Any = {"x": [ROWS[i] for i in rows], "ids": ids}
        if len(ids) == 1 and data.draw(st.booleans()):
            body = {"x": ROWS[rows[0]], "id": ids[0]}
        answer = self.client.post(f"{DEMO}/predict", json=body)
        self.expire()
        after, taken = dict(self.known), False
        for name, x in zip(ids, rows, strict=True):
            taken |= after.setdefault(name, Known(x, self.now + TTL, False)).x != x
        assert answer.status_code == (409 if taken else 200)
        self.known = self.known if taken else after

    @rule(ids=IDS, y=NUMBERS)
    def label(self, ids: list[str], y: float) -> None:
        body: Any = [{"id": name, "y": y + i} for i, name in enumerate(ids)]
        answer = self.client.post(f"{DEMO}/labels", json=body if len(ids) > 1 else body[0])
        self.expire()
        unknown = [name for name in ids if name not in self.known]
        if unknown:
            assert answer.status_code == 404
            assert [error["id"] for error in answer.json()["errors"]] == unknown
            return
        accepted = 0
        for i, name in enumerate(ids):
            if not self.known[name].learnt:
                self.learn(self.known[name].x, y + i)
                self.known[name] = Known(self.known[name].x, self.now + TTL, True)
                accepted += 1
        told = answer.json()
        assert (told["accepted"], told["duplicate"]) == (accepted, accepted == 0)
        assert told["t"] == self.learner.t

    @rule(x=st.integers(0, 2), y=NUMBERS)
    def sample(self, x: int, y: float) -> None:
        self.client.post(f"{DEMO}/samples", json={"x": ROWS[x], "y": y})
        self.learn(x, y)

    @rule(seconds=st.integers(1, TTL))
    def wait(self, seconds: int) -> None:
        self.now += seconds

    @rule()
    def sweep(self) -> None:
        assert self.client.portal is not None
        self.client.get(DEMO)  # those in memory are swept
        self.client.portal.call(self.app.context.sessions.expire_labels)
        self.expire()

    @rule()
    def restart(self) -> None:
        self.client.__exit__()
        self.open()

    @rule()
    def reload(self) -> None:
        session = self.app.context.sessions.peek("demo")
        if session is not None:
            session.discard()

    @invariant()
    def all_is_as_it_should_be(self) -> None:
        if self.learner.t:
            shown = self.client.get(f"{DEMO}/snapshot").json()
            assert shown["t"] == self.learner.t
            assert shown["state"] == self.learner.to_plain()

    def teardown(self) -> None:
        self.client.__exit__()
        self.folder.cleanup()


def test_whatever_is_sent_the_model_agrees() -> None:
    run_state_machine_as_test(
        Machine,
        settings=settings(max_examples=40, stateful_step_count=20, derandomize=True, deadline=None),
    )
