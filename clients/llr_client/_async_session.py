"""`AsyncSession`, the asyncio form of a session's operations."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from typing import Any

from llr_client._driver import AsyncDriver
from llr_client._frames import is_frame
from llr_client._operations import SessionOperations, annotate_progress
from llr_client._samples import CHUNK, async_blocks, chunks, one_sample
from llr_client._session import Progress, SessionBase, deleted_error, is_complete
from llr_client.answers import Answer, History, State


class AsyncSession(SessionBase):
    """A session of the service, seen by one producer. `AsyncClient.session` creates it.

    The methods are those of `Session`, awaited. Tasks may share a session; their batches are sent
    one at a time.
    """

    def __init__(self, operations: SessionOperations, driver: AsyncDriver) -> None:
        super().__init__(operations)
        self._driver, self._lock = driver, asyncio.Lock()

    async def learn(
        self,
        x: Any = None,
        y: Any = None,
        *,
        w: float | None = None,
        seq: int | None = None,
        next: int | None = None,  # noqa: A002
        theta: bool = True,
        predictions: bool = False,
    ) -> Answer:
        """Learn from one sample, as `Session.learn`."""
        async with self._lock:
            return await self._driver.run(
                self._operations.learn(one_sample(x, y, w, seq, next), theta, predictions)
            )

    async def learn_many(
        self,
        X: Any,
        y: Any = None,
        *,
        w: Any = None,
        seq: Any = None,
        next: int | None = None,  # noqa: A002
        theta: bool = True,
        predictions: bool = False,
        progress: Callable[[Answer], None] | None = None,
        chunk_bytes: int = CHUNK,
    ) -> Answer:
        """Learn from many samples, in order, as `Session.learn_many`."""
        batches = chunks(X, y, chunk_bytes, w, seq, next)
        async with self._lock:
            operation = self._operations.learn_all(
                batches, theta, predictions, progress, is_frame(X)
            )
            return await self._driver.run(operation)

    async def stream(
        self,
        samples: AsyncIterable[Any] | Iterable[Any],
        *,
        block: int = 500,
        theta: bool = True,
    ) -> AsyncGenerator[Answer, None]:
        """Learn from an iterable or async iterable of samples, as `Session.stream`."""
        learnt = 0
        async for batch in async_blocks(samples, block):
            async with self._lock:
                with annotate_progress(learnt):
                    answer = await self._driver.run(self._operations.learn(batch, theta))
            learnt += batch.n
            yield answer

    async def acked(self) -> int:
        """The number of this producer's samples that the service has: where to continue."""
        async with self._lock:
            return await self._driver.run(self._operations.acked())

    async def skip_to(self, number: int) -> int:
        """Move the producer's next number without a sample, as `Session.skip_to`."""
        async with self._lock:
            return await self._driver.run(self._operations.skip_to(number))

    async def predict(
        self,
        x: Any = None,
        *,
        id: str | Sequence[str] | None = None,  # noqa: A002
        interval: float | None = None,
    ) -> Any:
        """Predict without learning, as `Session.predict`."""
        return await self._driver.run(self._operations.predict(x, id, interval))

    async def label(
        self,
        id: str | Sequence[str],  # noqa: A002
        y: Any,
        *,
        w: Any = None,
        theta: bool = True,
        predictions: bool = False,
    ) -> Answer:
        """Learn the x that `predict` kept under an id, as `Session.label`."""
        return await self._driver.run(self._operations.label(id, y, w, theta, predictions))

    async def state(self) -> State:
        """The session's state."""
        return await self._driver.run(self._operations.state())

    async def history(self, points: int = 500, theta: Sequence[int | str] | None = None) -> History:
        """The history in at most `points` points; of theta these coordinates, or the first 8."""
        return await self._driver.run(self._operations.history(points, theta))

    def events(self) -> AsyncGenerator[State, None]:
        """The state now and after every change, as `Session.events`."""
        return self._driver.iterate(self._operations.events())

    async def snapshot(self) -> dict[str, Any]:
        """A snapshot of the session as plain JSON, for `AsyncClient.restore`."""
        return await self._driver.run(self._operations.snapshot())

    async def fork(
        self,
        name: str,
        *,
        algorithm: str | None = None,
        eta0: float | None = None,
        theta0: Any = None,
        regret: str | None = None,
        options: Mapping[str, Any] | None = None,
        retain: bool | None = None,
        relearn: bool = False,
        producer: str | None = None,
    ) -> "AsyncSession":
        """Copy this session, as `Session.fork`."""
        operation = self._operations.fork(
            name,
            producer,
            algorithm=algorithm,
            eta0=eta0,
            theta0=theta0,
            regret=regret,
            options=options,
            retain=retain,
            relearn=relearn or None,
        )
        return AsyncSession(await self._driver.run(operation), self._driver)

    async def relearnt(self, progress: Progress | None = None) -> State:
        """Wait until a fork with `relearn` has learnt all samples, as `Session.relearnt`."""
        async with aclosing(self.events()) as states:
            async for state in states:
                if is_complete(state, progress):
                    return state
        raise deleted_error(self.name)

    async def add_shadow(
        self,
        name: str,
        algorithm: str,
        *,
        eta0: float | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> State:
        """Add a shadow, as `Session.add_shadow`."""
        operation = self._operations.add_shadow(
            name, algorithm=algorithm, eta0=eta0, options=options
        )
        return await self._driver.run(operation)

    async def remove_shadow(self, name: str) -> None:
        """Delete a shadow and its state."""
        await self._driver.run(self._operations.remove_shadow(name))

    async def promote(self, name: str) -> State:
        """Make a shadow the champion, as `Session.promote`."""
        return await self._driver.run(self._operations.promote(name))

    async def delete(self, *, if_t: int | None = None) -> None:
        """Delete the session and all its data; with `if_t` only if it is at this t, else 412."""
        await self._driver.run(self._operations.delete(if_t))
