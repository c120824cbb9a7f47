"""A session, for programs that await."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from typing import Any

from llr_client.answers import Answer, History, State
from llr_client.handle import Handle, Seat, telling
from llr_client.relearning import Progress, deleted, is_done
from llr_client.runner import AsyncRunner
from llr_client.samples import CHUNK, blocks_as_they_come, chunks, single


class AsyncSession(Seat):
    """A named learner, and one producer's place in it. `AsyncClient.session` makes it.

    As `Session`, with methods to await. Tasks may share a session; their samples are sent one
    batch at a time.
    """

    def __init__(self, handle: Handle, runner: AsyncRunner) -> None:
        super().__init__(handle)
        self._runner, self._turn = runner, asyncio.Lock()

    async def learn(
        self, x: Any = None, y: Any = None, *, theta: bool = True, predictions: bool = False
    ) -> Answer:
        """Learn from one sample, as `Session.learn`."""
        async with self._turn:
            return await self._runner.run(self._handle.learn(single(x, y), theta, predictions))

    async def learn_many(
        self,
        X: Any,
        y: Any = None,
        *,
        theta: bool = True,
        predictions: bool = False,
        progress: Callable[[Answer], None] | None = None,
        chunk_bytes: int = CHUNK,
    ) -> Answer:
        """Learn from many samples, in order, as `Session.learn_many`."""
        batches = chunks(X, y, chunk_bytes)
        async with self._turn:
            talk = self._handle.learn_all(batches, theta, predictions, progress)
            return await self._runner.run(talk)

    async def stream(
        self,
        samples: AsyncIterable[Any] | Iterable[Any],
        *,
        block: int = 500,
        theta: bool = True,
    ) -> AsyncGenerator[Answer, None]:
        """Learn from samples as they come, as `Session.stream`; they may have to be awaited."""
        learnt = 0
        async for batch in blocks_as_they_come(samples, block):
            async with self._turn:
                with telling(learnt):
                    answer = await self._runner.run(self._handle.learn(batch, theta))
            learnt += batch.n
            yield answer

    async def acked(self) -> int:
        """How many samples of this producer the service has: where a given one goes on."""
        async with self._turn:
            return await self._runner.run(self._handle.acked())

    async def predict(
        self,
        x: Any = None,
        *,
        id: str | Sequence[str] | None = None,  # noqa: A002
    ) -> Any:
        """Predict without learning, as `Session.predict`."""
        return await self._runner.run(self._handle.predict(x, id))

    async def label(
        self,
        id: str | Sequence[str],  # noqa: A002
        y: Any,
        *,
        theta: bool = True,
        predictions: bool = False,
    ) -> Answer:
        """Learn from what `predict` kept under an id, as `Session.label`."""
        return await self._runner.run(self._handle.label(id, y, theta, predictions))

    async def state(self) -> State:
        """All of the session."""
        return await self._runner.run(self._handle.state())

    async def history(self, points: int = 500, theta: Sequence[int | str] | None = None) -> History:
        """The past in at most so many points, with these parts of theta or the first 8."""
        return await self._runner.run(self._handle.history(points, theta))

    def events(self) -> AsyncGenerator[State, None]:
        """The state now and whenever it moves, as `Session.events`."""
        return self._runner.iterate(self._handle.events())

    async def snapshot(self) -> dict[str, Any]:
        """Everything needed to go on elsewhere, as plain JSON: see `AsyncClient.restore`."""
        return await self._runner.run(self._handle.snapshot())

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
        """A copy that goes its own way, as `Session.fork`."""
        talk = self._handle.fork(
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
        return AsyncSession(await self._runner.run(talk), self._runner)

    async def relearnt(self, progress: Progress | None = None) -> State:
        """Wait until a fork with `relearn` has learnt all, as `Session.relearnt`."""
        async with aclosing(self.events()) as states:
            async for state in states:
                if is_done(state, progress):
                    return state
        raise deleted(self.name)

    async def add_shadow(
        self,
        name: str,
        algorithm: str,
        *,
        eta0: float | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> State:
        """Let another algorithm learn the same samples from now on, as `Session.add_shadow`."""
        talk = self._handle.add_shadow(name, algorithm=algorithm, eta0=eta0, options=options)
        return await self._runner.run(talk)

    async def remove_shadow(self, name: str) -> None:
        """Remove a shadow and what it has learnt."""
        await self._runner.run(self._handle.remove_shadow(name))

    async def promote(self, name: str) -> State:
        """Make a shadow the champion, as `Session.promote`."""
        return await self._runner.run(self._handle.promote(name))

    async def delete(self) -> None:
        """Delete the session and all that is kept of it."""
        await self._runner.run(self._handle.delete())
