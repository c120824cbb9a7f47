"""Row 31: messages of Kafka are learnt once, whoever is killed.

Two topics of four partitions each: one feeds a session a partition, the other a session a key. Two
connectors share each topic. Connectors and the service are killed and started again, so partitions
also move from one connector to the other, until every message is learnt.
"""

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from llr_cli.exits import UNREACHABLE
from support.kafka import MockKafka, mock_kafka

import llr
from llr.types import Array

from .server import PATIENCE, Server
from .verdict import Tick, Verdict, broken

DIM, KEYS, PARTITIONS = 3, 12, 4
TOPICS = {"parts": "part-{partition}", "keyed": "key-{key}"}
CONNECT = [sys.executable, "-c", "from llr_connect import app; app()"]
PROPERTIES = ("session.timeout.ms=6000", "heartbeat.interval.ms=500")
LEAST = 1.5
"""Seconds between two kills at least: a connector needs one to join its group."""


class Sent(NamedTuple):
    """The messages of one session, in the order of their partition."""

    X: Array
    y: Array


class Connectors:
    """Two connectors a topic, which are killed and started again."""

    def __init__(self, cluster: MockKafka, url: str, folder: Path) -> None:
        self._servers, self._url, self._folder = cluster.servers, url, folder
        self._running: list[tuple[str, subprocess.Popen[bytes]]] = []
        self.kills = self.failed = 0

    @contextmanager
    def running(self) -> Iterator[None]:
        """Start all of them; they are ended with the block."""
        for topic in TOPICS:
            for _ in range(2):
                self._running.append((topic, self._start(topic)))
        try:
            yield
        finally:
            for _, process in self._running:
                process.kill()
                process.wait()

    def kill(self, lot: random.Random) -> None:
        """Kill one, and start it again."""
        at = lot.randrange(len(self._running))
        topic, process = self._running[at]
        process.kill()
        process.wait()
        self.kills += 1
        self._running[at] = topic, self._start(topic)

    def revive(self) -> None:
        """Start those again that ended by themselves, as a supervisor does.

        One that does not find the service at its start ends with 3; no other end is expected.
        """
        for at, (topic, process) in enumerate(self._running):
            code = process.poll()
            if code is not None:
                self.failed += code != UNREACHABLE
                self._running[at] = topic, self._start(topic)

    def _start(self, topic: str) -> "subprocess.Popen[bytes]":
        command = [*CONNECT, "kafka", topic, "--servers", self._servers, "--group", topic]
        command += ["--session", TOPICS[topic], "--model", "linear", "--url", self._url]
        command += [word for one in PROPERTIES for word in ("--property", one)]
        log = open(self._folder / "connectors.log", "ab")  # noqa: SIM115
        with log:
            return subprocess.Popen(  # noqa: S603
                command, env=os.environ | {"XDG_DATA_HOME": str(self._folder)}, stderr=log
            )


def send(cluster: MockKafka, seed: int, count: int) -> dict[str, Sent]:
    """Send messages to both topics; returns the samples of each session."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(count, DIM)), rng.normal(size=count)
    sessions: dict[str, list[int]] = {}
    for number in range(count):
        place = number // 2
        key, keyed = f"{place % KEYS}", number % 2 == 1
        partition = (place % KEYS if keyed else place) % PARTITIONS
        session = f"key-{key}" if keyed else f"part-{partition}"
        sessions.setdefault(session, []).append(number)
        value = json.dumps({"x": X[number].tolist(), "y": y[number]})
        topic = "keyed" if keyed else "parts"
        while True:
            try:
                cluster.producer.produce(topic, value=value, key=key, partition=partition)
                break
            except BufferError:
                cluster.producer.poll(0.1)
    cluster.producer.flush(PATIENCE)
    return {name: Sent(X[numbers], y[numbers]) for name, numbers in sessions.items()}


def learnt(server: Server, sessions: dict[str, Sent]) -> int:
    """The samples that all sessions have."""
    rows = server.get("/v1/sessions?limit=100")["sessions"]
    return sum(row["t"] for row in rows if row["name"] in sessions)


def differences(server: Server, sessions: dict[str, Sent]) -> tuple[int, int, int]:
    """Samples lost, samples learnt twice, and sessions that are not what their samples make."""
    lost = twice = differ = 0
    for name, sent in sessions.items():
        state = server.get(f"/v1/sessions/{name}")
        lost += max(0, len(sent.y) - state["t"])
        twice += max(0, state["t"] - len(sent.y))
        learner = llr.Learner("linear", DIM, regret="exact")
        learner.learn(sent.X, sent.y)
        same = state["theta"] == learner.theta.tolist()
        differ += not (same and state["loss"]["total"] == learner.loss.total)
    return lost, twice, differ


def run(folder: Path, seed: int, messages: int, tick: Tick) -> Verdict:
    """So many messages."""
    lot = random.Random(seed)
    with mock_kafka() as cluster, ExitStack() as stack:
        sessions = send(cluster, seed, messages)
        server = stack.enter_context(Server(folder / "llr.db"))
        connectors = Connectors(cluster, server.url, folder)
        stack.enter_context(connectors.running())
        kills, done, began = 0, 0, time.monotonic()
        while done < messages and time.monotonic() - began < PATIENCE + messages / 100:
            time.sleep(lot.uniform(LEAST, 2 * LEAST))
            now = learnt(server, sessions)
            for _ in range(now - done):
                tick()
            done = now
            connectors.revive()
            if lot.random() < 0.5:
                connectors.kill(lot)
            else:
                port = server.port
                server.kill()
                kills += 1
                server = stack.enter_context(Server(folder / "llr.db", port=port))
        lost, twice, differ = differences(server, sessions)
        seconds = time.monotonic() - began
    counts: dict[str, Any] = {
        "messages": messages,
        "sessions": len(sessions),
        "connectors killed": connectors.kills,
        "services killed": kills,
        "lost": lost,
        "twice": twice,
        "states that differ": differ,
        "connectors that failed": connectors.failed,
        "seconds": round(seconds),
    }
    faults = broken(
        nothing_is_lost=lost == 0,
        nothing_is_learnt_twice=twice == 0,
        states_are_those_of_the_messages=differ == 0,
        no_connector_fails=connectors.failed == 0,
    )
    return Verdict(counts, "lost 0, twice 0, bit-equal", faults)
