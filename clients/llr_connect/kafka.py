"""`llr connect kafka`: a message's offset is its number; the service drops what it has learnt.

A producer is a cluster, a topic and a partition. Offsets have holes, and a session by key gets some
of them only, so each sample carries its offset. Where a partition feeds one session, the service's
next number is the position; where it feeds many, the offset committed for the group is, which
is never ahead of what is learnt. Two owners of a partition during a rebalance send the same samples
twice, and the service learns them once.
"""

import asyncio
import hashlib
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from enum import StrEnum
from typing import Annotated, Any, TypeVar

import typer
from llr_cli.formats import Columns
from llr_cli.options import BadData
from llr_client import Unreachable

from llr_connect.channels import Channels, Journal, ProducerChannel
from llr_connect.messages import Message, fill_template, producer_name, read, session_name
from llr_connect.offsets import Offsets, Partition, starting_offset
from llr_connect.options import Options
from llr_connect.pump import Policy
from llr_connect.source import Source, retry_while_away
from llr_connect.status import Status
from llr_connect.values import (
    Decoder,
    Format,
    RegistryAway,
    add_headers,
    cell_value,
    decoder_of,
    flat_columns,
)

R = TypeVar("R")
LOGGER = logging.getLogger("llr.connect.kafka")
"""librdkafka's log of lost brokers, which the connector reports itself."""

LOGGER.addHandler(logging.NullHandler())
LOGGER.propagate = False
TIMEOUT, POLL = 10.0, 0.5
"""Seconds that a broker has to answer, and that a poll waits for a message."""

REFUSED = (
    "TOPIC_AUTHORIZATION_FAILED",
    "GROUP_AUTHORIZATION_FAILED",
    "CLUSTER_AUTHORIZATION_FAILED",
    "_AUTHENTICATION",
    "SASL_AUTHENTICATION_FAILED",
    "_FATAL",
)
RESET = "_AUTO_OFFSET_RESET"
STRATEGY = "partition.assignment.strategy"
BY_MESSAGE = re.compile(r"\{(key|value\.[^{}]+)\}")
"""The placeholders that choose a session message by message."""


class Start(StrEnum):
    """Where to start in a partition that is not known yet."""

    EARLIEST = "earliest"
    LATEST = "latest"


