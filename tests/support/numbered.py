"""A session that learns numbers in order, and the state they leave."""

from collections.abc import Sequence
from typing import Any

from starlette.testclient import TestClient

from llr import Learner

DEMO = "/v1/sessions/demo"


def create(client: TestClient) -> None:
    assert client.put(DEMO, json={"model": "gaussian", "algorithm": "sg/ag"}).is_success


def learn(client: TestClient, start: int, stop: int) -> Any:
    body = {"y": [float(number) for number in range(start, stop)]}
    return client.post(f"{DEMO}/samples?producer=p&seq={start}", json=body)


def state(client: TestClient) -> Any:
    return client.get(f"{DEMO}/snapshot").json()["state"]


def replay(n: int) -> Any:
    return replayed([float(y) for y in range(n)])


def replayed(ys: Sequence[float]) -> Any:
    learner = Learner("gaussian", algorithm="sg/ag", regret="exact")
    for y in ys:
        assert learner.learn(y)
    return learner.to_plain()
