"""What the figures are drawn from: the past of sessions, as the history route tells it."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
from llr_client import Client, Session

from llr.types import Counts, Vector
from llr_cli.replay.experiments import Experiment, shown

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
        low: the least of `shown` since the point before; empty where it is not known, as of θᵀM.
        high: the largest.
        diverged: whether it stopped there because the next step would not be finite.
    """

    experiment: Experiment
    t: Counts
    shown: Vector
    log_eta: Vector
    regret: Vector
    diverged: bool = False
    low: Vector = field(default_factory=lambda: np.empty(0))
    high: Vector = field(default_factory=lambda: np.empty(0))


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
        found = self.of(stream, algorithm)
        furthest = max((run.t[-1] for run in found), default=0)
        finished = [run for run in found if run.t[-1] == furthest and not run.diverged]
        return min(finished, key=lambda run: float(run.regret[-1]), default=None)

    def unfinished(self) -> int:
        """How many runs have fewer samples than others of their stream, and did not diverge."""
        furthest: dict[str, int] = {}
        for run in self:
            stream = run.experiment.stream
            furthest[stream] = max(furthest.get(stream, 0), int(run.t[-1]))
        return sum(run.t[-1] < furthest[run.experiment.stream] and not run.diverged for run in self)


def fetch(client: Client, experiment: Experiment) -> Run:
    """A session's past, with every coordinate of θ that the paper's entry of θᵀM is made of."""
    return read(client.session(experiment.name), experiment)


def read(session: Session, experiment: Experiment) -> Run:
    """A run from its session."""
    stream = experiment.source()
    past = session.history(points=POINTS, theta=range(stream.dim))
    sides = (past.theta_low, past.theta_high)
    return Run(
        experiment,
        np.array(past.t, dtype=np.int64),
        np.asarray(shown(stream, past.theta)),
        np.array([x for x in past.log_eta if x is not None]),
        np.array(past.regret if past.regret is not None else np.full(len(past.t), np.nan)),
        past.t[-1] < experiment.samples and session.state().status == "diverged",
        *(np.empty(0) if stream.dim > 1 else np.array(side)[:, 0] for side in sides),
    )