class KafkaSource:
    """The messages of some topics.

    Args:
        client: the module `confluent_kafka`.
        settings: librdkafka's configuration, with `bootstrap.servers` and `group.id`.
        topics: the topics; one that starts with `^` is a regular expression.
        template: the name of the sessions.
        decode: decodes a value to a record.
        columns: the roles of a record's members.
        headers: the headers that are features.
        start: where to start in a partition that is not known yet.
        producer: numbers samples under this name instead of the cluster's id.
        dead_letter: the topic to which skipped messages are copied.
    """

    name, notice, sparse = "kafka", "", True
    batch: int | None = None
    journal: Journal | None = None

    def __init__(
        self,
        client: Any,
        settings: Mapping[str, Any],
        topics: Sequence[str],
        template: str,
        decode: Decoder,
        columns: Columns,
        *,
        headers: Sequence[str] = (),
        start: Start = Start.EARLIEST,
        producer: str | None = None,
        dead_letter: str | None = None,
    ) -> None:
        self._kafka, self._settings = client, dict(settings)
        self._topics, self._template = list(topics), template
        self._decode, self._columns, self._headers = decode, columns, list(headers)
        self._start, self._producer, self._dead_letter = start, producer, dead_letter
        chosen_by = BY_MESSAGE.findall(template)
        self._by_message = bool(chosen_by)
        self._routed = {name.removeprefix("value.") for name in chosen_by if name != "key"}
        self._offsets = Offsets()
        self._assigned: list[Any] | None = None
        self._thread = ThreadPoolExecutor(1)
        self._last_error = ""
        self._where = str(self._settings["bootstrap.servers"])

    async def start(self, channels: Channels, status: Status) -> None:
        """Connect, and join the group."""
        self._status, self._channels = status, channels
        own = {"enable.auto.commit": False, "auto.offset.reset": "error"}
        own |= {"enable.partition.eof": False, "error_cb": self._failed}
        if "cooperative" in str(self._settings.get(STRATEGY, "")):
            raise BadData(
                f"{STRATEGY} is range or roundrobin here: positions come from the service"
            )
        try:
            self._consumer = self._kafka.Consumer(self._settings | own, logger=LOGGER)
            if self._dead_letter is not None:
                kept = {k: v for k, v in self._settings.items() if k != "group.id"}
                kept |= {"enable.idempotence": True}
                self._letters = self._kafka.Producer(kept, logger=LOGGER)
        except self._kafka.KafkaException as error:
            raise BadData(f"librdkafka refuses its configuration: {error}") from None
        found = await self._call(lambda: self._consumer.list_topics(timeout=SHORT))
        self._cluster = self._producer or found.cluster_id or "kafka"
        for topic in self._topics:
            if not topic.startswith("^") and topic not in found.topics:
                status.say(f"{self._where} has no topic {topic!r} yet")
        await self._call(
            lambda: self._consumer.subscribe(
                self._topics, on_assign=self._on_assign, on_revoke=self._on_revoke
            )
        )

    async def take(self, most: int) -> list[Message]:
        """Wait for messages that were not taken before."""
        while True:
            if self._assigned is not None:
                assigned, self._assigned = self._assigned, None
                await self._assign(assigned)
            received = await self._call(lambda: self._poll(most))
            taken = [(one, lost) for one in received if (lost := self._take(one)) is not None]
            if taken:
                return await self._call(lambda: [self._message(*one) for one in taken])  # noqa: B023
            if self._status.away:  # librdkafka tells when brokers go, not when they are back
                await self._call(lambda: self._consumer.list_topics(timeout=SHORT))
                self._status.moved(0)

    async def acknowledge(self, channel: ProducerChannel, messages: list[Message]) -> None:
        """Commit the group's offsets, once all messages before them are learnt or skipped."""
        for message in messages:
            received = message.token
            self._offsets.finish((received.topic(), received.partition()), received.offset())
        await self._commit(asynchronous=True)

    async def skip(
        self, channel: ProducerChannel, why: str, numbers: range | None, message: Message | None
    ) -> None:
        """Copy a message to the dead-letter topic, then move the session's number past it."""
        if message is None or numbers is None:
            return
        if self._dead_letter is not None:
            await self._call(lambda: self._bury(channel, why, message))
        await channel.skip_to(numbers.stop)

    def lag(self) -> int | None:
        """The number of messages not taken yet, as of the last fetch."""
        lag = 0
        for topic, partition in self._offsets:
            place = self._kafka.TopicPartition(topic, partition)
            with suppress(self._kafka.KafkaException, RuntimeError, KeyError):  # revoked meanwhile
                _, high = self._consumer.get_watermark_offsets(place, cached=True)
                lag += max(0, high - self._offsets.next((topic, partition)))
        return lag

    async def close(self) -> None:
        """Commit what is finished, and leave the group."""
        if hasattr(self, "_consumer"):
            await self._commit(asynchronous=False)
            await asyncio.get_running_loop().run_in_executor(self._thread, self._consumer.close)
        self._thread.shutdown()

    async def _assign(self, assigned: list[Any]) -> None:
        """Find the position in each partition, then read from there."""
        for place in assigned:
            partition = place.topic, place.partition
            low, high = await self._call(
                lambda p=place: self._consumer.get_watermark_offsets(p, timeout=TIMEOUT)  # type: ignore[misc]
            )
            channel = await self._channel(partition)
            known = await self._known(place, channel)
            try:
                place.offset, lost = starting_offset(
                    known, low, high, latest=self._start is Start.LATEST
                )
            except BadData as error:
                raise BadData(f"{_shown(partition)} {error}") from None
            if known is None and self._start is Start.LATEST:
                await self._keep_start(place, channel)
            self._offsets.assign(partition, place.offset, lost)
        await self._call(lambda: self._consumer.assign(assigned))

    async def _channel(self, partition: Partition) -> ProducerChannel | None:
        """The channel of a partition that feeds one session; it is opened again."""
        producer = self._producer_of(partition)
        self._channels.forget(producer)
        if self._by_message:
            return None
        session = session_name(self._template, partition[0], partition=str(partition[1]))
        return await self._channels.of(partition[0], producer, session)

    async def _known(self, place: Any, channel: ProducerChannel | None) -> int | None:
        """The next offset: the service's number, or the group's committed offset."""
        if channel is not None and (channel.expected or self._start is Start.EARLIEST):
            return channel.expected or None
        (committed,) = await self._call(lambda: self._consumer.committed([place], timeout=TIMEOUT))
        return committed.offset if committed.offset >= 0 else None

    async def _keep_start(self, place: Any, channel: ProducerChannel | None) -> None:
        """Make the start at the end durable, so that a restart does not skip more."""
        if channel is not None:
            await channel.skip_to(place.offset)
        await self._call(lambda: self._consumer.commit(offsets=[place], asynchronous=False))

    async def _commit(self, *, asynchronous: bool) -> None:
        offsets = [
            self._kafka.TopicPartition(*partition, offset)
            for partition, offset in self._offsets.to_commit(everything=not asynchronous)
        ]
        if offsets:  # a failure is harmless: the service drops what comes again

            def commit() -> None:
                with suppress(self._kafka.KafkaException):
                    self._consumer.commit(offsets=offsets, asynchronous=asynchronous)

            await asyncio.get_running_loop().run_in_executor(self._thread, commit)

    def _poll(self, most: int) -> list[Any]:
        """Wait for a message, and take those that are there; rebalances happen in here."""
        first = self._consumer.poll(POLL)
        if first is None:
            return []
        received = [first, *(self._consumer.consume(most - 1, 0) if most > 1 else ())]
        for one in received:
            if one.error() is not None:
                self._raise_for(one.error())
        return [one for one in received if one.error() is None]

    def _raise_for(self, error: Any) -> None:
        """Handle an error that came in place of a message; librdkafka retries temporary ones."""
        if error.name() in REFUSED:
            raise BadData(f"{self._where} refuses: {error.str()}")
        if error.name() == RESET:  # the offset is gone: find the position again
            places = [self._kafka.TopicPartition(*partition) for partition in self._offsets]
            self._on_revoke(self._consumer, places)
            self._on_assign(self._consumer, places)

    def _on_assign(self, consumer: Any, partitions: list[Any]) -> None:
        """Read nothing until the positions are known."""
        consumer.assign([])
        self._assigned = partitions

    def _on_revoke(self, consumer: Any, partitions: list[Any]) -> None:
        self._assigned = None
        for place in partitions:
            self._offsets.revoke((place.topic, place.partition))

    def _failed(self, error: Any) -> None:
        """Librdkafka's report of lost brokers, in its poll."""
        self._last_error = error.str()
        if self._status.running and error.name() == "_ALL_BROKERS_DOWN":
            self._status.waiting(Unreachable(f"{self._where} does not answer: {error.str()}"), 0.0)

    async def _call(self, attempt: Callable[[], R]) -> R:
        """Run a call of the client in its thread, again while no broker answers."""

        async def once() -> R:
            try:
                return await asyncio.get_running_loop().run_in_executor(self._thread, attempt)
            except self._kafka.KafkaException as error:
                if error.args[0].name() in REFUSED:
                    raise BadData(f"{self._where} refuses: {error.args[0].str()}") from None
                raise LostBroker(self._last_error or error.args[0].str()) from None
            except RegistryAway as away:
                raise LostBroker(f"the schema registry: {away}") from None

        return await retry_while_away(once, (LostBroker,), self._where, self._status)

    def _take(self, received: Any) -> int | None:
        """The messages lost before one that is to be learnt; None for others."""
        return self._offsets.take((received.topic(), received.partition()), received.offset())

    def _message(self, received: Any, lost: int) -> Message:
        """Convert a Kafka message. Raises RegistryAway if its schema cannot be read now."""
        topic, offset, value = received.topic(), received.offset(), received.value() or b""
        partition = topic, received.partition()
        found, session = self._read(received)
        if "sample" in found:
            found["sample"]["seq"] = offset
        return Message(
            topic,
            self._producer_of(partition),
            f"{_shown(partition)} offset {offset}",
            value.decode(errors="replace"),
            session=session,
            number=offset,
            lost=lost,
            token=received,
            **found,
        )

    def _read(self, received: Any) -> tuple[dict[str, Any], str]:
        """The `sample` of a message, or what is `wrong` with it, and its session; "" if unknown."""
        topic = received.topic()
        values = {"topic": topic, "partition": str(received.partition())}
        if received.key() is not None:
            values["key"] = received.key().decode(errors="surrogateescape")
        record, found = dict[str, Any](), dict[str, Any]()
        try:
            if received.value() is None:
                raise BadData("it has no value: a tombstone")
            record = self._decode(topic, received.value())
        except BadData as error:
            found = {"wrong": str(error)}
        values |= {f"value.{name}": str(record[name]) for name in self._routed if name in record}
        session = fill_template(self._template, values)
        if not session and not found:
            found = {"wrong": f"it lacks what {self._template} needs, so it has no session"}
        return found or read(lambda: self._sample_record(record, received), self._columns), session

    def _sample_record(self, record: dict[str, Any], received: Any) -> dict[str, Any]:
        """The record without the members that chose its session, with the headers asked for."""
        record = {name: each for name, each in record.items() if name not in self._routed}
        if not self._headers:
            return record
        given = {
            name: cell_value((each or b"").decode(errors="replace"))
            for name, each in received.headers() or []
        }
        if self._columns.label is None and self._columns.features is None:
            return add_headers(record, self._headers, given)
        features: dict[str, Any] = add_headers({"x": {}}, self._headers, given)["x"]
        return record | features

    def _producer_of(self, partition: Partition) -> str:
        return producer_name("kafka", self._cluster, partition[0], str(partition[1]))

    def _bury(self, channel: ProducerChannel, why: str, message: Message) -> None:
        """Copy a message to the dead-letter topic; it is there when this returns."""
        received, failed = message.token, list[Any]()
        headers = [
            *(received.headers() or []),
            ("llr-why", why.encode()),
            ("llr-place", message.place.encode()),
            ("llr-session", channel.name.encode()),
        ]
        self._letters.produce(
            self._dead_letter,
            value=received.value(),
            key=received.key(),
            headers=headers,
            on_delivery=lambda error, _: failed.append(error),
        )
        if self._letters.flush(TIMEOUT):
            self._letters.purge()
            self._letters.flush(TIMEOUT)
            raise self._kafka.KafkaException(
                self._kafka.KafkaError(self._kafka.KafkaError._TIMED_OUT)
            )
        if failed != [None]:
            raise BadData(f"the dead-letter topic {self._dead_letter!r} refuses: {failed}")


