"""The status of a connector: counters, a live line, messages, the final report and metrics."""

import json
import math
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from llr_cli.options import BadData
from llr_client import LLRError
from rich.console import Console
from rich.live import Live
from rich.text import Text

if TYPE_CHECKING:
    from prometheus_client.core import Metric

COUNTERS = {
    "learnt": "Samples that are on disk.",
    "repeated": "Messages that arrived again after they were learnt.",
    "left_out": "Messages that could not be learnt and were skipped.",
    "missing": "Messages that never arrived.",
}


class Status:
    """The status of a running connector.

    Args:
        name: the connector's name.
        patience: seconds of retries when a peer is away.

    Attributes:
        learnt: samples that are on disk.
        repeated: messages that arrived again after they were learnt.
        left_out: messages that could not be learnt and were skipped.
        missing: messages that never arrived.
        running: whether the start is complete.
        away: whether a peer is unreachable now.
    """

    def __init__(self, name: str, patience: float) -> None:
        self.learnt = self.repeated = self.left_out = self.missing = 0
        self.name, self.patience, self.running = name, patience, False
        self.lag: Callable[[], int | None] = lambda: None
        self._began, self.away = time.monotonic(), False
        self._warned: set[str] = set()
        console = Console(stderr=True)
        self._live = Live(self, console=console, refresh_per_second=4, transient=True)
        self._shown = console.is_interactive

    def __enter__(self) -> None:
        if self._shown:
            self._live.start()

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def __rich__(self) -> Text:
        lag = self.lag()
        waits = "" if lag is None else f", {lag:,} waiting"
        away = "; retrying a peer that is away" if self.away else ""
        return Text(f"{self.name}: {self._told()}, {self.rate:,.0f}/s{waits}{away}")

    def moved(self, learnt: int) -> None:
        """Count samples that are on disk; the peer is reachable again."""
        self.learnt += learnt
        if self.away:
            self.away = False
            self.say("connected again")

    def again(self, producer: str, number: int) -> None:
        """Count a repeated message; warn once about low numbers, as a restarted sender has."""
        self.repeated += 1
        if number <= 1 and producer not in self._warned:
            self._warned.add(producer)
            self.say(
                f"{producer}: number {number} came again, and is taken for what was learnt before;"
                " a sender that restarts its numbers needs another name"
            )

    def waiting(self, error: LLRError, _seconds: float) -> None:
        """Report, once per outage, that the service or the source is away."""
        if not self.away:
            self.away = True
            long = "" if math.isinf(self.patience) else f" for {self.patience:.0f} s"
            self.say(f"{error}; trying again{long}")

    def say(self, line: str) -> None:
        """Print a line on stderr."""
        self._live.console.print(line, highlight=False, soft_wrap=True, markup=False)

    @property
    def rate(self) -> float:
        """Samples a second."""
        return self.learnt / max(time.monotonic() - self._began, 1e-3)

    def hint(self) -> str:
        """A hint to append to the reason of an early end."""
        return f"; {self._told()}, the same command goes on there" if self.running else ""

    def report(self, as_json: bool) -> None:
        """Print the final line."""
        if as_json:
            shown = {"source": self.name} | {name: getattr(self, name) for name in COUNTERS}
            Console().print_json(json.dumps(shown))
        else:
            line = f"{self.name}: {self._told()}, {self.rate:,.0f}/s"
            Console().print(line, highlight=False, soft_wrap=True, markup=False)

    def _told(self) -> str:
        parts = [f"{self.learnt:,} samples learnt"]
        parts += [f"{self.repeated:,} came again"] if self.repeated else []
        parts += [f"{self.left_out:,} left out"] if self.left_out else []
        parts += [f"{self.missing:,} missing"] if self.missing else []
        return ", ".join(parts)


class Collector:
    """Reads a connector's counters for Prometheus at each scrape."""

    def __init__(self, status: Status) -> None:
        self._status = status

    def collect(self) -> "Iterator[Metric]":
        """The metrics; the lag is there if the source knows it."""
        from prometheus_client.core import (  # noqa: PLC0415 - slow to import, and optional
            CounterMetricFamily,
            GaugeMetricFamily,
        )

        for name, help_text in COUNTERS.items():
            yield CounterMetricFamily(
                f"llr_connect_{name}", help_text, value=getattr(self._status, name)
            )
        away = GaugeMetricFamily("llr_connect_away", "1 while a peer is retried.")
        away.add_metric([], float(self._status.away))
        yield away
        if (lag := self._status.lag()) is not None:
            yield GaugeMetricFamily(
                "llr_connect_lag", "Messages that wait at the source.", value=lag
            )


def serve_metrics(status: Status, address: str) -> int:
    """Serve Prometheus metrics at `HOST:PORT` in a thread; returns the port."""
    from prometheus_client import CollectorRegistry, start_http_server  # noqa: PLC0415 - likewise

    host, colon, port = address.rpartition(":")
    registry = CollectorRegistry()
    registry.register(Collector(status))
    try:
        server, _ = start_http_server(int(port), host if colon else "127.0.0.1", registry)
    except (OSError, ValueError, OverflowError) as error:
        raise BadData(f"--metrics {address}: {error}") from None
    return int(server.server_port)
