"""From a producer to a session: which of its messages are new, and the way to learn them."""

from collections.abc import Callable, Mapping
from typing import Any

from llr_cli.connection import BadData
from llr_client import AsyncClient, AsyncSession, SessionNotFound

from llr_connect.journal import Journal
from llr_connect.message import session_name


class Lane:
    """One producer's samples on their way into one session.

    Attributes:
        name: the session's.
        producer: under which name the samples are numbered there.
        acked: how many of them the service has.
        expected: the number of the producer's next message, where they have numbers.
        begun: whether anything is known of the producer's numbers.
    """

    def __init__(self, session: AsyncSession, acked: int, expected: int, features: bool) -> None:
        self.name, self.producer = session.name, session.producer
        self.acked, self.expected, self.begun = acked, expected, expected > 0
        self._session, self._features = session, features

    async def learn(self, samples: list[dict[str, Any]]) -> None:
        """Send samples until they are on disk, once; those before a refused one count."""
        if not self._features:
            samples = [{k: v for k, v in sample.items() if k != "x"} for sample in samples]
        async for _ in self._session.stream(samples, block=len(samples), theta=False):
            pass


class Lanes:
    """Every lane, opened when its first message comes.

    Args:
        client: the service.
        template: the sessions' name, which may have `{topic}` in it.
        config: what a session is created with, if it has a model.
        features: whether a model takes features.
        journal: what was left out before, by those who keep it here.
    """

    def __init__(
        self,
        client: AsyncClient,
        template: str,
        config: Mapping[str, Any],
        features: Callable[[str], bool],
        journal: Journal | None,
    ) -> None:
        self._client, self._template, self._config = client, template, dict(config)
        self._features, self._journal = features, journal
        self._open: dict[str, Lane] = {}

    async def of(self, topic: str, producer: str) -> Lane:
        """The lane of a producer."""
        if producer not in self._open:
            self._open[producer] = await self._opened(session_name(self._template, topic), producer)
        return self._open[producer]

    async def _opened(self, name: str, producer: str) -> Lane:
        config = self._config if self._config.get("model") else {}
        try:
            session = await self._client.session(name, producer=producer, **config)
            acked = await session.acked()
            model = config.get("model") or (await session.state()).model
        except SessionNotFound:
            raise BadData(f"there is no session {name!r}: give --model to create it") from None
        expected = self._journal.expected(name, producer, acked) if self._journal else acked
        return Lane(session, acked, expected, self._features(model))