class LostBroker(Exception):
    """No broker answered."""


SHORT = 3.0
"""Seconds that the brokers have to answer at the start."""


def _shown(partition: Partition) -> str:
    return f"{partition[0]}[{partition[1]}]"


def from_kafka(
    options: Options,
    topics: Annotated[
        list[str], typer.Argument(metavar="TOPIC...", help="Topics; ^ starts a regex.")
    ],
    servers: Annotated[
        str, typer.Option(envvar="LLR_KAFKA", help="The brokers, as host:port,host:port.")
    ] = "127.0.0.1:9092",
    group: Annotated[
        str | None,
        typer.Option(help="The consumer group. (Default: derived from session and topics.)"),
    ] = None,
    kind: Annotated[Format, typer.Option("--format", help="The format of a value.")] = Format.JSON,
    header: Annotated[
        str, typer.Option(help="The names of the cells of a csv row, comma-separated.")
    ] = "",
    delimiter: Annotated[str, typer.Option(help="Between the cells of a csv.")] = ",",
    registry: Annotated[
        str | None,
        typer.Option(envvar="LLR_REGISTRY", help="The schema registry's URL, for avro, protobuf."),
    ] = None,
    message: Annotated[
        str, typer.Option(help="The generated class of a protobuf message, as module:Class.")
    ] = "",
    headers: Annotated[
        str, typer.Option(help="Headers that are features too, comma-separated.")
    ] = "",
    start: Annotated[
        Start, typer.Option(help="Where to start in a partition that is not known yet.")
    ] = Start.EARLIEST,
    dead_letter: Annotated[
        str | None, typer.Option(help="Copy messages that --bad skip skips to this topic.")
    ] = None,
    producer: Annotated[
        str | None,
        typer.Option(help="Number samples under this name. (Default: the cluster's id.)"),
    ] = None,
    prop: Annotated[
        list[str] | None,
        typer.Option("--property", metavar="NAME=VALUE", help="A setting of librdkafka."),
    ] = None,
) -> Source:
    """Learn from Kafka topics, each message exactly once.

    The same command continues where it stopped, also after a crash of it, of a broker or of the
    service. Several of the same command share the partitions. --session may contain {topic},
    {partition}, {key} and {value.NAME}.

    Example: llr connect kafka orders --session 'orders-{key}' --model linear
    """
    if dead_letter is not None and options.bad is not Policy.SKIP:
        raise typer.BadParameter("--dead-letter needs --bad skip")
    if len(delimiter) != 1:
        raise typer.BadParameter("--delimiter is one character")
    pairs = [one.partition("=") for one in prop or []]
    if any(not equals for _, equals, _ in pairs):
        raise typer.BadParameter("--property is NAME=VALUE")
    names = header.split(",") if header else []
    try:
        import confluent_kafka  # noqa: PLC0415 - an extra
    except ImportError:
        raise BadData("kafka needs confluent-kafka: pip install 'llr[connect]'") from None
    settings = {"bootstrap.servers": servers, "group.id": group or _group(options.session, topics)}
    return KafkaSource(
        confluent_kafka,
        settings | {name: value for name, _, value in pairs},
        list(dict.fromkeys(topics)),
        options.session,
        decoder_of(kind, header=names, delimiter=delimiter, registry=registry, message=message),
        flat_columns(options.chosen, kind, names),
        headers=headers.split(",") if headers else [],
        start=start,
        producer=producer,
        dead_letter=dead_letter,
    )


def _group(session: str, topics: list[str]) -> str:
    """The default group: the same for the same command."""
    digest = hashlib.sha256("\n".join([session, *sorted(topics)]).encode()).hexdigest()[:12]
    return f"llr-{session_name(session, 'topic')[:64]}-{digest}"
