"""`vw --daemon` and who talks to it: `unshare --net python daemon.py VW-PYTHON SERVER-CORE CORE`.

The daemon listens on every interface, so that it runs in a network of its own, and its client with
it. Every line on the standard input is a turn, as JSON:

    {"do": "learn", "lines": [...], "at_once": 1}    send so many lines, then wait for as many
    {"do": "kill"}                                   SIGKILL, and start it again

The answer is a line of JSON: seconds, the daemon's seconds of processor time, its last answer, and
quantiles of the seconds an answer took where lines were sent one by one.
"""

import json
import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

PORT = 26542
TICKS = os.sysconf("SC_CLK_TCK")


class Daemon:
    """The daemon with one connection to it."""

    def __init__(self, python: str, core: int) -> None:
        self._command = ["unshare", "--pid", "--fork", "--kill-child"]  # all of it ends at once
        self._command += ["taskset", "-c", str(core), python, "-m", "vowpalwabbit", "--daemon"]
        self._command += ["--port", str(PORT), "--num_children", "1", "--foreground"]
        self._command += ["--passes", "1", "--quiet", "--loss_function", "squared"]
        self.start()

    def start(self) -> None:
        """Start it, and connect as soon as it listens."""
        quiet = subprocess.DEVNULL
        self.process = subprocess.Popen(self._command, stdout=quiet, stderr=quiet)  # noqa: S603
        self.connection = self._connect()
        self.answers = self.connection.makefile("rb")
        self.last = b""

    def _connect(self) -> socket.socket:
        until = time.monotonic() + 20.0
        while True:
            try:
                connection = socket.create_connection(("127.0.0.1", PORT))
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                return connection
            except ConnectionRefusedError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.05)

    def kill(self) -> None:
        """SIGKILL to all of it, and wait."""
        self.answers.close()
        self.connection.close()
        self.process.kill()
        self.process.wait()
        while self._listens():  # its descendants follow it a little later
            time.sleep(0.05)

    def _listens(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", PORT)) == 0

    @property
    def cpu(self) -> float:
        """Seconds of processor time of all its processes."""
        return _cpu(Path("/proc") / str(self.process.pid))

    def learn(self, lines: list[str], at_once: int) -> dict[str, Any]:
        """Send the lines, so many at once, and take the time."""
        parts = ["".join(lines[i : i + at_once]).encode() for i in range(0, len(lines), at_once)]
        before, begin = self.cpu, time.perf_counter()
        taken = self._one_by_one(parts) if at_once == 1 else self._pipelined(parts, len(lines))
        seconds = time.perf_counter() - begin
        taken.sort()
        quantiles = {f"p{q}": taken[int(len(taken) * q / 1000)] for q in (500, 990, 999) if taken}
        told = {"seconds": seconds, "cpu": self.cpu - before, "last": self.last.decode()}
        return told | quantiles

    def _one_by_one(self, parts: list[bytes]) -> list[float]:
        taken = []
        for part in parts:
            begin = time.perf_counter()
            self.connection.sendall(part)
            self.last = self.answers.readline()
            taken.append(time.perf_counter() - begin)
        return taken

    def _pipelined(self, parts: list[bytes], n: int) -> list[float]:
        sending = threading.Thread(target=self.connection.sendall, args=(b"".join(parts),))
        sending.start()
        for _ in range(n):
            self.last = self.answers.readline()
        sending.join()
        return []


def _cpu(folder: Path) -> float:
    """Seconds of a process and its descendants."""
    fields = (folder / "stat").read_text().rpartition(")")[2].split()
    children = (folder / "task" / folder.name / "children").read_text().split()
    own = (int(fields[11]) + int(fields[12])) / TICKS
    return own + sum(_cpu(folder.parent / child) for child in children)


def main() -> None:
    """Take turns until the standard input ends."""
    python, server_core, core = sys.argv[1:]
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)  # noqa: S607
    os.sched_setaffinity(0, {int(core)})
    daemon = Daemon(python, int(server_core))
    print(json.dumps({"ready": True}), flush=True)
    try:
        for line in sys.stdin:
            print(json.dumps(_turn(daemon, json.loads(line))), flush=True)
    finally:
        daemon.kill()


def _turn(daemon: Daemon, told: dict[str, Any]) -> dict[str, Any]:
    if told["do"] == "learn":
        return daemon.learn(told["lines"], told["at_once"])
    daemon.kill()
    daemon.start()
    return {}


if __name__ == "__main__":
    main()
