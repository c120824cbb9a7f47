"""The paper's experiments on many seeds, learnt in this process: what its claims are judged by.

One seed goes through a service; twenty of them are the library's business, by the same code.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from llr import Learner
from llr.models.least_squares import RIDGE
from llr.streams import Samples
from llr.types import Counts, Vector
from llr_cli.replay.experiments import (
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

AT_ONCE = 2
STEEPER = "quadratic"
PLAIN = "sg/sg"
"""What the paper's figures are labelled with, though they show sg/ag (R9)."""


@dataclass(frozen=True)
class Course:
    """How one experiment went.

    Attributes:
        experiment: what was learnt.
        t: samples learnt at each point of the past.
        shown: what the paper shows of θ there.
        log_eta: log η there.
        regret: cumulated loss beyond that of the running maximum likelihood, there.
        ml: what the paper shows of the maximum likelihood, after all samples.
        largest: of |θ|, at any sample.
        wobble: mean |θ_{t+1} − θ_t| over the second half, sample by sample; NaN in 50 dimensions.
        diverged: whether a step would have left the finite numbers.
    """

    experiment: Experiment
    t: Counts
    shown: Vector
    log_eta: Vector
    regret: Vector
    ml: float
    largest: float
    wobble: float
    diverged: bool

    @property
    def gap(self) -> float:
        """How far from the maximum likelihood it ended; infinite if it diverged."""
        return math.inf if self.diverged else abs(float(self.shown[-1]) - self.ml)

    @property
    def end(self) -> float:
        """The regret at the end; infinite if it diverged."""
        return math.inf if self.diverged else float(self.regret[-1])

    def at_half(self, values: Vector) -> float:
        """A column's value at half of the samples."""
        return float(values[np.searchsorted(self.t, self.experiment.samples // 2)])


class Ensemble:
    """Courses, to be asked by stream, algorithm and first step size."""

    def __init__(self, courses: Iterable[Course], seeds: int) -> None:
        self.seeds = seeds
        self._courses: dict[tuple[str, str, float | None], list[Course]] = {}
        for course in courses:
            of = course.experiment
            self._courses.setdefault((of.stream, of.algorithm, of.eta0), []).append(course)

    def of(self, stream: str, algorithm: str, eta0s: Iterable[float] = DECADES) -> list[Course]:
        """The courses of an algorithm on a stream from these step sizes, seed by seed in each."""
        return [c for eta0 in eta0s for c in self._courses.get((stream, algorithm, eta0), [])]

    def best(self, stream: str, algorithm: str) -> float:
        """The fixed step size with the least median regret over the seeds: tuned by hand."""
        tried = sorted((*DECADES, *BETWEEN))
        return min(tried, key=lambda x: np.median([c.end for c in self.of(stream, algorithm, [x])]))


def plan(seeds: int) -> list[Experiment]:
    """Every experiment on each of the first so many seeds; the quadratic has none."""
    found = [
        Experiment(stream, algorithm, eta0, SAMPLES[stream], seed)
        for stream in MODELS
        for seed in range(seeds)
        for algorithm in (*FIXED, *LEARNT, PLAIN)
        for eta0 in sorted((*DECADES, *(BETWEEN if algorithm in FIXED else ())))
    ]
    return [
        *found,
        *(Experiment(STEEPER, a, STEEP, SAMPLES[STEEPER]) for a in (*FIXED, *LEARNT)),
    ]


def learn(
    seeds: int, advance: Callable[[], object] = lambda: None, length: int | None = None
) -> Ensemble:
    """Learn all of them, two at a time; `advance` is called after each."""
    wanted = [e.of_length(length) if length else e for e in plan(seeds)]
    return Ensemble(_each(wanted, advance), seeds)


def _each(wanted: list[Experiment], advance: Callable[[], object]) -> Iterator[Course]:
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for course in pool.map(course_of, wanted):
            advance()
            yield course


def course_of(experiment: Experiment) -> Course:
    """Learn one experiment from its beginning."""
    stream, columns = experiment.source(), samples(*_key(experiment))
    first, second = columns if len(columns) == 2 else (columns[0], None)
    learner = Learner(
        stream.model,
        stream.dim,
        experiment.algorithm,
        experiment.eta0 or 1.0,
        stream.theta0,
        "exact",
    )
    outcome = learner.learn(first, second, predictions=True)
    past = learner.history
    high = np.fmax(np.abs(past.theta_low), np.abs(past.theta_high))
    return Course(
        experiment,
        past.t,
        np.asarray(shown(stream, past.theta)),
        past.log_eta,
        past.regret if past.regret is not None else np.empty(0),
        float(shown(stream, _likelihood(stream.model, columns))),
        float(np.nanmax(high)),
        _wobble(stream.model, outcome.predictions),
        not outcome,
    )


def _key(experiment: Experiment) -> tuple[str, int, int]:
    return experiment.stream, experiment.seed, experiment.samples


def _wobble(model: str, predictions: Vector | None) -> float:
    """The mean move of θ over the second half, from what was predicted before each sample."""
    if model == "linear" or predictions is None or len(predictions) < 4:
        return math.nan
    theta = predictions
    if model == "bernoulli":
        p = np.clip(predictions, 1e-16, 1.0 - 1e-16)
        theta = np.log(p / (1.0 - p))
    return float(np.abs(np.diff(theta[len(theta) // 2 :])).mean())


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
