"""A connection to an MQTT broker that acknowledges a message when it is told to, not before.

aiomqtt acknowledges what it hands out; paho below it can be told not to. That, and whether a
message was sent before, is all that is reached for beneath aiomqtt.
"""

import logging
import ssl
from typing import Any
from urllib.parse import unquote, urlsplit

import aiomqtt
from llr_cli.connection import BadData
from llr_client.address import shown
from paho.mqtt.client import MQTTMessage
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.subscribeoptions import SubscribeOptions

KEEPALIVE = 20
FOR_EVER = 0xFFFFFFFF
"""Seconds that a session is kept, as MQTT 5 writes that it is."""

PORTS = {"mqtt": 1883, "mqtts": 8883}
REFUSED = {0x84, 0x85, 0x86, 0x87, 0x8A, 0x8C, 0x90}
"""Reasons not to let us in that will not pass: protocol, client id, password, rights, methods."""

TAKEN_OVER = 0x8E
QUIET = logging.getLogger("llr.connect.mqtt")
"""What paho says of lost connections: who waits for them says it in words of his own."""

QUIET.addHandler(logging.NullHandler())
QUIET.propagate = False


class Broker(aiomqtt.Client):
    """A client with a session the broker keeps.

    Args:
        url: where the broker is, `mqtt://name:password@host:port` or `mqtts://…`.
        client_id: under which name it keeps the session.
        window: the most messages that may be on their way to us.
    """

    def __init__(self, url: str, client_id: str, window: int) -> None:
        where = urlsplit(url if "://" in url else f"mqtt://{url}")
        if where.scheme not in PORTS or not where.hostname:
            raise BadData(f"{shown(url)} is not an address such as mqtt://127.0.0.1:1883")
        kept = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]
        kept.SessionExpiryInterval, kept.ReceiveMaximum = FOR_EVER, window
        super().__init__(
            where.hostname,
            where.port or PORTS[where.scheme],
            username=unquote(where.username) if where.username else None,
            password=unquote(where.password) if where.password else None,
            identifier=client_id,
            logger=QUIET,
            protocol=aiomqtt.ProtocolVersion.V5,
            clean_start=False,
            keepalive=KEEPALIVE,
            properties=kept,
            tls_context=ssl.create_default_context() if where.scheme == "mqtts" else None,
        )
        self._client.manual_ack_set(True)
        self._again: set[int] = set()

    async def listen(self, topics: list[str]) -> None:
        """Subscribe: messages are kept until they are acknowledged; what is retained is none."""
        how = SubscribeOptions(qos=1, retainHandling=SubscribeOptions.RETAIN_DO_NOT_SEND)
        granted = await self.subscribe([(topic, how) for topic in topics])
        for topic, reason in zip(topics, granted, strict=True):
            if getattr(reason, "value", reason) != 1:
                raise BadData(f"the broker does not give {topic} with QoS 1: {reason}")

    async def some(self, most: int) -> list[tuple[aiomqtt.Message, bool]]:
        """What has come, at least one message, each with whether it was sent before."""
        found = [await anext(self.messages)]
        while len(found) < most and len(self.messages):
            found.append(await anext(self.messages))
        return [(message, message.mid in self._again) for message in found]

    def acknowledge(self, message: aiomqtt.Message) -> None:
        """Tell the broker that it may forget a message."""
        self._client.ack(message.mid, message.qos)
        self._again.discard(message.mid)

    def _on_message(self, client: Any, userdata: Any, message: MQTTMessage) -> None:
        if message.dup:
            self._again.add(message.mid)
        super()._on_message(client, userdata, message)


def reason_of(error: aiomqtt.MqttError) -> int | None:
    """The broker's reason for an error, if it gave one."""
    for one in (error, error.__cause__):
        code = getattr(one, "rc", None)
        if code is not None:
            return int(getattr(code, "value", code))
    return None


def user_properties(message: aiomqtt.Message) -> dict[str, str]:
    """What a sender wrote on the outside of a message."""
    return dict(getattr(message.properties, "UserProperty", []))
