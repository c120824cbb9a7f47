"""What the service counts and times, for Prometheus.

A `Metrics` belongs to one app and has its own registry. What runs for every request is a
`llr_service.metrics`, so that an observation costs less than a microsecond.
"""

import platform
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import accumulate
from threading import Lock

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector

import llr

Key = tuple[str, str, int]
"""Route, method, and the first digit of a status."""


class Tally:
    """How often something happened, how many it was about, and how long each time took.

    >>> tally = Tally((0.1, 1.0))
    >>> tally.add(0.1), tally.add(0.5, of=20), tally.add(7.0)
    (None, None, None)
    >>> tally.times, tally.of, tally.counts
    (3, 22, [1, 1, 1])
    """

    __slots__ = ("_bounds", "_lock", "counts", "of", "seconds")

    def __init__(self, bounds: Sequence[float]) -> None:
        self._bounds, self._lock = bounds, Lock()
        self.counts = [0] * (len(bounds) + 1)
        self.of, self.seconds = 0, 0.0

    @property
    def times(self) -> int:
        """How often it happened."""
        return sum(self.counts)

    def add(self, seconds: float, of: int = 1) -> None:
        """It happened once more."""
        place = bisect_left(self._bounds, seconds)
        with self._lock:
            self.counts[place] += 1
            self.seconds += seconds
            self.of += of

    def merge(self, other: "Tally") -> None:
        """Count in all that another counted."""
        self.counts = [mine + its for mine, its in zip(self.counts, other.counts, strict=True)]
        self.seconds += other.seconds
        self.of += other.of

    def buckets(self) -> list[tuple[str, float]]:
        """How often it took no longer than each bound, and than forever."""
        names = [*(str(float(bound)) for bound in self._bounds), "+Inf"]
        return list(zip(names, accumulate(self.counts), strict=True))


class Tallies(Collector):
    """The tallies of an app: of its requests by route, method and status, and of its steps."""

    def __init__(self, request_seconds: Sequence[float], step_seconds: Sequence[float]) -> None:
        self._bounds = request_seconds
        self._requests: dict[Key, Tally] = {}
        self.steps = Tally(step_seconds)

    def request(self, key: Key) -> Tally:
        """The tally of such requests."""
        return self._requests.get(key) or self._requests.setdefault(key, Tally(self._bounds))

    def collect(self) -> Iterator[Metric]:
        """All of it as Prometheus has it."""
        yield self._counted()
        yield self._timed()
        yield CounterMetricFamily("llr_samples", "Samples learnt.", self.steps.of)
        about = "Seconds in which the samples of one body or block were learnt."
        yield HistogramMetricFamily(
            "llr_step_seconds", about, self.steps.buckets(), self.steps.seconds
        )

    def _counted(self) -> Metric:
        about = "Requests answered, by route, method and class of status."
        family = CounterMetricFamily("llr_requests", about, labels=("route", "method", "status"))
        for (route, method, hundreds), tally in list(self._requests.items()):
            family.add_metric((route, method, f"{hundreds}xx"), tally.times)
        return family

    def _timed(self) -> Metric:
        about = "Seconds from a request to the end of its answer, by route."
        family = HistogramMetricFamily("llr_request_seconds", about, labels=("route",))
        routes: dict[str, Tally] = {}
        for (route, _, _), tally in list(self._requests.items()):
            routes.setdefault(route, Tally(self._bounds)).merge(tally)
        for route, tally in routes.items():
            family.add_metric((route,), tally.buckets(), tally.seconds)
        return family


METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "WEBSOCKET"})
"""Methods with a series of their own; whatever else a client makes up is `OTHER`."""

UNMATCHED = "unmatched"
"""The route of a request that has none."""

_REQUEST_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 2.5, 10.0)
_STEP_SECONDS = (1e-6, 1e-5, 1e-4, 0.001, 0.01, 0.1, 1.0, 10.0)
_COMMIT_SECONDS = (1e-4, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0, 5.0)
_GROUP_SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)


