"""Redis streams: entries in order, from where a checkpoint in Redis and the service say.

An entry has an id, no number. So beside the stream Redis keeps, for each session, a checkpoint: an
id, how many entries had ever been added up to it, and how many of the producer's samples the
service had then. Whoever starts again reads on from there, and passes over as many entries as the
service has learnt since. `entries.py` sees to it that none of them vanished meanwhile.
"""

import json
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from llr_cli.connection import BadData
from llr_cli.formats import Columns
from llr_client.address import shown
from redis import asyncio, exceptions
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from llr_connect.entries import Place, Reading, Stream
from llr_connect.journal import Journal
from llr_connect.lane import Lane, Lanes
from llr_connect.message import Message, producer_name, read, record_of
from llr_connect.source import keep_trying
from llr_connect.status import Status

R = TypeVar("R")
BLOCK, TIMEOUT = 1000, 10.0
"""Milliseconds that Redis is asked to wait for an entry; seconds that its answer may take."""

LOST = (exceptions.ConnectionError, exceptions.TimeoutError, OSError)
REFUSED = (
    exceptions.AuthenticationError,
    exceptions.AuthorizationError,
    exceptions.ResponseError,
)
THERE = "equal or smaller"
"""What Redis says of an entry that was put aside before."""


class RedisStreams:
    """Some streams of a Redis.

    Args:
        url: where it is.
        streams: their names.
        field: the field of an entry that is the sample as JSON, if columns choose no fields.
        columns: which fields of an entry are what.
        producer: under which name samples are numbered, if not under that of the stream.
    """

    name, notice = "redis", ""
    batch: int | None = None
    journal: Journal | None = None

    def __init__(
        self, url: str, streams: list[str], field: str, columns: Columns, producer: str | None
    ) -> None:
        self._redis = _client(url)
        self._where, self._field, self._columns = shown(url), field.encode(), columns
        parts = {name: (producer, name) if producer else ("redis", name) for name in streams}
        self._streams = {name: Stream(name, producer_name(*parts[name])) for name in streams}

    async def start(self, lanes: Lanes, status: Status) -> None:
        """Find the place of every stream."""
        self._status = status
        await self._tried(self._redis.ping)
        for stream in self._streams.values():
            lane = await lanes.of(stream.name, stream.producer)
            stream.key = f"llr:connect:{lane.name}:{lane.producer}"
            kept = await self._tried(lambda key=stream.key: self._redis.hgetall(key))  # type: ignore[misc]
            if kept:
                stream.go_on(Place.of(kept), lane.acked)
            else:
                await self._begin(stream, lane)

    async def _begin(self, stream: Stream, lane: Lane) -> None:
        """The first time: the checkpoint is there before anything is sent."""
        reading = await self._tried(lambda: self._read(stream, 1))
        stream.begin(reading, lane.acked)
        await self._keep(stream.key, stream.place)

    async def take(self, most: int) -> list[Message]:
        """The entries after those that were taken."""
        while True:
            found: list[Message] = []
            for stream in self._streams.values():
                reading = await self._tried(lambda s=stream: self._read(s, most))  # type: ignore[misc]
                found += [self._message(stream, *entry) for entry in stream.fresh(reading, most)]
            if found:
                return found
            await self._tried(self._wait)

    async def _wait(self) -> None:
        """Until something is added somewhere, or a moment."""
        places = {name: stream.place.id for name, stream in self._streams.items()}
        await self._redis.xread(places, 1, BLOCK)

    async def settle(self, lane: Lane, messages: list[Message]) -> None:
        """Move the checkpoint."""
        if messages:
            id_, offset = messages[-1].token
            stream = self._streams[messages[-1].topic]
            await self._keep(stream.key, Place(id_, offset, lane.acked))

    async def leave_out(
        self, lane: Lane, why: str, numbers: range | None, message: Message | None
    ) -> None:
        """Put an entry aside and move the checkpoint past it, both or neither.

        It keeps its id, so that it is put aside once, however often that is tried.
        """
        if message is None:  # entries that are gone: the checkpoint of the next says so
            return
        key, (id_, offset) = self._streams[message.topic].key, message.token

        async def put_aside() -> None:
            async with self._redis.pipeline(transaction=True) as pipe:
                entry = {"why": why, "message": message.text}
                pipe.xadd(f"{key}:left-out", entry, id=id_)
                pipe.hset(key, mapping=Place(id_, offset, lane.acked).fields())
                added, _ = await pipe.execute(raise_on_error=False)
            if isinstance(added, Exception) and THERE not in str(added):
                raise added

        await self._tried(put_aside)

    def lag(self) -> int | None:
        """Entries that are not taken yet."""
        return sum(stream.behind for stream in self._streams.values())

    async def close(self) -> None:
        """Disconnect."""
        await self._redis.aclose()

    async def _keep(self, key: str, place: Place) -> None:
        await self._tried(lambda: self._redis.hset(key, mapping=place.fields()))

    async def _read(self, stream: Stream, most: int) -> Reading:
        """All that is known of a stream at one moment, and what is new in it."""
        place = stream.place.id
        async with self._redis.pipeline(transaction=True) as pipe:
            pipe.xinfo_stream(stream.name)
            pipe.xrange(stream.name, "-", place, 1)
            pipe.xrange(stream.name, f"({place}", "+", most)
            info, older, newer = await pipe.execute(raise_on_error=False)
        for answer in (older, newer):
            if isinstance(answer, Exception):
                raise answer
        return Reading.of(info, older, newer)

    def _message(
        self, stream: Stream, id_: str, offset: int, lost: int, fields: dict[bytes, bytes]
    ) -> Message:
        text = json.dumps({_text(name): _text(value) for name, value in fields.items()})
        found = read(lambda: self._record(fields), self._columns)
        place, token = f"{stream.name} {id_}", (id_, offset)
        return Message(stream.name, stream.producer, place, text, lost=lost, token=token, **found)

    def _record(self, fields: dict[bytes, bytes]) -> dict[str, Any]:
        """The JSON in an entry's field; or its fields, numbers where they are such."""
        if self._columns.label is not None or self._columns.features is not None:
            return {_text(name): _value(value) for name, value in fields.items()}
        if self._field not in fields:
            raise BadData(f"it has no field {_text(self._field)!r}: see --field, --label-column")
        return record_of(fields[self._field])

    async def _tried(self, attempt: Callable[[], Awaitable[R]]) -> R:
        async def asked() -> R:
            try:
                return await attempt()
            except REFUSED as error:
                raise BadData(f"{self._where} refuses: {error}") from None

        return await keep_trying(asked, LOST, self._where, self._status)


def _client(url: str) -> Any:
    """A client that tries once; `keep_trying` does the rest."""
    once = Retry(NoBackoff(), 0)
    try:
        return asyncio.Redis.from_url(
            url, protocol=2, retry=once, socket_timeout=TIMEOUT, socket_connect_timeout=TIMEOUT
        )
    except ValueError as error:
        raise BadData(f"{shown(url)} is not an address of Redis: {error}") from None


def _text(value: bytes) -> str:
    return value.decode(errors="replace")


def _value(value: bytes) -> Any:
    """A field's value: JSON where it is such, else text."""
    try:
        return json.loads(value)
    except ValueError:
        return _text(value)
