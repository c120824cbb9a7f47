"""`llr connect mqtt`: messages are acknowledged to the broker once they are learnt.

With QoS 1 and a session that does not expire, the broker stores unacknowledged messages for a known
client id and delivers them again. A message that was learnt but not acknowledged arrives twice; its
number identifies it. Duplicates without numbers are recognized only within one process.
"""

import asyncio
import hashlib
import logging
import ssl
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, TypeVar
from urllib.parse import unquote, urlsplit

import typer
from llr_cli.formats import Columns
from llr_cli.options import BadData
from llr_client import Unreachable
from llr_client.syntax import redact_url

from llr_connect.channels import Channels, Journal, ProducerChannel, data_folder
from llr_connect.messages import Message, producer_name, read, record_of, session_name
from llr_connect.options import Options
from llr_connect.pump import DEFAULT_BATCH
from llr_connect.source import Source, retry_while_away
from llr_connect.status import Status

R = TypeVar("R")
KEEPALIVE, TIMEOUT = 20, 10.0
"""Seconds between pings, and that the broker has to answer."""

NEVER_EXPIRES = 0xFFFFFFFF
"""MQTT 5's session expiry interval for a session without expiry."""

PORTS = {"mqtt": 1883, "mqtts": 8883}
REFUSED = {0x84, 0x85, 0x86, 0x87, 0x8A, 0x8C, 0x90}
"""Reason codes of permanent refusals: protocol, client id, password, rights, methods."""

TAKEN_OVER = 0x8E
LOGGER = logging.getLogger("llr.connect.mqtt")
"""paho's log of lost connections, which the connector reports itself."""

LOGGER.addHandler(logging.NullHandler())
LOGGER.propagate = False


class ConnectionLost(Exception):
    """The connection to the broker ended, or was refused.

    Attributes:
        code: the broker's reason code, if it gave one.
    """

    def __init__(self, reason: object) -> None:
        super().__init__(str(reason))
        self.code: int | None = getattr(reason, "value", None)


