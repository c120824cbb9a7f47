"""`Client` and `AsyncClient`: a connection pool to one service."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from typing import Any, Self

import httpx

from llr_client._async_session import AsyncSession
from llr_client._driver import AsyncDriver, Driver
from llr_client._operations import ServiceOperations, SessionOperations
from llr_client._protocol import Endpoint
from llr_client._session import Session
from llr_client.answers import Listed
from llr_client.errors import LLRError
from llr_client.retries import Clock
from llr_client.syntax import parse_url

DEFAULT_URL = "http://127.0.0.1:8080"


def _address(url: str | None, key: str | None) -> tuple[str, str | None]:
    """URL and key, from the environment if omitted. LLR_KEY is not sent to a URL in the code."""
    if url is not None:
        return url, key
    environment = os.environ
    return environment.get("LLR_URL") or DEFAULT_URL, key or environment.get("LLR_KEY") or None


class Client:
    """A blocking client of one service.

    Temporary failures, such as a restart of the service, are retried with growing pauses for
    `patience` seconds. Threads may share a client.

    Args:
        url: the service's URL; LLR_URL if omitted, else http://127.0.0.1:8080.
        key: an API key, if the service needs one; LLR_KEY if the URL is omitted too.
        timeout: seconds to connect, and between two parts of an answer.
        patience: total seconds of retries; 0 tries once. If omitted, 3 until the service has
            answered for the first time, and 60 afterwards.
        transport: an httpx transport to use instead of the network.
        on_retry: called with the error and the pause in seconds, before each retry.
        clock: time, sleep and random numbers, for tests.
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        timeout: float = 30.0,
        patience: float | None = None,
        transport: httpx.BaseTransport | None = None,
        on_retry: Callable[[LLRError, float], None] | None = None,
        clock: Clock | None = None,
    ) -> None:
        clock = clock or Clock()
        url, key = _address(url, key)
        self._endpoint = Endpoint(parse_url(url), key, timeout, patience, clock, on_retry)
        self._driver = Driver(transport, clock)
        self._operations = ServiceOperations(self._endpoint)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self._driver.http.close()

    def session(
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
        classes: Sequence[str] | None = None,
        shadows: Mapping[str, Mapping[str, Any]] | None = None,
        drift: bool | None = None,
        label_seconds: float | None = None,
        expired_label: float | str | None = None,
        retain: bool | None = None,
        expire_seconds: float | None = None,
        producer: str | None = None,
    ) -> Session:
        """Open a session. With a model it is created unless it exists with the same config.

        Without a model nothing is sent: the session must exist when it is used.

        Args:
            name: the session's name.
            model: the model, which is its loss; `catalog` lists them.
            dim: number of features; taken from the first sample if omitted.
            named: whether features have names and x is a dict; taken from the first sample.
            max_features: number of names with a column of their own; later names are hashed.
            hash_bits: later names share 2 to the power of `hash_bits` columns.
            algorithm: the learning algorithm.
            eta0: the initial or fixed step size.
            theta0: the initial theta: one number for all coordinates, or one per coordinate.
            regret: `exact` or `off`.
            options: options of the model and the algorithm.
            classes: the names of the classes; labels and predictions are names then.
            shadows: other algorithms on the same samples, as `{"rival": {"algorithm": "sg/ag"}}`.
            drift: whether to detect a rising loss; the service does by default.
            label_seconds: seconds for which `predict` keeps an x for its label.
            expired_label: the label to learn when none arrives in that time.
            retain: whether all samples are retained, so that a fork can learn them again.
            expire_seconds: delete the session when no sample came for so long.
            producer: the name under which samples are numbered. A random name is made if omitted; a
                given one continues where it stopped, also in another process. Two concurrent
                senders need two names.

        Raises:
            SessionExists: if the name is taken with another config.
        """
        operations = SessionOperations(self._endpoint, name, producer)
        operation = self._operations.open(
            operations,
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
            classes=None if classes is None else list(classes),
            shadows=shadows,
            drift=drift,
            label_seconds=label_seconds,
            expired_label=expired_label,
            retain=retain,
            expire_seconds=expire_seconds,
        )
        self._driver.run(operation)
        return Session(operations, self._driver)

    def restore(
        self, name: str, snapshot: Mapping[str, Any], *, producer: str | None = None
    ) -> Session:
        """Create a session from a snapshot; its state is the same bit by bit."""
        operations = SessionOperations(self._endpoint, name, producer)
        self._driver.run(self._operations.restore(operations, snapshot))
        return Session(operations, self._driver)

    def sessions(self) -> Iterator[Listed]:
        """Every session, in the order of their names."""
        return self._driver.iterate(self._operations.sessions())

    def catalog(self) -> dict[str, Any]:
        """Models, algorithms and their options, with a summary of each."""
        return self._driver.run(self._operations.get("/v1/catalog", "models", "algorithms"))

    def version(self) -> dict[str, Any]:
        """The service's version, its store and the store's durability."""
        return self._driver.run(self._operations.get("/version", "store"))


class AsyncClient:
    """An asyncio client of one service; the arguments are those of `Client`."""

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        timeout: float = 30.0,
        patience: float | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
        on_retry: Callable[[LLRError, float], None] | None = None,
        clock: Clock | None = None,
    ) -> None:
        clock = clock or Clock(sleep=asyncio.sleep)
        url, key = _address(url, key)
        self._endpoint = Endpoint(parse_url(url), key, timeout, patience, clock, on_retry)
        self._driver = AsyncDriver(transport, clock)
        self._operations = ServiceOperations(self._endpoint)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close all connections."""
        await self._driver.http.aclose()

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
        classes: Sequence[str] | None = None,
        shadows: Mapping[str, Mapping[str, Any]] | None = None,
        drift: bool | None = None,
        label_seconds: float | None = None,
        expired_label: float | str | None = None,
        retain: bool | None = None,
        expire_seconds: float | None = None,
        producer: str | None = None,
    ) -> AsyncSession:
        """Open a session, as `Client.session`."""
        operations = SessionOperations(self._endpoint, name, producer)
        operation = self._operations.open(
            operations,
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
            classes=None if classes is None else list(classes),
            shadows=shadows,
            drift=drift,
            label_seconds=label_seconds,
            expired_label=expired_label,
            retain=retain,
            expire_seconds=expire_seconds,
        )
        await self._driver.run(operation)
        return AsyncSession(operations, self._driver)

    async def restore(
        self, name: str, snapshot: Mapping[str, Any], *, producer: str | None = None
    ) -> AsyncSession:
        """Create a session from a snapshot; its state is the same bit by bit."""
        operations = SessionOperations(self._endpoint, name, producer)
        await self._driver.run(self._operations.restore(operations, snapshot))
        return AsyncSession(operations, self._driver)

    def sessions(self) -> AsyncIterator[Listed]:
        """Every session, in the order of their names."""
        return self._driver.iterate(self._operations.sessions())

    async def catalog(self) -> dict[str, Any]:
        """Models, algorithms and their options, with a summary of each."""
        return await self._driver.run(self._operations.get("/v1/catalog", "models", "algorithms"))

    async def version(self) -> dict[str, Any]:
        """The service's version, its store and the store's durability."""
        return await self._driver.run(self._operations.get("/version", "store"))
