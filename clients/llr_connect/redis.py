"""`llr connect redis`: entries of streams in order, with a checkpoint in Redis.

An entry has an id but no number. Redis therefore stores, for each session, a checkpoint: an entry's
id, the count of entries ever added up to it, and the number of the producer's samples that the
service had. A restarted connector reads from there and passes over as many entries as the service
has learnt since. `redis_position.py` detects entries that were lost in between.
"""

import json
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, TypeVar

import typer
from llr_cli.formats import Columns
from llr_cli.options import BadData
from llr_client.syntax import redact_url

from llr_connect.channels import Channels, Journal, ProducerChannel
from llr_connect.messages import Message, producer_name, read, record_of
from llr_connect.options import Options
from llr_connect.redis_position import Checkpoint, StreamPosition, StreamState
from llr_connect.source import Source, retry_while_away
from llr_connect.status import Status

R = TypeVar("R")
BLOCK, TIMEOUT = 1000, 10.0
"""Milliseconds for which XREAD blocks; seconds until a reply times out."""

THERE = "equal or smaller"
"""Part of Redis's error for an entry that was skipped before."""


class RedisSource:
    """The entries of some Redis streams.

    Args:
        library: the package `redis`.
        url: the URL of Redis.
        streams: the streams' names.
        field: the field with the sample as JSON, if columns choose no fields.
        columns: the roles of an entry's fields.
        producer: the name under which samples are numbered, instead of the stream's.
    """

    name, notice, sparse = "redis", "", False
    batch: int | None = None
    journal: Journal | None = None

    def __init__(
        self,
        library: Any,
        url: str,
        streams: list[str],
        field: str,
        columns: Columns,
        producer: str | None,
    ) -> None:
        self._redis = _client(library, url)
        known = library.exceptions
        self._lost = (known.ConnectionError, known.TimeoutError, OSError)
        self._refused = (known.AuthenticationError, known.AuthorizationError, known.ResponseError)
        self._where, self._field, self._columns = redact_url(url), field.encode(), columns
        parts = {name: (producer, name) if producer else ("redis", name) for name in streams}
        self._streams = {
            name: StreamPosition(name, producer_name(*parts[name])) for name in streams
        }

    async def start(self, channels: Channels, status: Status) -> None:
        """Read the checkpoint of every stream."""
        self._status = status
        await self._retry(self._redis.ping)
        for stream in self._streams.values():
            channel = await channels.of(stream.name, stream.producer)
            stream.key = f"llr:connect:{channel.name}:{channel.producer}"
            kept = await self._retry(lambda key=stream.key: self._redis.hgetall(key))  # type: ignore[misc]
            if kept:
                stream.resume(Checkpoint.of(kept), channel.acked)
            else:
                await self._begin(stream, channel)

    async def _begin(self, stream: StreamPosition, channel: ProducerChannel) -> None:
        """Store the first checkpoint, before anything is sent."""
        reading = await self._retry(lambda: self._read(stream, 1))
        stream.begin(reading, channel.acked)
        await self._keep(stream.key, stream.checkpoint)

    async def take(self, most: int) -> list[Message]:
        """Wait for entries after those that were taken."""
        while True:
            found: list[Message] = []
            for stream in self._streams.values():
                reading = await self._retry(lambda s=stream: self._read(s, most))  # type: ignore[misc]
                found += [self._message(stream, *entry) for entry in stream.take(reading, most)]
            if found:
                return found
            await self._retry(self._wait)

    async def _wait(self) -> None:
        """Wait for a new entry in any stream, at most BLOCK milliseconds."""
        places = {name: stream.checkpoint.id for name, stream in self._streams.items()}
        await self._redis.xread(places, 1, BLOCK)

    async def acknowledge(self, channel: ProducerChannel, messages: list[Message]) -> None:
        """Move the checkpoint."""
        if messages:
            id_, offset = messages[-1].token
            stream = self._streams[messages[-1].topic]
            await self._keep(stream.key, Checkpoint(id_, offset, channel.acked))

    async def skip(
        self, channel: ProducerChannel, why: str, numbers: range | None, message: Message | None
    ) -> None:
        """Copy an entry to the stream of skipped entries and move the checkpoint, atomically.

        The copy has the entry's id, so that a retry does not add it twice.
        """
        if message is None:  # lost entries: the next entry's checkpoint counts them
            return
        key, (id_, offset) = self._streams[message.topic].key, message.token

        async def put_aside() -> None:
            async with self._redis.pipeline(transaction=True) as pipe:
                entry = {"why": why, "message": message.text}
                pipe.xadd(f"{key}:left-out", entry, id=id_)
                pipe.hset(key, mapping=Checkpoint(id_, offset, channel.acked).fields())
                added, _ = await pipe.execute(raise_on_error=False)
            if isinstance(added, Exception) and THERE not in str(added):
                raise added

        await self._retry(put_aside)

    def lag(self) -> int | None:
        """The number of entries not taken yet."""
        return sum(stream.behind for stream in self._streams.values())

    async def close(self) -> None:
        """Disconnect."""
        await self._redis.aclose()

    async def _keep(self, key: str, checkpoint: Checkpoint) -> None:
        await self._retry(lambda: self._redis.hset(key, mapping=checkpoint.fields()))

    async def _read(self, stream: StreamPosition, most: int) -> StreamState:
        """Read a stream's counters and its new entries in one transaction."""
        start = stream.checkpoint.id
        async with self._redis.pipeline(transaction=True) as pipe:
            pipe.xinfo_stream(stream.name)
            pipe.xrange(stream.name, "-", start, 1)
            pipe.xrange(stream.name, f"({start}", "+", most)
            info, older, newer = await pipe.execute(raise_on_error=False)
        for answer in (older, newer):
            if isinstance(answer, Exception):
                raise answer
        return StreamState.of(info, older, newer)

    def _message(
        self, stream: StreamPosition, id_: str, offset: int, lost: int, fields: dict[bytes, bytes]
    ) -> Message:
        text = json.dumps({_text(name): _text(value) for name, value in fields.items()})
        found = read(lambda: self._record(fields), self._columns)
        place, token = f"{stream.name} {id_}", (id_, offset)
        return Message(stream.name, stream.producer, place, text, lost=lost, token=token, **found)

    def _record(self, fields: dict[bytes, bytes]) -> dict[str, Any]:
        """The JSON in an entry's field; or its fields, each parsed as JSON where possible."""
        if self._columns.label is not None or self._columns.features is not None:
            return {_text(name): _value(value) for name, value in fields.items()}
        if self._field not in fields:
            raise BadData(f"it has no field {_text(self._field)!r}: see --field, --label-column")
        return record_of(fields[self._field])

    async def _retry(self, attempt: Callable[[], Awaitable[R]]) -> R:
        async def asked() -> R:
            try:
                return await attempt()
            except self._refused as error:
                raise BadData(f"{self._where} refuses: {error}") from None

        return await retry_while_away(asked, self._lost, self._where, self._status)


