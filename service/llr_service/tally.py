"""What is counted at every request, as plain numbers: Prometheus is told of them when it asks.

prometheus_client's own histogram takes microseconds to observe one value, under several locks. Here
it is one search, one lock, and the sums are made by the few who read them.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import accumulate
from threading import Lock

from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

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
