"""`llr connect mqtt`: every numbered message is learnt once, whoever is killed when."""

import asyncio
import json
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import paho.mqtt.client
import pytest
from llr_cli.formats import Columns
from llr_client import Client, Unreachable
from llr_connect.channels import Journal
from llr_connect.mqtt import MAX_SHORT_CONNECTIONS, ConnectionLost, MqttSource
from paho.mqtt.client import Client as Mqtt
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from support.brokers import Mosquitto, mosquitto
from support.commands import one_line, run
from support.connecting import COUNT, X, Y, connector, sample, stopped, until
from support.sample_files import assert_learnt
from support.serving import serving, started
from typer.testing import Result

NUMBERED = ("--seq", "n")


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mosquitto]:
    with mosquitto(tmp_path_factory.mktemp("mosquitto")) as broker:
        yield broker


@contextmanager
def mqtt_client(broker: Mosquitto, client_id: str = "", *, expiry: int = 0) -> Iterator[Mqtt]:
    """A connected client of MQTT 5; its broker keeps its session `expiry` seconds."""
    mqtt = Mqtt(CallbackAPIVersion.VERSION2, client_id, protocol=MQTTProtocolVersion.MQTTv5)
    kept = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]
    kept.SessionExpiryInterval = expiry
    connected = threading.Event()
    mqtt.on_connect = lambda *_: connected.set()
    mqtt.connect("127.0.0.1", broker.port, clean_start=not expiry, properties=kept)
    mqtt.loop_start()
    try:
        assert connected.wait(30)
        yield mqtt
    finally:
        mqtt.disconnect()
        mqtt.loop_stop()


def publish(broker: Mosquitto, *messages: tuple[str, str], **properties: Any) -> None:
    """Publish payloads to topics, in order; all are the broker's when this returns."""
    told = Properties(PacketTypes.PUBLISH)  # type: ignore[no-untyped-call]
    told.UserProperty = list(properties.items())
    with mqtt_client(broker) as sender:
        for one in [
            sender.publish(topic, payload, qos=1, properties=told) for topic, payload in messages
        ]:
            one.wait_for_publish(30)


def numbered(numbers: Iterable[int], topic: str = "plant/load") -> list[tuple[str, str]]:
    return [(topic, sample(number, n=number)) for number in numbers]


def command(broker: Mosquitto, *more: str, topic: str = "plant/load") -> list[str]:
    told = ["mqtt", topic, "--broker", broker.url, "--session", "demo", "--model", "linear"]
    return [*told, *more]


def connected(*arguments: str, address: str, home: Path) -> Result:
    """A connector in this process, which ends by itself."""
    return run("connect", *arguments, url=address, XDG_DATA_HOME=str(home))


def test_a_message_is_learnt_once_however_often_the_connector_is_killed(
    client: Client, address: str, broker: Mosquitto, tmp_path: Path
) -> None:
    client.session("demo", model="linear")
    told = command(broker, *NUMBERED, "--batch", "3", "--client-id", "killed")
    with connector(*told, url=address, home=tmp_path) as it:
        broker.until("killed 1 plant/load")
        publish(broker, *numbered(range(COUNT)))
        until(client, "demo", 20)
        it.kill()
    for mark in (80, 160):
        assert client.session("demo").state().t < COUNT
        with connector(*told, url=address, home=tmp_path) as it:
            until(client, "demo", mark)
            it.kill()
    with connector(*told, url=address, home=tmp_path) as it:
        until(client, "demo", COUNT)
        stopped(it)
    assert it.returncode == 0
    assert_learnt(client.session("demo").state(), X, Y)


def test_the_broker_and_the_service_may_be_killed_meanwhile(tmp_path: Path) -> None:
    with ExitStack() as running, mosquitto(tmp_path) as broker:
        with started(tmp_path) as server, Client(f"127.0.0.1:{server.port}") as client:
            client.session("demo", model="linear")
            url = f"127.0.0.1:{server.port}"
            told = command(broker, *NUMBERED, "--batch", "3", "--client-id", "waits")
            it = running.enter_context(connector(*told, url=url, home=tmp_path))
            broker.until("waits 1 plant/load")
            publish(broker, *numbered(range(150)))
            until(client, "demo", 30)
            broker.kill()
            assert it.stderr is not None
            assert f"127.0.0.1:{broker.port} does not answer" in it.stderr.readline()
            broker.start()
            broker.until("waits 1 plant/load")
            publish(broker, *numbered(range(COUNT)))  # it kept nothing: its sender sends again
            until(client, "demo", 200)
            server.process.kill()
        assert "a sender that restarts its numbers needs another name" in it.stderr.readline()
        assert it.stderr.readline() == "connected again\n"
        assert f"127.0.0.1:{server.port} does not answer" in it.stderr.readline()
        store = f"sqlite:///{tmp_path / 'llr.db'}"
        with serving(store, port=str(server.port)) as address, Client(address) as client:
            until(client, "demo", COUNT)
            told_last, said = stopped(it)
            assert (it.returncode, said) == (0, "connected again\n")
            assert told_last.startswith(f"demo: {COUNT} samples learnt, ")
            assert_learnt(client.session("demo").state(), X, Y)


def queued(broker: Mosquitto, client_id: str, *messages: tuple[str, str], **more: Any) -> None:
    """Messages that wait for a client the broker knows."""
    with mqtt_client(broker, client_id, expiry=3600) as listener:
        subscribed = threading.Event()
        listener.on_subscribe = lambda *_: subscribed.set()
        listener.subscribe("plant/#", qos=1)
        assert subscribed.wait(30)
    publish(broker, *messages, **more)