def _client(library: Any, url: str) -> Any:
    """A client without retries; `retry_while_away` retries."""
    once = library.asyncio.retry.Retry(library.backoff.NoBackoff(), 0)
    try:
        return library.asyncio.Redis.from_url(
            url, protocol=2, retry=once, socket_timeout=TIMEOUT, socket_connect_timeout=TIMEOUT
        )
    except ValueError as error:
        raise BadData(f"{redact_url(url)} is not an address of Redis: {error}") from None


def _text(value: bytes) -> str:
    return value.decode(errors="replace")


def _value(value: bytes) -> Any:
    """Parse a field's value as JSON; text if it is not JSON."""
    try:
        return json.loads(value)
    except ValueError:
        return _text(value)


def from_redis(
    options: Options,
    streams: Annotated[list[str], typer.Argument(metavar="STREAM...", help="Their names.")],
    where: Annotated[
        str, typer.Option("--redis", envvar="LLR_REDIS", help="The URL of Redis.")
    ] = "redis://127.0.0.1:6379/0",
    field: Annotated[
        str, typer.Option(help="The field of an entry that holds the sample as JSON.")
    ] = "sample",
    producer: Annotated[
        str | None, typer.Option(help="Number samples under this name. (Default: redis.)")
    ] = None,
) -> Source:
    """Learn from Redis streams, each entry exactly once.

    The same command continues where it stopped, also after a crash of it, of Redis or of the
    service. Learnt entries may be trimmed; an entry trimmed before it was learnt is reported.

    Example: llr connect redis readings --session readings --model linear
    """
    try:
        import redis  # noqa: PLC0415 - an extra
    except ImportError:
        raise BadData("redis needs redis-py: pip install 'llr[connect]'") from None
    names = list(dict.fromkeys(streams))
    return RedisSource(redis, where, names, field, options.chosen, producer)
