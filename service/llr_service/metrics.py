"""What the service counts and times, for Prometheus.

A `Metrics` belongs to one app and has its own registry. What runs for every request is a
`llr_service.tally`, so that an observation costs less than a microsecond.
"""

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from llr_service.tally import Tallies

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

    def _learning(self, registry: CollectorRegistry) -> None:
        self._duplicates = Counter(
            "llr_duplicates", "Samples sent again and not learnt again.", registry=registry
        )
        self._divergences = Counter(
            "llr_divergences", "Steps refused for leaving the finite numbers.", registry=registry
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
            "llr_expired", "Rows whose label did not come in time.", registry=registry
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
