"""Doing what talks want done: one thing after the other, or awaited."""

from collections.abc import AsyncGenerator, Generator
from typing import Any, TypeVar

import httpx

from llr_client.retries import Clock
from llr_client.wire import Give, NextLine, Send, Sleep, Talk, advance

R = TypeVar("R")


class Runner:
    """Runs talks over a connection pool."""

    def __init__(self, transport: httpx.BaseTransport | None, clock: Clock) -> None:
        self.http, self._clock = httpx.Client(transport=transport), clock

    def run(self, talk: Talk[R]) -> R:
        """Run a talk to its end; returns its result."""
        try:
            step = next(talk)
            while True:
                step = advance(talk, self._do(step, []))
        except StopIteration as end:
            result: R = end.value
            return result

    def iterate(self, talk: Talk[None]) -> Generator[Any, None, None]:
        """The values a talk gives, as they come."""
        opened: list[Any] = []
        try:
            step = next(talk)
            while True:
                if isinstance(step, Give):
                    yield step.value
                    step = advance(talk, None)
                else:
                    step = advance(talk, self._do(step, opened))
        except StopIteration:
            return
        finally:
            _close(opened)

    def _do(self, step: Any, opened: list[Any]) -> Any:
        """What came of a step; an error of the transport is an outcome too."""
        try:
            match step:
                case Send(request, streamed):
                    _close(opened)
                    return self._send(request, streamed, opened)
                case NextLine():
                    return next(opened[1], None)
                case Sleep(seconds):
                    return self._clock.sleep(seconds)
        except httpx.RequestError as lost:
            return lost

    def _send(self, request: httpx.Request, streamed: bool, opened: list[Any]) -> httpx.Response:
        response = self.http.send(request, stream=streamed)
        if streamed and response.is_success:
            opened += [response, response.iter_lines()]
        elif streamed:
            response.read()
        return response


class AsyncRunner:
    """Runs talks over a connection pool, awaiting what takes time."""

    def __init__(self, transport: httpx.AsyncBaseTransport | None, clock: Clock) -> None:
        self.http, self._clock = httpx.AsyncClient(transport=transport), clock

    async def run(self, talk: Talk[R]) -> R:
        """Run a talk to its end; returns its result."""
        try:
            step = next(talk)
            while True:
                step = advance(talk, await self._do(step, []))
        except StopIteration as end:
            result: R = end.value
            return result

    async def iterate(self, talk: Talk[None]) -> AsyncGenerator[Any, None]:
        """The values a talk gives, as they come."""
        opened: list[Any] = []
        try:
            step = next(talk)
            while True:
                if isinstance(step, Give):
                    yield step.value
                    step = advance(talk, None)
                else:
                    step = advance(talk, await self._do(step, opened))
        except StopIteration:
            return
        finally:
            await _aclose(opened)

    async def _do(self, step: Any, opened: list[Any]) -> Any:
        """What came of a step; an error of the transport is an outcome too."""
        try:
            match step:
                case Send(request, streamed):
                    await _aclose(opened)
                    return await self._send(request, streamed, opened)
                case NextLine():
                    return await anext(opened[1], None)
                case Sleep(seconds):
                    return await self._clock.sleep(seconds)
        except httpx.RequestError as lost:
            return lost

    async def _send(
        self, request: httpx.Request, streamed: bool, opened: list[Any]
    ) -> httpx.Response:
        response = await self.http.send(request, stream=streamed)
        if streamed and response.is_success:
            opened += [response, response.aiter_lines()]
        elif streamed:
            await response.aread()
        return response


def _close(opened: list[Any]) -> None:
    if opened:
        opened[0].close()
        opened.clear()


async def _aclose(opened: list[Any]) -> None:
    if opened:
        await opened[0].aclose()
        opened.clear()