def test_numbers_that_never_came_stop_it_or_are_passed_over_for_good(
    client: Client, address: str, broker: Mosquitto, tmp_path: Path
) -> None:
    told = command(broker, *NUMBERED, "--client-id", "gaps", topic="plant/#")
    queued(broker, "gaps", *numbered([7, 8, 8, 11, 12, 7]))
    result = connected(*told, address=address, home=tmp_path)
    assert result.exit_code == 1
    assert "mqtt:plant/load begins with plant/load 7\n" in result.stderr
    assert "2 messages from number 9 of mqtt:plant/load are missing" in result.stderr
    assert client.session("demo").state().t == 2
    going_on = (*told, "--missing", "skip", "--count")
    result = connected(*going_on, "2", address=address, home=tmp_path)
    assert "2 samples learnt, 2 missing" in result.stdout
    publish(broker, *numbered([9, 12, 13]))  # 9 comes too late: it is left out
    result = connected(*going_on, "1", address=address, home=tmp_path)
    assert "1 samples learnt, 3 came again" in result.stdout
    left = [7, 8, 11, 12, 13]
    assert_learnt(client.session("demo").state(), X[left], Y[left])


def test_what_cannot_be_learnt_stops_it_or_is_kept_in_the_journal(
    client: Client, address: str, broker: Mosquitto, tmp_path: Path
) -> None:
    told = command(broker, *NUMBERED, "--client-id", "bad", topic="plant/#")
    bad = [("plant/load", '{"n": 2, "x": [1], "y": 2}'), ("plant/load", "{")]
    queued(broker, "bad", *numbered([0, 1]), *bad, *numbered([3, 4]))
    result = connected(*told, address=address, home=tmp_path)
    assert (result.exit_code, client.session("demo").state().t) == (1, 2)
    assert "plant/load 2 cannot be learnt: has 1 features, the learner has 3" in result.stderr
    skip = (*told, "--bad", "skip", "--count", "2", "--json", "--journal", str(tmp_path / "j"))
    result = connected(*skip, address=address, home=tmp_path)
    told_last = json.loads(result.stdout)
    assert (told_last["learnt"], told_last["left_out"]) == (2, 2)
    left = [0, 1, 3, 4]
    assert_learnt(client.session("demo").state(), X[left], Y[left])
    kept = [json.loads(line) for line in (tmp_path / "j").read_text().splitlines()]
    assert [line.get("first") for line in kept] == [2, None]
    assert [line["message"] for line in kept] == [payload for _, payload in bad]


def test_numbers_and_senders_may_be_written_on_the_outside_and_topics_have_sessions(
    client: Client, address: str, broker: Mosquitto, tmp_path: Path
) -> None:
    told = ["mqtt", "plant/#", "--broker", broker.url, "--session", "of-{topic}", "--model"]
    told += ["gaussian", "--seq", "n", "--sender", "device", "--client-id", "outside", "--count"]
    queued(broker, "outside")
    for device in ("a", "b"):
        for topic in ("plant/1", "plant/2"):
            publish(broker, (topic, '{"y": 1, "x": [3]}'), n="0", device=device)
            publish(broker, (topic, '{"y": 1, "at": "noon"}'), n="0", device=device)
    result = connected(*told, "4", address=address, home=tmp_path)
    assert result.exit_code == 0, result.stderr
    states = [client.session(name).state() for name in ("of-plant_1", "of-plant_2")]
    assert [state.t for state in states] == [2, 2]


def test_messages_without_numbers_are_learnt_one_at_a_time_and_that_is_told(
    client: Client, address: str, broker: Mosquitto, tmp_path: Path
) -> None:
    told = command(broker, "--client-id", "plain", "--count", "5", topic="plant/#")
    queued(broker, "plain", *[("plant/load", sample(number)) for number in range(5)])
    result = connected(*told, address=address, home=tmp_path)
    assert "up to 1 may be learnt twice" in result.stderr
    assert_learnt(client.session("demo").state(), X[:5], Y[:5])


def test_a_broker_that_is_not_there_is_3_and_one_that_refuses_1(
    client: Client, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("llr_connect.source.SHORT_PATIENCE", 0.0)
    told = ["mqtt", "a", "--session", "demo", "--broker"]
    result = connected(*told, "mqtt://me:secret@127.0.0.1:1", address=address, home=tmp_path)
    assert (result.exit_code, "does not answer" in one_line(result)) == (3, True)
    assert "secret" not in result.output
    with mosquitto(tmp_path, "allow_anonymous false") as strict:
        result = connected(*told, strict.url, address=address, home=tmp_path)
    assert (result.exit_code, "Not authorized" in one_line(result)) == (1, True)


class HangsUp:
    """A broker that lets us in, and hangs up."""

    async def receive(self, most: int) -> Any:
        raise ConnectionLost("hung up")

    async def close(self) -> None: ...


def test_a_broker_that_always_hangs_up_is_not_come_back_to_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    visits: list[HangsUp] = []

    async def connected(topics: MqttSource) -> HangsUp:
        visits.append(HangsUp())
        topics._since = time.monotonic()
        return visits[-1]

    async def taking() -> None:
        monkeypatch.setattr(MqttSource, "_connected", connected)
        journal = Journal(tmp_path / "journal")
        topics = MqttSource(
            paho.mqtt, "here", ["a"], "twin", "n", None, Columns(), batch=None, journal=journal
        )
        await topics.start(None, None)  # type: ignore[arg-type]
        await topics.take(1)

    with pytest.raises(Unreachable, match="another client may have come as 'twin'"):
        asyncio.run(taking())
    assert len(visits) == MAX_SHORT_CONNECTIONS
