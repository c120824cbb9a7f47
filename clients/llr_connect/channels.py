"""Channels from producers to sessions, and the journal of skipped messages.

The service numbers the samples of a producer without gaps. The number of a message in its session
is therefore its own number minus those skipped before it, and a restarted connector has to know
them. A line of the journal is on disk before anything after it is sent.
"""

import fcntl
import json
import os
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from llr_cli.options import BadData
from llr_client import AsyncClient, AsyncSession, SessionNotFound
from llr_client.errors import Invalid, ProducerShared

from llr_connect.messages import session_name

MAX_SPARSE = 50_000
"""The most open channels of a source with sessions by key."""


def data_folder() -> Path:
    """The default folder of journals."""
    given = Path(os.environ.get("XDG_DATA_HOME", ""))
    base = given if given.is_absolute() else Path.home() / ".local" / "share"
    return base / "llr" / "connect"


class Journal:
    """An NDJSON file of skipped messages, locked by one connector.

    Args:
        path: the file; created when a message is skipped.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._left_out: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
        self._file: BinaryIO | None = None
        if path.exists():
            self._file = self._open()
            self._load(self._file)

    def close(self) -> None:
        """Close the file and release its lock."""
        if self._file is not None:
            self._file.close()

    def expected(self, session: str, producer: str, acked: int) -> int:
        """The number of the message after the first `acked` that were learnt."""
        number = acked
        for first, last in self._left_out[session, producer]:
            if first > number:
                break
            number += last - first + 1
        return number

    def add(
        self, session: str, producer: str, why: str, numbers: range | None = None, text: str = ""
    ) -> None:
        """Record a skipped message or range; it is on disk when this returns."""
        if self._file is None:
            self._file = self._open()
        line: dict[str, Any] = {"session": session, "producer": producer, "why": why}
        if numbers is not None:
            line |= {"first": numbers.start, "last": numbers.stop - 1}
        self._file.write(json.dumps(line | ({"message": text} if text else {})).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def _open(self) -> BinaryIO:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            file = self.path.open("a+b")
            folder = os.open(self.path.parent, os.O_RDONLY)
            os.fsync(folder)
            os.close(folder)
        except OSError as error:
            raise BadData(f"the journal cannot be opened: {error}") from None
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            raise BadData(f"another connector has the journal {self.path} open") from None
        return file

    def _load(self, file: BinaryIO) -> None:
        """Read the file; an incomplete last line is cut off."""
        file.seek(0)
        end = 0
        for count, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                break
            end += len(line)
            try:
                self._note(json.loads(line))
            except (ValueError, TypeError, KeyError):
                self.close()
                raise BadData(f"{self.path}, line {count}: not a line of a journal") from None
        file.truncate(end)

    def _note(self, line: dict[str, Any]) -> None:
        if "first" in line:
            numbers = int(line["first"]), int(line["last"])
            self._left_out[line["session"], line["producer"]].append(numbers)


class ProducerChannel:
    """The channel of one producer to one session.

    Attributes:
        name: the session's name.
        producer: the name under which the service numbers the samples.
        acked: samples that the service has.
        expected: the number of the producer's next message, if messages have numbers.
        has_numbers: whether any message number of this producer is known.
        sparse: whether numbers have holes; each sample has its own then.
    """

    def __init__(
        self,
        session: AsyncSession | None,
        acked: int = 0,
        expected: int = 0,
        features: bool = True,
        sparse: bool = False,
    ) -> None:
        self.name = session.name if session else ""
        self.producer = session.producer if session else ""
        self.acked, self.expected, self.has_numbers = acked, expected, expected > 0
        self.sparse, self._session, self._features = sparse, session, features

    async def learn(self, samples: list[dict[str, Any]]) -> int:
        """Send samples until they are on disk, exactly once; those before a refused one count.

        Returns:
            The number of samples that were new to the service: all of them, unless numbers are
            sparse and another connector sends the same, as during a rebalance.
        """
        assert self._session is not None  # noqa: S101 - a message without a session has no sample
        if not self._features:
            samples = [{k: v for k, v in sample.items() if k != "x"} for sample in samples]
        try:
            async for _ in self._session.stream(samples, block=len(samples), theta=False):
                pass
        except ProducerShared as shared:
            if not self.sparse:
                raise
            new, acked = int(shared.learnt), await self._session.acked()
            rest = [sample for sample in samples if sample["seq"] >= acked]
            return new + (await self.learn(rest) if rest else 0)
        return len(samples)

    async def skip_to(self, number: int) -> None:
        """Skip the numbers below `number`, on disk when this returns.

        A session that does not know its number of features cannot store it: it has learnt nothing,
        so the next start finds the skipped messages again.
        """
        if self._session is not None:
            with suppress(Invalid):
                await self._session.skip_to(number)


class Channels:
    """The open channels by producer; each is opened for its first message.

    Args:
        client: the service.
        template: the name of the sessions, which may contain `{topic}`.
        config: the config of new sessions, if it has a model.
        features: whether a model takes features.
        journal: the journal of skipped messages, for sources that use one.
        sparse: whether the source's numbers have holes.
    """

    def __init__(
        self,
        client: AsyncClient,
        template: str,
        config: Mapping[str, Any],
        features: Callable[[str], bool],
        journal: Journal | None,
        sparse: bool = False,
    ) -> None:
        self._client, self._template, self._config = client, template, dict(config)
        self._features, self._journal, self._sparse = features, journal, sparse
        self._channels: OrderedDict[tuple[str, str], ProducerChannel] = OrderedDict()

    async def of(self, topic: str, producer: str, session: str | None = None) -> ProducerChannel:
        """The channel of a producer to a session, by default the one of its topic."""
        key = (session_name(self._template, topic) if session is None else session), producer
        if key not in self._channels:
            self._channels[key] = await self._open(*key)
            if self._sparse and len(self._channels) > MAX_SPARSE:
                self._channels.popitem(last=False)  # opened again if needed: the service knows it
        self._channels.move_to_end(key)
        return self._channels[key]

    def forget(self, producer: str) -> None:
        """Close the channels of a producer; the service is asked for its numbers again."""
        for key in [key for key in self._channels if key[1] == producer]:
            del self._channels[key]

    async def _open(self, name: str, producer: str) -> ProducerChannel:
        if not name:  # for messages that cannot be learnt
            return ProducerChannel(None, sparse=self._sparse)
        config = self._config if self._config.get("model") else {}
        try:
            session = await self._client.session(name, producer=producer, **config)
            acked = await session.acked()
            model = config.get("model") or (await session.state()).model
        except SessionNotFound:
            raise BadData(f"there is no session {name!r}: give --model to create it") from None
        expected = self._journal.expected(name, producer, acked) if self._journal else acked
        return ProducerChannel(session, acked, expected, self._features(model), self._sparse)