class Broker:
    """A connection to a broker, with a persistent session and manual acknowledgements.

    paho runs the connection in a thread; its callbacks hand everything to the event loop.

    Args:
        mqtt: the package `paho.mqtt`, with its module `client` imported.
        url: the broker's URL, `mqtt://name:password@host:port` or `mqtts://…`.
        client_id: the name of the broker's session.
        window: the most unacknowledged messages in flight.
    """

    def __init__(self, mqtt: Any, url: str, client_id: str, window: int) -> None:
        where = urlsplit(url if "://" in url else f"mqtt://{url}")
        if where.scheme not in PORTS or not where.hostname:
            raise BadData(f"{redact_url(url)} is not an address such as mqtt://127.0.0.1:1883")
        self._mqtt, self._window = mqtt, window
        self._host, self._port = where.hostname, where.port or PORTS[where.scheme]
        self._loop = asyncio.get_running_loop()
        self._connected: asyncio.Future[None] = self._loop.create_future()
        self._granted: asyncio.Future[list[Any]] = self._loop.create_future()
        self._received: asyncio.Queue[Any] = asyncio.Queue()
        self._client = mqtt.client.Client(
            mqtt.enums.CallbackAPIVersion.VERSION2,
            client_id,
            protocol=mqtt.enums.MQTTProtocolVersion.MQTTv5,
            reconnect_on_failure=False,
            manual_ack=True,
        )
        self._client.enable_logger(LOGGER)
        if where.username:
            password = unquote(where.password) if where.password else None
            self._client.username_pw_set(unquote(where.username), password)
        if where.scheme == "mqtts":
            self._client.tls_set_context(ssl.create_default_context())
        self._client.on_connect = self._on_connect
        self._client.on_disconnect = self._on_disconnect
        self._client.on_message = self._on_message
        self._client.on_subscribe = self._on_subscribe

    async def connect(self) -> None:
        """Connect to the session that the broker has under the client id, or begin it."""
        kept = self._mqtt.properties.Properties(self._mqtt.packettypes.PacketTypes.CONNECT)
        kept.SessionExpiryInterval, kept.ReceiveMaximum = NEVER_EXPIRES, self._window
        self._client.connect_timeout = TIMEOUT
        try:
            await asyncio.to_thread(
                self._client.connect,
                self._host,
                self._port,
                KEEPALIVE,
                clean_start=False,
                properties=kept,
            )
        except OSError as error:
            raise ConnectionLost(error) from None
        self._client.loop_start()
        await self._answer(self._connected)

    async def listen(self, topics: list[str]) -> None:
        """Subscribe with QoS 1, without retained messages."""
        options = self._mqtt.subscribeoptions.SubscribeOptions
        how = options(qos=1, retainHandling=options.RETAIN_DO_NOT_SEND)
        try:
            self._client.subscribe([(topic, how) for topic in topics])
        except ValueError as error:
            raise BadData(f"{', '.join(topics)}: {error}") from None
        granted = await self._answer(self._granted)
        for topic, reason in zip(topics, granted, strict=True):
            if reason.value != 1:
                raise BadData(f"the broker does not give {topic} with QoS 1: {reason}")

    async def receive(self, most: int) -> list[Any]:
        """Wait for at least one message; raises ConnectionLost after the last."""
        found: list[Any] = []
        while not found or (len(found) < most and not self._received.empty()):
            one = await self._received.get()
            if isinstance(one, ConnectionLost):
                self._received.put_nowait(one)  # it stays the last
                if not found:
                    raise one
                break
            found.append(one)
        return found

    def acknowledge(self, message: Any) -> None:
        """Acknowledge a message to the broker."""
        self._client.ack(message.mid, message.qos)

    async def close(self) -> None:
        """Disconnect, after the acknowledgements are written; the broker's session remains."""
        self._client.disconnect()
        await asyncio.to_thread(self._client.loop_stop)

    async def _answer(self, future: "asyncio.Future[R]") -> R:
        try:
            return await asyncio.wait_for(future, TIMEOUT)
        except TimeoutError:
            raise ConnectionLost(f"no answer within {TIMEOUT:.0f} s") from None

    def _on_connect(self, _c: Any, _u: Any, _flags: Any, reason: Any, _p: Any) -> None:
        error = ConnectionLost(reason) if reason.is_failure else None
        self._in_loop(lambda: _settle(self._connected, None, error))

    def _on_subscribe(self, _c: Any, _u: Any, _mid: int, reasons: list[Any], _p: Any) -> None:
        self._in_loop(lambda: _settle(self._granted, reasons))

    def _on_message(self, _c: Any, _u: Any, message: Any) -> None:
        self._in_loop(lambda: self._received.put_nowait(message))

    def _on_disconnect(self, _c: Any, _u: Any, _flags: Any, reason: Any, _p: Any) -> None:
        lost = ConnectionLost(reason)

        def end() -> None:
            self._received.put_nowait(lost)
            _settle(self._connected, None, lost)
            if not self._granted.done():
                _settle(self._granted, [], lost)
                self._granted.exception()  # it is no error that it was not awaited

        self._in_loop(end)

    def _in_loop(self, work: Callable[[], None]) -> None:
        with suppress(RuntimeError):  # the event loop has ended
            self._loop.call_soon_threadsafe(work)


def _settle(future: "asyncio.Future[R]", result: R, error: Exception | None = None) -> None:
    """Resolve a future, unless it is resolved or was given up."""
    if future.done():
        return
    if error is None:
        future.set_result(result)
    else:
        future.set_exception(error)


def user_properties(message: Any) -> dict[str, str]:
    """The MQTT 5 user properties of a message."""
    return dict(getattr(message.properties, "UserProperty", []))


UNNUMBERED = (
    "messages have no numbers: where this command is killed, up to {:,} may be learnt twice;"
    " --seq NAME ends that"
)


