"""A session to ask what-ifs of, and a gate that lets them relearn block by block."""

import asyncio
from typing import Any

import httpx
import numpy as np
import pytest
from llr_service.sessions import replay
from llr_service.sessions.replay import ReplayWorker

import llr

A, B = "/v1/sessions/a", "/v1/sessions/b"
RNG = np.random.default_rng(3)
X = RNG.normal(size=(600, 2))
Y = X @ [1.0, -2.0] + 0.1 * RNG.normal(size=600)
ROWS = [{"x": x, "y": y} for x, y in zip(X.tolist(), Y.tolist(), strict=True)]


class Gate:
    """Lets so many blocks pass, of one entry each."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.permits = asyncio.Semaphore(0)
        self.asked = 0
        block = ReplayWorker._learn_block

        async def held(*arguments: Any) -> None:
            self.asked += 1
            await self.permits.acquire()
            await block(*arguments)

        patch.setattr(ReplayWorker, "_learn_block", held)
        patch.setattr(replay, "BLOCK", 1)
        patch.setattr(replay, "RETRY_SECONDS", 0.0)

    def open(self, blocks: int = 1000) -> None:
        for _ in range(blocks):
            self.permits.release()


async def source(http: httpx.AsyncClient, **config: Any) -> None:
    """A session that keeps 600 samples in 20 batches, from a producer."""
    given = {"model": "linear", "algorithm": "sg/ag", "retain": True} | config
    created = await http.put(A, json=given)
    assert created.status_code == 201, created.text
    for at in range(0, 600, 30):
        query: dict[str, Any] = {"producer": "p", "seq": at}
        answer = await http.post(f"{A}/samples", json=ROWS[at : at + 30], params=query)
        assert answer.status_code == 200, answer.text


async def what_if(http: httpx.AsyncClient, **body: Any) -> Any:
    made = await http.post(f"{A}/fork", json={"name": "b", "relearn": True} | body)
    assert made.status_code == 201, made.text
    return made.json()


async def state(http: httpx.AsyncClient, path: str = B) -> Any:
    return (await http.get(path)).json()


async def done(http: httpx.AsyncClient, path: str = B) -> Any:
    """The state of a what-if that has ended."""
    async with asyncio.timeout(30):
        while True:
            shown = await state(http, path)
            going = shown["relearning"]
            if going["done"] == going["of"] or going["stopped"]:
                return shown
            await asyncio.sleep(0)


def fresh(algorithm: str, eta0: float = 1e-3, n: int = 600) -> Any:
    learner = llr.Learner("linear", 2, algorithm, eta0, regret="exact")
    assert learner.learn(X[:n], Y[:n])
    return learner.to_plain()
