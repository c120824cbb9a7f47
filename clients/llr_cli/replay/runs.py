"""Runs of the paper's experiments: the past of sessions and of learners, and the running ML."""

import math
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from llr_client import Client, Session

from llr import History, Learner, Outcome
from llr.models.linear import RIDGE
from llr.streams import STREAMS, Samples, Stream
from llr.types import Counts, Vector
from llr_cli.replay.experiments import (
    AUTO,
    BETWEEN,
    DECADES,
    FIXED,
    LEARNT,
    MODELS,
    SAMPLES,
    STEEP,
    Experiment,
    samples,
    shown,
)

BEYOND = np.finfo(np.float64).max
"""What a regret beyond float64 is held at."""
POINTS = 1000
"""The most the history route gives; the service keeps about half as many."""


@dataclass(frozen=True)
class Run:
    """One experiment's past, as columns over t.

    Attributes:
        experiment: what was fed.
        t: samples learnt at each point, from 0 to the present.
        shown: what the paper shows of θ: θ itself, or the first entry of θᵀM.
        log_eta: log η; empty where the algorithm has no step size.
        regret: cumulated loss beyond that of the running maximum likelihood.
        low: the least of `shown` since the point before; empty where it is not known, as of θᵀM in
            a session.
        high: the largest.
        log_eta_low: the least log η since the point before; empty where there is none.
        log_eta_high: the largest.
        diverged: whether it stopped there because the next step would not be finite.
        bands: lower and upper quartiles over the seeds, by column; empty for one seed.
        seeds: the seeds that it is a median of.
    """

    experiment: Experiment
    t: Counts
    shown: Vector
    log_eta: Vector
    regret: Vector
    diverged: bool = False
    low: Vector = field(default_factory=lambda: np.empty(0))
    high: Vector = field(default_factory=lambda: np.empty(0))
    log_eta_low: Vector = field(default_factory=lambda: np.empty(0))
    log_eta_high: Vector = field(default_factory=lambda: np.empty(0))
    bands: dict[str, tuple[Vector, Vector]] = field(default_factory=dict)
    seeds: tuple[int, ...] = ()

    @property
    def last(self) -> float:
        """What is shown at the end; infinite if it diverged, or is beyond float64."""
        gone = self.diverged or not math.isfinite(self.shown[-1])
        return math.inf if gone else float(self.shown[-1])

    @property
    def gap(self) -> float:
        """Distance from the maximum likelihood at the end; infinite if the end is."""
        return abs(self.last - final_ml(self.experiment))

    @property
    def end(self) -> float:
        """The regret at the end; infinite if it diverged, or is beyond float64 (R16)."""
        return math.inf if self.diverged or self.regret[-1] >= BEYOND else float(self.regret[-1])

    @property
    def rise(self) -> float:
        """How much regret the second half added; infinite if the end is."""
        return self.end if math.isinf(self.end) else self.end - self.at_half(self.regret)

    def at_half(self, values: Vector) -> float:
        """A column's value at half of the samples."""
        return float(values[np.searchsorted(self.t, int(self.t[-1]) // 2)])


class Runs:
    """The runs there are, to be asked by stream, algorithm and first step size."""

    def __init__(self, runs: Iterable[Run]) -> None:
        self._runs = list(runs)

    def __iter__(self) -> Iterator[Run]:
        return iter(self._runs)

    def __len__(self) -> int:
        return len(self._runs)

    def of(
        self, stream: str, algorithm: str, where: Callable[[Experiment], bool] = lambda _: True
    ) -> list[Run]:
        """Runs of an algorithm on a stream, the smallest first step size first."""
        found = [
            run
            for run in self._runs
            if (run.experiment.stream, run.experiment.algorithm) == (stream, algorithm)
            and where(run.experiment)
        ]
        return sorted(found, key=lambda run: run.experiment.eta0 or 0.0)

    def best(self, stream: str, algorithm: str) -> Run | None:
        """The run with the least regret among those that came furthest: tuned by hand."""
        found = [run for run in self.of(stream, algorithm) if not run.diverged]
        furthest = max((run.t[-1] for run in found), default=0)
        finished = [run for run in found if run.t[-1] == furthest]
        return min(finished, key=lambda run: float(run.regret[-1]), default=None)

    def medians(self) -> "Runs":
        """One run for each stream, algorithm and first step size: the median over the seeds."""
        groups: dict[tuple[str, str, float | None], list[Run]] = {}
        for run in self:
            of = run.experiment
            groups.setdefault((of.stream, of.algorithm, of.eta0), []).append(run)
        return Runs(median(group) for group in groups.values())

    def unfinished(self) -> int:
        """How many runs have fewer samples than others of their stream, and did not diverge."""
        furthest: dict[str, int] = {}
        found = [run for run in self if not run.diverged]
        for run in found:
            stream = run.experiment.stream
            furthest[stream] = max(furthest.get(stream, 0), int(run.t[-1]))
        return sum(run.t[-1] < furthest[run.experiment.stream] for run in found)


FAR = 1e300
"""Stands for what a diverged run would be, in medians."""


def median(group: list[Run]) -> Run:
    """The median of runs that differ by their seeds, with quartiles; one run is its own.

    The ranges go from the lower quartile of the minima to the upper one of the maxima. Where most
    runs diverged, it ends where the middle one did.
    """
    if len(group) == 1:
        return replace(group[0], seeds=(group[0].experiment.seed,))
    diverged = sum(run.diverged for run in group) * 2 > len(group)
    t = max((run.t for run in group), key=len)
    if diverged:
        t = t[t <= np.percentile([run.t[-1] for run in group], 50, method="nearest")]
    columns, bands = {}, {}
    for name in ("shown", "log_eta", "regret"):
        values = [_on(run, name, t) for run in group if len(getattr(run, name))]
        if not values:
            continue
        low, columns[name], high = np.percentile(values, [25, 50, 75], axis=0, method="nearest")
        bands[name] = low, high
    low, high = _range(group, "shown", "low", "high", t)
    stepping = [run for run in group if len(run.log_eta)]
    log_eta_low, log_eta_high = _range(stepping, "log_eta", "log_eta_low", "log_eta_high", t)
    return Run(
        group[0].experiment,
        t,
        columns["shown"],
        columns.get("log_eta", np.empty(0)),
        columns["regret"],
        diverged,
        low,
        high,
        log_eta_low,
        log_eta_high,
        bands,
        tuple(run.experiment.seed for run in group),
    )


def _range(group: list[Run], values: str, low: str, high: str, t: Counts) -> tuple[Vector, Vector]:
    """The lower quartile of the minima between points, and the upper one of the maxima."""
    if not group:
        return np.empty(0), np.empty(0)
    lows = [_on(run, low if len(getattr(run, low)) else values, t) for run in group]
    highs = [_on(run, high if len(getattr(run, high)) else values, t) for run in group]
    return (
        np.percentile(lows, 25, axis=0, method="nearest"),
        np.percentile(highs, 75, axis=0, method="nearest"),
    )


def _on(run: Run, name: str, t: Counts) -> Vector:
    """A column at these t; after its end a diverged run is beyond every axis."""
    values = np.clip(np.nan_to_num(getattr(run, name), nan=FAR), -FAR, FAR)
    last = float(values[-1])
    if run.diverged and not name.startswith("log_eta"):
        last = -FAR if last < 0.0 and name != "high" else FAR
    return np.asarray(np.interp(t, run.t, values, right=last))


def fetch(client: Client, experiment: Experiment) -> Run:
    """A session's past, with every coordinate of θ that the paper's entry of θᵀM is made of."""
    return read(client.session(experiment.name), experiment)


def read(session: Session, experiment: Experiment) -> Run:
    """A run from its session."""
    stream = experiment.source()
    past = session.history(points=POINTS, theta=range(stream.dim))
    sides = (past.theta_low, past.theta_high)
    low, high = (np.empty(0) if stream.dim > 1 else np.array(side)[:, 0] for side in sides)
    return Run(
        experiment,
        np.array(past.t, dtype=np.int64),
        np.asarray(shown(stream, past.theta)),
        np.array([x for x in past.log_eta if x is not None]),
        np.array(past.regret if past.regret is not None else np.full(len(past.t), np.nan)),
        past.t[-1] < experiment.samples and session.state().status == "diverged",
        low,
        high,
        np.array([x for x in past.log_eta_low if x is not None]),
        np.array([x for x in past.log_eta_high if x is not None]),
    )


def running_ml(stream: str, seed: int, t: Counts) -> Vector:
    """What the paper shows of the maximum likelihood's θ, at each t; t rises."""
    source = STREAMS[stream](seed)
    theta = ESTIMATES[source.model](source, t)
    return np.asarray(shown(source, theta))


@lru_cache(maxsize=16)
def median_ml(stream: str, seeds: tuple[int, ...], longest: int) -> tuple[Counts, Vector]:
    """The running maximum likelihood at up to 500 times, and its median over the seeds."""
    times = np.unique(np.linspace(0, longest, 500).astype(np.int64))
    return times, np.median([running_ml(stream, seed, times) for seed in seeds], axis=0)


def mean(stream: Stream, t: Counts) -> Vector:
    """The mean of the past; θ_0 before any."""
    (y,) = stream.take(int(t[-1]))
    sums = np.concatenate(([0.0], np.cumsum(y)))[t]
    return np.where(t > 0, sums / np.maximum(t, 1), stream.theta0)[:, None]


def log_odds(stream: Stream, t: Counts) -> Vector:
    """The logit of (ones + ½)/(t + 1): never infinite."""
    (y,) = stream.take(int(t[-1]))
    ones = np.concatenate(([0.0], np.cumsum(y)))[t]
    return np.log((ones + 0.5) / (t - ones + 0.5))[:, None]


def least_squares(stream: Stream, t: Counts) -> Vector:
    """Least squares with a ridge that pulls to θ_0."""
    A, b = RIDGE * np.eye(stream.dim), np.full(stream.dim, RIDGE * stream.theta0)
    theta, at = np.empty((t.size, stream.dim)), 0
    for row, upto in enumerate(t):
        X, y = stream.take(int(upto) - at)
        A, b, at = A + X.T @ X, b + X.T @ y, int(upto)
        theta[row] = np.linalg.solve(A, b)
    return theta


ESTIMATES: dict[str, Callable[[Stream, Counts], Vector]] = {
    "gaussian": mean,
    "bernoulli": log_odds,
    "linear": least_squares,
}


AT_ONCE = 2
STEEPER = "quadratic"
STABILITY = tuple(float(f"3e{k}") for k in range(-10, -4))
"""Fixed step sizes of the quadratic, below and above 2/α; none makes a step of 0."""
PLAIN = ("sg/sg", "svrg/sg")
"""What the paper's figures are labelled with, though they show the /ag ones (R9)."""


@dataclass(frozen=True, kw_only=True)
class Course(Run):
    """A run that was learnt in this process, which knows every sample.

    Attributes:
        largest: of |θ|, at any sample.
        wobble: mean move of `shown` from sample to sample, over the second half; infinite if the
            run diverged.
        loss: the mean loss of a sample.
    """

    largest: float
    wobble: float
    loss: float


class Ensemble:
    """Courses, to be asked by stream, algorithm and first step size."""

    def __init__(self, courses: Iterable[Course], seeds: int) -> None:
        self.seeds = seeds
        self.courses = [*courses]
        self._courses: dict[tuple[str, str, float | None], list[Course]] = {}
        for course in self.courses:
            of = course.experiment
            self._courses.setdefault((of.stream, of.algorithm, of.eta0), []).append(course)

    def of(self, stream: str, algorithm: str, eta0s: Iterable[float] = DECADES) -> list[Course]:
        """The courses of an algorithm on a stream from these step sizes, seed by seed in each."""
        return [c for eta0 in eta0s for c in self._courses.get((stream, algorithm, eta0), [])]

    def best(self, stream: str, algorithm: str) -> float:
        """The fixed step size with the least median regret over the seeds: tuned by hand."""
        tried = sorted((*DECADES, *BETWEEN))
        return min(tried, key=lambda x: np.median([c.end for c in self.of(stream, algorithm, [x])]))


def plan(seeds: int, figures: bool = False) -> list[Experiment]:
    """Every experiment that the claims need, on each of the first so many seeds.

    The quadratic has no seeds. With `figures`, those that only the figures show as well.
    """
    found = [
        Experiment(stream, algorithm, eta0, SAMPLES[stream], seed)
        for stream in MODELS
        for seed in range(seeds)
        for algorithm in (*FIXED, *LEARNT, *(PLAIN if figures else ()))
        for eta0 in sorted((*DECADES, *(BETWEEN if algorithm in FIXED else ())))
    ]
    if figures:
        found += [
            Experiment(stream, AUTO, None, SAMPLES[stream], seed)
            for stream in MODELS
            for seed in range(seeds)
        ]
    steep = [(a, STEEP) for a in (*FIXED, *LEARNT)]
    steep += [(a, eta) for a in FIXED for eta in STABILITY]
    return [*found, *(Experiment(STEEPER, a, eta, SAMPLES[STEEPER]) for a, eta in steep)]


def learn(wanted: list[Experiment], seeds: int, advance: Callable[[], object]) -> Ensemble:
    """Learn all of them, two at a time; `advance` is called after each."""
    return Ensemble(_each(wanted, advance), seeds)


def _each(wanted: list[Experiment], advance: Callable[[], object]) -> Iterator[Course]:
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for course in pool.map(course_of, wanted):
            advance()
            yield course


def course_of(experiment: Experiment) -> Course:
    """Learn one experiment from its beginning."""
    stream, columns = experiment.source(), samples(*_key(experiment))
    learner = Learner(
        stream.model,
        stream.dim,
        experiment.algorithm,
        experiment.eta0 or 1.0,
        stream.theta0,
        "exact",
    )
    every = _every_theta(learner, stream, columns)
    outcome = every.outcome
    past, t = every.past, every.past.t
    high = np.fmax(np.abs(past.theta_low), np.abs(past.theta_high))
    with_eta = experiment.eta0 is not None
    none = np.empty(0)
    return Course(
        experiment=experiment,
        t=t,
        shown=np.asarray(shown(stream, past.theta)),
        log_eta=past.log_eta if with_eta else none,
        regret=past.regret if past.regret is not None else none,
        diverged=not outcome,
        low=every.low,
        high=every.high,
        log_eta_low=past.log_eta_low if with_eta else none,
        log_eta_high=past.log_eta_high if with_eta else none,
        largest=float(np.nanmax(high)),
        wobble=_wobble(every.theta) if outcome else math.inf,
        loss=learner.loss.total / max(int(t[-1]), 1),
    )


class _EveryTheta(NamedTuple):
    """What came of a learner that was asked for its θ before every sample.

    Attributes:
        outcome: whether all samples were learnt.
        past: its history, over the samples alone.
        theta: what is shown of θ before each sample.
        low: the least of that between two points of the past, empty if not known.
        high: the largest.
    """

    outcome: Outcome
    past: History
    theta: Vector
    low: Vector
    high: Vector


def _every_theta(learner: Learner, stream: Stream, columns: Samples) -> _EveryTheta:
    """Learn; where θ has several coordinates, a sample of weight 0 asks for θᵀM before each."""
    if stream.mixing is None or not learner.config.of_algorithm.uses_eta0:
        outcome = learner.learn(*columns, predictions=True)
        theta = np.asarray(outcome.predictions).ravel()
        if stream.model == "bernoulli":
            p = np.clip(theta, 1e-16, 1.0 - 1e-16)
            theta = np.log(p / (1.0 - p))
        if stream.dim == 1 and stream.model == "linear":  # the quadratic: x is the same for all
            theta = theta / columns[0][: theta.size, 0]
        past = learner.history
        sides = (past.theta_low, past.theta_high)
        low, high = (np.empty(0) if stream.mixing is not None else side[:, 0] for side in sides)
        return _EveryTheta(outcome, past, theta, low, high)
    X, y = columns
    both = np.repeat(X, 2, axis=0)
    both[::2] = stream.mixing[:, 0]
    weights = np.tile([0.0, 1.0], y.size)
    outcome = learner.learn(both, np.repeat(y, 2), w=weights, predictions=True)
    theta = np.asarray(outcome.predictions).ravel()[::2]
    past = learner.history
    t, first = np.unique(past.t // 2, return_index=True)
    rows = {k: v if k == "names" or v is None else v[first] for k, v in past._asdict().items()}
    past = History(**rows | {"t": t})
    low, high = _between(t, np.append(theta[: t[-1]], shown(stream, past.theta[-1])))
    return _EveryTheta(outcome, past, theta, low, high)


def _between(t: Counts, values: Vector) -> tuple[Vector, Vector]:
    """The least and the largest value from each t to the next, both included; of every sample."""
    parts = [values[a : b + 1] for a, b in pairwise([int(t[0]), *map(int, t)])]
    return np.array([part.min() for part in parts]), np.array([part.max() for part in parts])


def _key(experiment: Experiment) -> tuple[str, int, int]:
    return experiment.stream, experiment.seed, experiment.samples


def _wobble(theta: Vector) -> float:
    """The mean move from sample to sample over the second half; NaN if there are too few."""
    if theta.size < 4:
        return math.nan
    return float(np.abs(np.diff(theta[theta.size // 2 :])).mean())


def final_ml(experiment: Experiment) -> float:
    """What the paper shows of the maximum likelihood of all samples."""
    return _final_ml(*_key(experiment))


@lru_cache(maxsize=256)
def _final_ml(stream: str, seed: int, n: int) -> float:
    source = STREAMS[stream](seed)
    return float(shown(source, _likelihood(source.model, samples(stream, seed, n))))


def _likelihood(model: str, columns: Samples) -> Vector:
    """The maximum likelihood of all samples (R17)."""
    y = columns[-1]
    if model == "gaussian":
        return np.array([y.mean()])
    if model == "bernoulli":
        return np.array([np.log((y.sum() + 0.5) / (len(y) - y.sum() + 0.5))])
    X = columns[0]
    gram = X.T @ X + RIDGE * np.eye(X.shape[1])
    return np.asarray(np.linalg.solve(gram, X.T @ y))