MIN_CONNECTION_SECONDS, MAX_SHORT_CONNECTIONS = 2.0, 5
"""The duration in seconds below which a connection is short, and the most short ones in a row."""


class MqttSource:
    """The messages of some topics of a broker.

    Args:
        mqtt: the package `paho.mqtt`, with its module `client` imported.
        url: the broker's URL.
        topics: the topic filters to subscribe to.
        client_id: the name of the broker's session.
        seq: the member or user property with a message's number, if any.
        sender: the one with the sender's name; None for one sender per topic.
        columns: the roles of a record's members.
        batch: the most messages to learn at once; by default one if they have no numbers.
        journal: the journal of skipped messages.
    """

    name, sparse = "mqtt", False

    def __init__(
        self,
        mqtt: Any,
        url: str,
        topics: list[str],
        client_id: str,
        seq: str | None,
        sender: str | None,
        columns: Columns,
        *,
        batch: int | None,
        journal: Journal,
    ) -> None:
        self._mqtt = mqtt
        self._url, self._topics, self._client_id = url, topics, client_id
        self._seq, self._sender, self._columns = seq, sender, columns
        self.journal: Journal | None = journal
        self._kept = journal
        self.batch: int | None = batch or (DEFAULT_BATCH if seq else 1)
        self._window = self.batch * 2 if seq else self.batch
        self.notice = "" if seq else UNNUMBERED.format(self._window)
        self._learnt: dict[int, bytes] = {}
        self._since, self._short = 0.0, 0

    async def start(self, channels: Channels, status: Status) -> None:
        """Connect and subscribe."""
        self._status = status
        self._broker = await self._connected()

    async def take(self, most: int) -> list[Message]:
        """Wait for messages that were not learnt before."""
        while True:
            try:
                received = await self._broker.receive(most)
            except ConnectionLost as error:
                await self.close()
                await self._reconnect(error)
                continue
            new = [one for one in received if not (one.dup and self._was_learnt(one))]
            if new:
                return [self._message(message) for message in new]

    async def acknowledge(self, channel: ProducerChannel, messages: list[Message]) -> None:
        """Acknowledge messages of the present connection; those of a lost one arrive again."""
        for message in messages:
            broker, received = message.token
            if broker is self._broker:
                broker.acknowledge(received)
            if self._seq is None:
                self._learnt.pop(received.mid, None)
                self._learnt[received.mid] = received.payload
        while len(self._learnt) > self._window:
            del self._learnt[next(iter(self._learnt))]

    async def skip(
        self, channel: ProducerChannel, why: str, numbers: range | None, message: Message | None
    ) -> None:
        """Record the skipped message in the journal."""
        text = message.text if message else ""
        self._kept.add(channel.name, channel.producer, why, numbers, text)

    def lag(self) -> int | None:
        """None: MQTT does not report the length of a queue."""
        return None

    async def close(self) -> None:
        """Disconnect; the broker's session remains."""
        if hasattr(self, "_broker"):
            await self._broker.close()

    def _was_learnt(self, message: Any) -> bool:
        """Whether a redelivered message without a number was learnt by this process."""
        if self._learnt.get(message.mid) != message.payload:
            return False
        self._broker.acknowledge(message)
        self._status.repeated += 1
        return True

    async def _reconnect(self, lost: ConnectionLost) -> None:
        """Connect again; fail if connections stay short, as when another client has our id."""
        lasted = time.monotonic() - self._since
        self._short = self._short + 1 if lasted < MIN_CONNECTION_SECONDS else 0
        if lost.code == TAKEN_OVER or self._short >= MAX_SHORT_CONNECTIONS:
            raise Unreachable(
                f"{redact_url(self._url)} hangs up again and again: another client may have come as"
                f" {self._client_id!r}"
            )
        self._broker = await self._connected()

    async def _connected(self) -> Broker:
        async def attempt() -> Broker:
            broker = Broker(self._mqtt, self._url, self._client_id, self._window)
            try:
                await broker.connect()
                await broker.listen(self._topics)
            except (ConnectionLost, BadData) as error:
                await broker.close()
                if isinstance(error, ConnectionLost) and error.code in REFUSED:
                    raise BadData(f"{redact_url(self._url)} refuses: {error}") from None
                raise
            self._since = time.monotonic()
            return broker

        where = redact_url(self._url)
        return await retry_while_away(attempt, (ConnectionLost,), where, self._status)

    def _message(self, received: Any) -> Message:
        """Convert an MQTT message."""
        wrong, record = "", dict[str, Any]()
        try:
            record = record_of(bytes(received.payload))
        except BadData as error:
            wrong = str(error)
        members = user_properties(received) | record
        found = {"wrong": wrong} if wrong else read(lambda: self._plain(record), self._columns)
        number, sender = number_of(members.get(self._seq or "")), members.get(self._sender or "")
        for name, value in ((self._seq, number), (self._sender, sender)):
            if name is not None and value is None:
                found = {"wrong": f"it has no {name!r} that could tell it apart"}
        who = [str(sender)] if self._sender else []
        topic = received.topic
        return Message(
            topic,
            producer_name("mqtt", topic, *who),
            f"{topic} {'message' if number is None else number}",
            bytes(received.payload).decode(errors="replace"),
            number=number if self._seq else None,
            token=(self._broker, received),
            **found,
        )

    def _plain(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """The record without its number and sender."""
        return {k: v for k, v in record.items() if k not in (self._seq, self._sender)}


def number_of(value: Any) -> int | None:
    """Parse a message's number: an integer from 0, also as text; None for anything else.

    >>> number_of(7), number_of("7"), number_of(True), number_of(-1), number_of(None)
    (7, 7, None, None, None)
    """
    if isinstance(value, str) and value.isascii() and value.isdigit():
        return int(value)
    return value if type(value) is int and value >= 0 else None


def from_mqtt(
    options: Options,
    topics: Annotated[
        list[str], typer.Argument(metavar="TOPIC...", help="Topic filters; may contain + and #.")
    ],
    broker: Annotated[
        str, typer.Option(envvar="LLR_MQTT", help="The broker's URL; mqtts:// with TLS.")
    ] = "mqtt://127.0.0.1:1883",
    seq: Annotated[
        str | None,
        typer.Option(help="The member or user property of a message that is its number."),
    ] = None,
    sender: Annotated[
        str | None,
        typer.Option(help="The one that names the sender. (Default: one sender per topic.)"),
    ] = None,
    client_id: Annotated[
        str | None,
        typer.Option(help="The MQTT client id. (Default: derived from session and topics.)"),
    ] = None,
    journal: Annotated[
        Path | None, typer.Option(help="File of skipped messages. (Default: see the docs.)")
    ] = None,
) -> Source:
    """Learn from messages of MQTT topics, exactly once if they have numbers.

    The same command continues where it stopped, also after a crash of it, of the broker or of the
    service: a message is acknowledged when it is learnt, not before.

    Example: llr connect mqtt 'plant/+/load' --session load-{topic} --model linear --seq n
    """
    try:
        import paho.mqtt.client  # noqa: PLC0415 - an extra
    except ImportError:
        raise BadData("mqtt needs paho-mqtt: pip install 'llr[connect]'") from None
    known_as = client_id or _client_id(options.session, topics)
    kept = Journal(journal or data_folder() / session_name("mqtt-{topic}.ndjson", known_as))
    return MqttSource(
        paho.mqtt,
        broker,
        topics,
        known_as,
        seq,
        sender,
        options.chosen,
        batch=options.batch,
        journal=kept,
    )


def _client_id(session: str, topics: list[str]) -> str:
    """The default client id: the same for the same command."""
    digest = hashlib.sha256("\n".join([session, *sorted(topics)]).encode()).hexdigest()[:12]
    return f"llr-{session_name(session, 'topic')[:64]}-{digest}"
