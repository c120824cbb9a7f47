"""The asynchronous SDK against the app in this process, and against the real service."""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import numpy as np
import pytest
from llr_client import AsyncClient, Client, LLRError, SessionNotFound, Unreachable, errors
from llr_client.retries import Clock
from llr_service.app import App
from llr_service.settings import Settings
from support.app import running
from support.flaky import Time
from support.serving import serving

import llr

pytestmark = pytest.mark.anyio
URL = "http://here"
RNG = np.random.default_rng(7)
X = RNG.normal(size=(50, 3))
Y = X @ [1.0, -2.0, 3.0]


class Losing(httpx.AsyncBaseTransport):
    """An app in this process, whose answers are lost as often as told."""

    def __init__(self, app: App) -> None:
        self._inner, self.losses = httpx.ASGITransport(app), 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await self._inner.handle_async_request(request)
        if self.losses:
            self.losses -= 1
            raise httpx.ReadTimeout("", request=request)
        return response


@pytest.fixture
async def losing() -> AsyncIterator[Losing]:
    app = App(Settings(store="memory:"))
    async with running(app):
        yield Losing(app)


@pytest.fixture
async def sdk(losing: Losing) -> AsyncIterator[AsyncClient]:
    async with AsyncClient(URL, transport=losing, clock=Time().async_clock) as client:
        yield client


async def test_everything_can_be_awaited(sdk: AsyncClient) -> None:
    session = await sdk.session("demo", model="linear", dim=3)
    assert (await session.learn(X[0], Y[0])).t == 1
    assert (await session.learn_many(X[1:20], Y[1:20], chunk_bytes=200)).t == 20
    rows = list(zip(X[20:], Y[20:], strict=True))
    assert [answer.t async for answer in session.stream(rows, block=20)] == [40, 50]
    state = await session.state()
    learner = llr.Learner("linear", 3, regret="exact")
    learner.learn(X, Y)
    assert state.theta == learner.theta.tolist()
    assert await session.predict(X[0]) == pytest.approx(float(learner.predict(X[0])))
    assert (await session.history(points=5)).t[-1] == await session.acked() == 50
    await session.predict(X[:2], id=["a", "b"])
    assert (await session.label("b", 1.0)).t == 51
    state = await session.state()
    twin = await sdk.restore("twin", await session.snapshot())
    assert (await twin.state()).theta == state.theta
    fork = await session.fork("fork")
    assert (await fork.state()).theta == state.theta
    assert [row.name async for row in sdk.sessions()] == ["demo", "fork", "twin"]
    assert (await sdk.version())["store"] == "memory"
    assert "models" in await sdk.catalog()
    await twin.delete()
    with pytest.raises(SessionNotFound):
        await twin.state()


async def test_samples_that_have_to_be_awaited_are_streamed(sdk: AsyncClient) -> None:
    async def sensor() -> AsyncIterator[float]:
        for y in range(25):
            await asyncio.sleep(0)
            yield y

    session = await sdk.session("sensor", model="gaussian")
    answers = [answer async for answer in session.stream(sensor(), block=10)]
    assert [(answer.t, answer.accepted) for answer in answers] == [(10, 10), (20, 10), (25, 5)]


async def test_lost_answers_are_asked_for_again_and_learnt_once(
    sdk: AsyncClient, losing: Losing
) -> None:
    session = await sdk.session("lossy", model="gaussian")
    losing.losses = 3
    assert (await session.learn(1.0)).t == 1
    losing.losses = 1
    assert (await session.learn_many([2.0, 3.0])).t == 3


async def test_tasks_that_share_a_session_lose_nothing(sdk: AsyncClient, losing: Losing) -> None:
    session = await sdk.session("shared", model="gaussian")
    losing.losses = 5
    answers = await asyncio.gather(*(session.learn(float(y)) for y in range(20)))
    assert sorted(answer.t for answer in answers) == list(range(1, 21))


@pytest.mark.parametrize("steps", range(8))
async def test_a_cancelled_sample_is_in_doubt_and_the_next_is_not_taken_for_it(
    sdk: AsyncClient, steps: int
) -> None:
    session = await sdk.session("cancelled", model="gaussian")
    task = asyncio.create_task(session.learn(1.0))
    for _ in range(steps):
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    answer = await session.learn(2.0)
    # who stops waiting stops nothing: the first may have been learnt, though nobody was told
    learnt = [2.0] if task.cancelled() and answer.t == 1 else [1.0, 2.0]
    learner = llr.Learner("gaussian", regret="exact")
    learner.learn(learnt)
    state = await session.state()
    assert (answer.accepted, answer.t, state.t) == (1, len(learnt), len(learnt))
    assert state.theta == learner.theta.tolist()


async def test_patience_ends_for_those_who_await_too(losing: Losing) -> None:
    time = Time()
    async with AsyncClient(URL, patience=5, transport=losing, clock=time.async_clock) as client:
        losing.losses = 1000
        with pytest.raises(Unreachable, match="timed out"):
            await client.version()
    assert 2 < time.now <= 5


async def test_events_and_keys_against_the_real_service(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 'llr.db'}"
    key = "llr_test"
    digest = hashlib.sha256(key.encode()).hexdigest()
    with serving(store, api_keys=f"me:admin:{digest}") as address:
        async with AsyncClient(f"http://{address}", key) as client, asyncio.timeout(30):
            session = await client.session("live", model="gaussian")
            seen = []
            async for state in session.events():
                seen.append(state.t)
                if state.t == 3:
                    await session.delete()
                else:
                    await session.learn(1.0)
            assert seen == [0, 1, 2, 3]
        with Client(address) as stranger, pytest.raises(errors.Unauthenticated):
            stranger.session("live").state()
        with Client(address, key) as client:
            live = client.session("live", model="gaussian")
            events = live.events()
            assert next(events).t == 0
            live.learn(2.0)
            assert next(events).t == 1
            events.close()


async def test_a_service_that_restarts_is_waited_for(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 'llr.db'}"
    at_once = Clock(sleep=asyncio.sleep, random=lambda: 0.0)
    with ExitStack() as second:

        def restart(error: LLRError, _pause: float) -> None:
            assert isinstance(error, Unreachable)
            second.enter_context(serving(store, port=address.rpartition(":")[2]))

        with serving(store) as address:
            client = AsyncClient(address, on_retry=restart, clock=at_once)
            session = await client.session("long", model="gaussian")
            await session.learn(1.0)
        answer = await session.learn(2.0)
        await client.close()
    assert (answer.t, answer.accepted) == (2, 1)