class Metrics:
    """The counters, gauges and histograms of one app."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        self._tallies = Tallies(_REQUEST_SECONDS, _STEP_SECONDS)
        registry.register(self._tallies)
        self._learning(registry)
        self._committing(registry)
        self._holding(registry)
        Gauge(
            "llr_build_info",
            "The version that runs, as labels; always 1.",
            ("version", "python"),
            registry=registry,
        ).labels(llr.__version__, platform.python_version()).set(1)

    def _learning(self, registry: CollectorRegistry) -> None:
        self._duplicates = Counter(
            "llr_duplicates", "Samples sent again and not learnt again.", registry=registry
        )
        self._divergences = Counter(
            "llr_divergences", "Steps refused for leaving the finite numbers.", registry=registry
        )
        self._drifts = Counter(
            "llr_drifts", "Drift alarms: the loss of a session rose.", registry=registry
        )
        self._messages = Counter(
            "llr_messages",
            "Messages of WebSockets answered, by class of status.",
            ("status",),
            registry=registry,
        )

        self._kept = Counter("llr_kept", "Rows kept for a late label.", registry=registry)
        self._labels = Counter("llr_labels", "Late labels learnt.", registry=registry)
        self._expired = Counter(
            "llr_expired", "Rows whose label did not arrive in time.", registry=registry
        )

    def _committing(self, registry: CollectorRegistry) -> None:
        self._commit_seconds = Histogram(
            "llr_commit_seconds",
            "Seconds in which a group of changes became durable.",
            buckets=_COMMIT_SECONDS,
            registry=registry,
        )
        self._commit_group = Histogram(
            "llr_commit_group_size",
            "Changes made durable together.",
            buckets=_GROUP_SIZES,
            registry=registry,
        )
        self._conflicts = Counter(
            "llr_conflicts",
            "Changes refused because another replica changed the session first.",
            registry=registry,
        )
        self._store_errors = Counter(
            "llr_store_errors",
            "Groups of changes and questions at which the store failed.",
            registry=registry,
        )

    def _holding(self, registry: CollectorRegistry) -> None:
        self._sessions = self._bytes = 0
        Gauge("llr_sessions_loaded", "Sessions in memory.", registry=registry).set_function(
            lambda: self._sessions
        )
        Gauge(
            "llr_sessions_loaded_bytes", "Bytes the sessions in memory take.", registry=registry
        ).set_function(lambda: self._bytes)
        self._stored_sessions = Gauge(
            "llr_sessions", "Sessions in the store, counted once a minute.", registry=registry
        )
        self._stored_bytes = Gauge(
            "llr_store_bytes",
            "Bytes of the store, its log included, measured once a minute; 0 for memory:.",
            registry=registry,
        )
        self._evictions = Counter(
            "llr_evictions", "Idle sessions that had to leave memory.", registry=registry
        )
        self._streams = Gauge(
            "llr_streams_open", "Event streams and WebSockets that are open.", registry=registry
        )

    def request(self, route: str, method: str, status: int, seconds: float) -> None:
        """A request was answered. `route` is a template such as `/v1/sessions/{name}`."""
        key = route, method if method in METHODS else "OTHER", status // 100
        self._tallies.request(key).add(seconds)

    def message(self, status: int) -> None:
        """A message of a WebSocket was answered, with the status a request would have got."""
        self._messages.labels(f"{status // 100}xx").inc()

    def learnt(self, n: int, seconds: float) -> None:
        """n samples were learnt in one go."""
        self._tallies.steps.add(seconds, n)

    def duplicate(self, n: int) -> None:
        """n samples came again."""
        self._duplicates.inc(n)

    def drifted(self, n: int) -> None:
        """n drift alarms were raised."""
        self._drifts.inc(n)

    def diverged(self) -> None:
        """A step was refused."""
        self._divergences.inc()

    def kept(self, n: int) -> None:
        """n rows were kept for their labels."""
        self._kept.inc(n)

    def labelled(self, n: int) -> None:
        """n late labels were learnt."""
        self._labels.inc(n)

    def expired(self, n: int) -> None:
        """n rows waited in vain."""
        self._expired.inc(n)

    def committed(self, group: int, seconds: float) -> None:
        """A group of changes became durable."""
        self._commit_group.observe(group)
        self._commit_seconds.observe(seconds)

    def refused(self, n: int) -> None:
        """n changes came too late."""
        if n:
            self._conflicts.inc(n)

    def store_failed(self) -> None:
        """The store failed at a group of changes, or at a question."""
        self._store_errors.inc()

    def loaded(self, sessions: int, size: int) -> None:
        """So many sessions of so many bytes in all are in memory now."""
        self._sessions, self._bytes = sessions, size

    def stored(self, sessions: int, size: int) -> None:
        """So many sessions are in the store, and it has so many bytes."""
        self._stored_sessions.set(sessions)
        self._stored_bytes.set(size)

    def evicted(self, n: int = 1) -> None:
        """n idle sessions left memory."""
        self._evictions.inc(n)

    def stream_opened(self) -> None:
        """An event stream or a WebSocket was opened."""
        self._streams.inc()

    def stream_closed(self) -> None:
        """An event stream or a WebSocket was closed."""
        self._streams.dec()

    def render(self) -> tuple[bytes, str]:
        """All of it as Prometheus reads it, with its content type."""
        return generate_latest(self.registry), CONTENT_TYPE_LATEST
