"""The service, for programs that wait."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Self

import httpx

from llr_client.address import address
from llr_client.answers import Listed
from llr_client.directory import Directory
from llr_client.errors import LLRError
from llr_client.handle import Handle
from llr_client.retries import Clock
from llr_client.runner import Runner
from llr_client.session import Session
from llr_client.wire import Wire


class Client:
    """A service somewhere.

    What may pass by itself, such as a restart of the service, is waited for: the same request is
    sent again, with growing pauses, until `patience` ends. Threads may share a client.

    Args:
        url: where the service is.
        key: an API key, if the service asks for one.
        timeout: seconds to connect, and between two parts of an answer.
        patience: seconds of trying again in all; 0 tries once.
        transport: what carries requests, if not the network.
        on_retry: called with the error and the seconds to wait, before each further try.
        clock: time and chance.
    """

    def __init__(
        self,
        url: str,
        key: str | None = None,
        *,
        timeout: float = 30.0,
        patience: float = 60.0,
        transport: httpx.BaseTransport | None = None,
        on_retry: Callable[[LLRError, float], None] | None = None,
        clock: Clock | None = None,
    ) -> None:
        clock = clock or Clock()
        self._wire = Wire(address(url), key, timeout, patience, clock, on_retry)
        self._runner = Runner(transport, clock)
        self._directory = Directory(self._wire)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self._runner.http.close()

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
        shadows: Mapping[str, Mapping[str, Any]] | None = None,
        drift: bool | None = None,
        label_seconds: float | None = None,
        expired_label: float | None = None,
        retain: bool | None = None,
        producer: str | None = None,
    ) -> Session:
        """A session. With a model it is created, unless it is there with the same config.

        Without a model nothing is sent: the session has to be there when it is used.

        Args:
            name: its name.
            model: which loss; `catalog` lists them.
            dim: number of features; the first sample tells if it is left out.
            named: whether features have names, x being a dict; the first sample tells.
            max_features: how many names are kept apart; those after them share places.
            hash_bits: there are 2 to the power of it such places.
            algorithm: how it learns.
            eta0: the first step size, or the only one.
            theta0: where theta starts: a number for all, or one a coordinate.
            regret: `exact` or `off`.
            options: settings of the model and the algorithm.
            shadows: other algorithms on the same samples, as `{"rival": {"algorithm": "sg/ag"}}`.
            drift: whether to look out for a loss that rises; the service does if left out.
            label_seconds: for how long `predict` keeps an x for its label.
            expired_label: what is learnt for one whose label did not come in that time.
            retain: whether all samples are kept, so that a fork can learn them anew.
            producer: under which name samples are numbered. A random one is made if left out; a
                given one goes on where it stopped, also in another process. Two senders at a time
                need two names.

        Raises:
            SessionExists: if the name is taken with another config.
        """
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
        self._runner.run(talk)
        return Session(handle, self._runner)

    def restore(
        self, name: str, snapshot: Mapping[str, Any], *, producer: str | None = None
    ) -> Session:
        """A new session that goes on from a snapshot, to the last bit."""
        handle = Handle(self._wire, name, producer)
        self._runner.run(self._directory.restore(handle, snapshot))
        return Session(handle, self._runner)

    def sessions(self) -> Iterator[Listed]:
        """Every session, in the order of their names."""
        return self._runner.iterate(self._directory.sessions())

    def catalog(self) -> dict[str, Any]:
        """Models, algorithms and their options, a line about each."""
        return self._runner.run(self._directory.get("/v1/catalog", "models", "algorithms"))

    def version(self) -> dict[str, Any]:
        """The service's version, its store, and what an answer means on it."""
        return self._runner.run(self._directory.get("/version", "store"))
