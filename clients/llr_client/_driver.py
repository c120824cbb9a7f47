"""Drivers that perform the steps of operations over httpx, blocking or asyncio."""

from collections.abc import AsyncGenerator, Generator
from typing import Any, TypeVar

import httpx

from llr_client._protocol import Emit, NextLine, Operation, Send, Sleep, advance
from llr_client.retries import Clock

R = TypeVar("R")


class Driver:
    """Runs operations over a blocking connection pool."""

    def __init__(self, transport: httpx.BaseTransport | None, clock: Clock) -> None:
        self.http, self._clock = httpx.Client(transport=transport), clock

    def run(self, operation: Operation[R]) -> R:
        """Run an operation; returns its result."""
        try:
            step = next(operation)
            while True:
                step = advance(operation, self._do(step, []))
        except StopIteration as end:
            result: R = end.value
            return result

    def iterate(self, operation: Operation[None]) -> Generator[Any, None, None]:
        """Yield the values that an operation emits."""
        opened: list[Any] = []
        try:
            step = next(operation)
            while True:
                if isinstance(step, Emit):
                    yield step.value
                    step = advance(operation, None)
                else:
                    step = advance(operation, self._do(step, opened))
        except StopIteration:
            return
        finally:
            _close(opened)

    def _do(self, step: Any, opened: list[Any]) -> Any:
        """Perform a step; returns its outcome, which may be a transport error."""
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


class AsyncDriver:
    """Runs operations over an asyncio connection pool."""

    def __init__(self, transport: httpx.AsyncBaseTransport | None, clock: Clock) -> None:
        self.http, self._clock = httpx.AsyncClient(transport=transport), clock

    async def run(self, operation: Operation[R]) -> R:
        """Run an operation; returns its result."""
        try:
            step = next(operation)
            while True:
                step = advance(operation, await self._do(step, []))
        except StopIteration as end:
            result: R = end.value
            return result

    async def iterate(self, operation: Operation[None]) -> AsyncGenerator[Any, None]:
        """Yield the values that an operation emits."""
        opened: list[Any] = []
        try:
            step = next(operation)
            while True:
                if isinstance(step, Emit):
                    yield step.value
                    step = advance(operation, None)
                else:
                    step = advance(operation, await self._do(step, opened))
        except StopIteration:
            return
        finally:
            await _aclose(opened)

    async def _do(self, step: Any, opened: list[Any]) -> Any:
        """Perform a step; returns its outcome, which may be a transport error."""
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
