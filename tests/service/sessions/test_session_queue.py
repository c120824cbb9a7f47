"""A session's queue and its pipeline: slots come back by themselves, results come in order."""

from collections.abc import AsyncIterator

import numpy as np
import pytest
from llr_service.app import App
from llr_service.codec import Samples
from llr_service.sessions.batch import PendingCommit, SequenceId
from llr_service.sessions.committer import CommitFuture
from llr_service.sessions.config import ReplaySource, SessionConfig
from llr_service.sessions.consistency import OrderedPipeline
from llr_service.sessions.session import Session
from llr_service.sessions.session_queue import ReplayStatus
from llr_service.settings import Settings
from support.app import Stub, running, until

pytestmark = pytest.mark.anyio


@pytest.fixture
def app(store: Stub) -> App:
    return App(Settings(store="memory:"))


@pytest.fixture
async def session(app: App) -> AsyncIterator[Session]:
    async with running(app):
        made, _ = await app.context.sessions.create("demo", SessionConfig(model="gaussian"))
        yield made


def samples(*labels: float) -> Samples:
    return Samples(None, np.array(labels))


async def test_a_slot_is_given_back_though_nothing_waits_for_the_result(
    store: Stub, session: Session
) -> None:
    store.opened.clear()
    await session.submit(samples(1.0), SequenceId("p", 0))
    await session.submit(samples(1.0), SequenceId("p", 0))
    assert (session.queue.pending, session.busy) == (2, True)
    store.opened.set()
    await until(lambda: not session.queue.pending)
    assert (session.t, session.busy) == (1, False)
    again = await session.submit(samples(1.0), SequenceId("p", 0))
    assert session.queue.pending == 0, "a duplicate of what is stored waits for nothing"
    assert (await again.durable()).duplicate


async def test_a_refused_batch_holds_no_slot(session: Session) -> None:
    with pytest.raises(Exception, match="send from there"):
        await session.submit(samples(1.0), SequenceId("p", 5))
    assert session.queue.pending == 0


async def test_results_of_a_pipeline_are_taken_in_order_and_once(
    app: App, session: Session
) -> None:
    async with OrderedPipeline(app.context.sessions, session) as pipeline:
        first = await pipeline.submit(one)
        second = await pipeline.submit(one)
        with pytest.raises(RuntimeError, match="order"):
            await second.result()
        assert [(await each.result()).ensemble.t for each in (first, second)] == [1, 2]
        with pytest.raises(RuntimeError, match="once"):
            await second.result()
    assert session.watchers == 0


async def test_a_pipeline_that_is_left_waits_for_the_store(
    store: Stub, app: App, session: Session
) -> None:
    store.opened.clear()
    async with OrderedPipeline(app.context.sessions, session) as pipeline:
        await pipeline.submit(one)
        await until(lambda: store.waiting)
        store.opened.set()
    assert (session.t, session.queue.pending) == (1, 0)


async def one(session: Session) -> PendingCommit:
    return await session.submit(samples(1.0))


def test_a_callback_of_a_future_that_is_done_is_called_at_once() -> None:
    future, called = CommitFuture[int](), list[object]()
    future.add_callback(called.append)
    future.set_result(7)
    future.add_callback(called.append)
    assert called == [7, 7]


def test_the_time_that_a_replay_still_takes_is_told_by_the_clock_of_the_service() -> None:
    now = [50.0]
    status = ReplayStatus(ReplaySource("a", 1, 100), lambda: now[0])
    status.start(10)
    now[0] += 30.0
    assert status.refusal(70).headers == {"Retry-After": "15"}
    now[0] -= 60.0
    assert status.refusal(70).headers == {"Retry-After": "1"}
