"""The service, for programs that await."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, Self

import httpx

from llr_client.address import address
from llr_client.answers import Listed
from llr_client.async_session import AsyncSession
from llr_client.directory import Directory
from llr_client.errors import LLRError
from llr_client.handle import Handle
from llr_client.retries import Clock
from llr_client.runner import AsyncRunner
from llr_client.wire import Wire


class AsyncClient:
    """A service somewhere, as `Client`, with methods to await."""

    def __init__(
        self,
        url: str,
        key: str | None = None,
        *,
        timeout: float = 30.0,
        patience: float = 60.0,
        transport: httpx.AsyncBaseTransport | None = None,
        on_retry: Callable[[LLRError, float], None] | None = None,
        clock: Clock | None = None,
    ) -> None:
        clock = clock or Clock(sleep=asyncio.sleep)
        self._wire = Wire(address(url), key, timeout, patience, clock, on_retry)
        self._runner = AsyncRunner(transport, clock)
        self._directory = Directory(self._wire)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close all connections."""
        await self._runner.http.aclose()

    async def session(
        self,
        name: str,
        model: str | None = None,
        *,
        dim: int | None = None,
        named: bool | None = None,
        max_features: int | None = None,
        hash_bits: int | None = None,
        algorithm: str | None = None,
        eta0: float | None = None,
        theta0: Any = None,
        regret: str | None = None,
        options: Mapping[str, Any] | None = None,
        shadows: Mapping[str, Mapping[str, Any]] | None = None,
        drift: bool | None = None,
        label_seconds: float | None = None,
        expired_label: float | None = None,
        retain: bool | None = None,
        producer: str | None = None,
    ) -> AsyncSession:
        """A session, created if it is not there and a model is given, as `Client.session`."""
        handle = Handle(self._wire, name, producer)
        talk = self._directory.open(
            handle,
            model=model,
            dim=dim,
            named=named,
            max_features=max_features,
            hash_bits=hash_bits,
            algorithm=algorithm,
            eta0=eta0,
            theta0=theta0,
            regret=regret,
            options=options,
            shadows=shadows,
            drift=drift,
            label_seconds=label_seconds,
            expired_label=expired_label,
            retain=retain,
        )
        await self._runner.run(talk)
        return AsyncSession(handle, self._runner)

    async def restore(
        self, name: str, snapshot: Mapping[str, Any], *, producer: str | None = None
    ) -> AsyncSession:
        """A new session that goes on from a snapshot, to the last bit."""
        handle = Handle(self._wire, name, producer)
        await self._runner.run(self._directory.restore(handle, snapshot))
        return AsyncSession(handle, self._runner)

    def sessions(self) -> AsyncIterator[Listed]:
        """Every session, in the order of their names."""
        return self._runner.iterate(self._directory.sessions())

    async def catalog(self) -> dict[str, Any]:
        """Models, algorithms and their options, a line about each."""
        return await self._runner.run(self._directory.get("/v1/catalog", "models", "algorithms"))

    async def version(self) -> dict[str, Any]:
        """The service's version, its store, and what an answer means on it."""
        return await self._runner.run(self._directory.get("/version", "store"))
