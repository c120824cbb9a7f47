"""Mosquitto and Redis as processes of their own, on free ports of loopback."""

import getpass
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import redis

from scripts.system_programs import need


def free_port() -> int:
    with socket.socket() as trial:
        trial.bind(("127.0.0.1", 0))
        return int(trial.getsockname()[1])


class Mosquitto:
    """A broker that keeps nothing on disk, and says who subscribes."""

    def __init__(self, folder: Path, *lines: str) -> None:
        self.port, self._config = free_port(), folder / "mosquitto.conf"
        told = [f"listener {self.port} 127.0.0.1", f"user {getpass.getuser()}", "log_dest stderr"]
        told += ["log_type subscribe", "log_type information", "max_queued_messages 0"]
        self._config.write_text("\n".join([*told, *(lines or ["allow_anonymous true"])]))
        self.url = f"mqtt://127.0.0.1:{self.port}"

    def start(self) -> None:
        self._process = subprocess.Popen(  # noqa: S603
            [need("mosquitto"), "-c", str(self._config)], stderr=subprocess.PIPE, text=True
        )
        self.until(" running")

    def until(self, words: str) -> None:
        """Wait for a line of the log, a minute at most."""
        assert self._process.stderr is not None
        impatience = threading.Timer(60, self._process.kill)
        impatience.start()
        assert any(words in line for line in self._process.stderr), words
        impatience.cancel()

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()


@contextmanager
def mosquitto(folder: Path, *lines: str) -> Iterator[Mosquitto]:
    broker = Mosquitto(folder, *lines)
    broker.start()
    try:
        yield broker
    finally:
        broker.kill()


class RedisServer:
    """A Redis that loses nothing when it is killed."""

    def __init__(self, folder: Path) -> None:
        self.port, self._folder = free_port(), folder
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self.client = redis.Redis(port=self.port)

    def start(self) -> None:
        told = ["--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self._folder)]
        told += ["--save", "", "--appendonly", "yes", "--appendfsync", "always"]
        self._process = subprocess.Popen(  # noqa: S603
            [need("redis-server"), *told], stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        assert any("Ready to accept connections" in line for line in self._process.stdout)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()
        self.client.connection_pool.disconnect()


@contextmanager
def redis_server(folder: Path) -> Iterator[RedisServer]:
    server = RedisServer(folder)
    server.start()
    try:
        yield server
    finally:
        server.kill()
        server.client.close()
