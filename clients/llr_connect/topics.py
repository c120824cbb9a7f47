"""MQTT: messages of topics, acknowledged to the broker once they are learnt.

The broker keeps what is not acknowledged for a client it knows (QoS 1, a session that does not
expire), and sends it again. What was learnt but not acknowledged comes twice: the number in a
message tells. Messages without numbers can be told apart only while the same process runs.
"""

import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from aiomqtt import Message as Came
from aiomqtt import MqttError
from llr_cli.connection import BadData
from llr_cli.formats import Columns
from llr_client import Unreachable
from llr_client.address import shown

from llr_connect.broker import REFUSED, TAKEN_OVER, Broker, reason_of, user_properties
from llr_connect.feed import BATCH
from llr_connect.journal import Journal
from llr_connect.lane import Lane, Lanes
from llr_connect.message import Message, producer_name, read, record_of
from llr_connect.source import keep_trying
from llr_connect.status import Status

UNNUMBERED = (
    "messages have no numbers: where this command is killed, up to {:,} may be learnt twice;"
    " --seq NAME ends that"
)


LASTING, TRIES = 2.0, 5
"""Seconds that a connection lasts at least, and how many in a row may not."""


class Topics:
    """Topics of a broker.

    Args:
        url: where the broker is.
        topics: what is subscribed to.
        client_id: under which name the broker keeps our session.
        seq: the member or user property that numbers messages, if any.
        sender: the one that says who numbered them, if it is not one sender a topic.
        columns: which members of a record are what.
        batch: the most messages to learn at once; without numbers one, unless told otherwise.
        journal: where what is left out is kept.
    """

    name = "mqtt"

    def __init__(
        self,
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
        self._url, self._topics, self._client_id = url, topics, client_id
        self._seq, self._sender, self._columns = seq, sender, columns
        self.journal: Journal | None = journal
        self._kept = journal
        self.batch: int | None = batch or (BATCH if seq else 1)
        self._window = self.batch * 2 if seq else self.batch
        self.notice = "" if seq else UNNUMBERED.format(self._window)
        self._learnt: dict[int, bytes] = {}
        self._since, self._short = 0.0, 0

    async def start(self, lanes: Lanes, status: Status) -> None:
        """Connect and subscribe."""
        self._status = status
        self._broker = await self._connected()

    async def take(self, most: int) -> list[Message]:
        """The messages that have come."""
        while True:
            try:
                came = await self._broker.some(most)
            except MqttError as error:
                await self.close()
                await self._come_back(error)
                continue
            new = [message for message, again in came if not (again and self._knows(message))]
            if new:
                return [self._message(message) for message in new]

    async def settle(self, lane: Lane, messages: list[Message]) -> None:
        """Acknowledge them, unless they came by a connection that is lost: then they come again."""
        for message in messages:
            broker, came = message.token
            if broker is self._broker:
                broker.acknowledge(came)
            if self._seq is None:
                self._learnt.pop(came.mid, None)
                self._learnt[came.mid] = came.payload
        while len(self._learnt) > self._window:
            del self._learnt[next(iter(self._learnt))]

    async def leave_out(
        self, lane: Lane, why: str, numbers: range | None, message: Message | None
    ) -> None:
        """Write it to the journal."""
        text = message.text if message else ""
        self._kept.add(lane.name, lane.producer, why, numbers, text)

    def lag(self) -> int | None:
        """What waits at the broker nobody knows."""
        return None

    async def close(self) -> None:
        """Disconnect; the broker keeps the session."""
        if hasattr(self, "_broker"):
            with suppress(MqttError):
                await self._broker.__aexit__(None, None, None)

    def _knows(self, message: Came) -> bool:
        """Whether a message without a number that comes again was learnt by this very process."""
        if self._learnt.get(message.mid) != message.payload:
            return False
        self._broker.acknowledge(message)
        self._status.repeated += 1
        return True

    async def _come_back(self, lost: MqttError) -> None:
        """Connect again; where connections never last somebody else has our name."""
        lasted = time.monotonic() - self._since
        self._short = self._short + 1 if lasted < LASTING else 0
        if reason_of(lost) == TAKEN_OVER or self._short >= TRIES:
            raise Unreachable(
                f"{shown(self._url)} hangs up again and again: another client may have come as"
                f" {self._client_id!r}"
            )
        self._broker = await self._connected()

    async def _connected(self) -> Broker:
        async def attempt() -> Broker:
            broker = Broker(self._url, self._client_id, self._window)
            try:
                await broker.__aenter__()
            except MqttError as error:
                if reason_of(error) in REFUSED:
                    raise BadData(f"{shown(self._url)} refuses: {error}") from None
                raise
            try:
                await broker.listen(self._topics)
            except (MqttError, BadData):
                with suppress(MqttError):
                    await broker.__aexit__(None, None, None)
                raise
            self._since = time.monotonic()
            return broker

        return await keep_trying(attempt, (MqttError,), shown(self._url), self._status)

    def _message(self, came: Came) -> Message:
        """A message of the broker as one of ours."""
        wrong, record = "", dict[str, Any]()
        try:
            record = record_of(bytes(came.payload))
        except BadData as error:
            wrong = str(error)
        told = user_properties(came) | record
        found = {"wrong": wrong} if wrong else read(lambda: self._plain(record), self._columns)
        number, sender = number_of(told.get(self._seq or "")), told.get(self._sender or "")
        for name, value in ((self._seq, number), (self._sender, sender)):
            if name is not None and value is None:
                found = {"wrong": f"it has no {name!r} that could tell it apart"}
        who = [str(sender)] if self._sender else []
        topic = came.topic.value
        return Message(
            topic,
            producer_name("mqtt", topic, *who),
            f"{topic} {'message' if number is None else number}",
            bytes(came.payload).decode(errors="replace"),
            number=number if self._seq else None,
            token=(self._broker, came),
            **found,
        )

    def _plain(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """A record without what only numbers it."""
        return {k: v for k, v in record.items() if k not in (self._seq, self._sender)}


def number_of(told: Any) -> int | None:
    """A message's number: an integer from 0 on, or the same in text; None for all else.

    >>> number_of(7), number_of("7"), number_of(True), number_of(-1), number_of(None)
    (7, 7, None, None, None)
    """
    if isinstance(told, str) and told.isascii() and told.isdigit():
        return int(told)
    return told if type(told) is int and told >= 0 else None
