"""One experiment, fed to a running service: flat out or in real time, and at most once.

The samples are numbered under a producer that names the stream and its seed, so feeding again goes
on where it stopped, or does nothing. A session that diverges is a result: it is fed in ever smaller
batches up to the last sample that leaves it finite.
"""

import threading
import time
from collections.abc import Callable
from typing import NamedTuple

from llr_client import Answer, Client, Diverged, LLRError, Session, SessionExists, State

from llr.streams import Stream
from llr_cli.replay.experiments import Experiment, samples, shown

BLOCK = 500
"""Samples of a batch where no rate is asked for."""
TICK = 0.1
"""Seconds between batches where one is."""


class Position(NamedTuple):
    """Where a session is while it is fed.

    Attributes:
        t: samples learnt.
        shown: what the paper shows of θ.
        eta: the step size; None for an algorithm without one.
        regret: against the running maximum likelihood.
    """

    t: int
    shown: float
    eta: float | None
    regret: float | None


class NotOurs(LLRError):
    """The session's name is taken by something else than this experiment."""


class Stopped(Exception):
    """Somebody asked to stop."""


class Pace:
    """How fast samples go out, and whether they still should.

    Args:
        rate: samples a second; None for flat out.
    """

    def __init__(self, rate: float | None = None) -> None:
        self.block = BLOCK if rate is None else max(1, round(rate * TICK))
        self._rate, self._stop = rate, threading.Event()

    def stop(self) -> None:
        """Let everybody who is feeding stop before the next batch, or the next try."""
        self._stop.set()

    def pause(self, seconds: float) -> None:
        """Wait, unless it is time to stop."""
        if self._stop.wait(seconds):
            raise Stopped

    def ahead(self, elapsed: float, sent: int) -> float:
        """Seconds by which the samples are ahead of their time.

        >>> Pace(rate=100.0).ahead(elapsed=1.5, sent=200), Pace().ahead(elapsed=0.0, sent=200)
        (0.5, 0.0)
        """
        return 0.0 if self._rate is None else max(0.0, sent / self._rate - elapsed)


def feed(
    client: Client, experiment: Experiment, pace: Pace, moved: Callable[[Position], None]
) -> State:
    """Feed what is missing of an experiment; the session as it is then."""
    session = opened(client, experiment)
    stream = experiment.source()
    columns = samples(experiment.stream, experiment.seed, experiment.samples)
    at = first = place(session, experiment)
    size, started = pace.block, time.monotonic()
    while at < experiment.samples:
        pace.pause(pace.ahead(time.monotonic() - started, at - first))
        batch = [column[at : at + size] for column in columns]
        try:
            answer = session.learn_many(*batch)
        except Diverged:
            if size == 1:
                break
            size = max(1, len(batch[0]) // 2)
            continue
        at += len(batch[0])
        moved(position(stream, answer))
    return session.state()


def opened(client: Client, experiment: Experiment) -> Session:
    """The experiment's session, made if it is not there."""
    try:
        return client.session(experiment.name, producer=experiment.producer, **experiment.config)
    except SessionExists as taken:
        raise NotOurs(
            f"{experiment.name} is there with another config, {taken.extra.get('config')}:"
            " delete it, or start all over with --fresh"
        ) from None


def place(session: Session, experiment: Experiment) -> int:
    """How many samples of the experiment its session has; nobody else may have sent any."""
    ours, all_of_it = session.acked(), session.state().t
    if ours != all_of_it:
        raise NotOurs(
            f"{experiment.name} has learnt {all_of_it - ours} samples that are not from"
            f" {experiment.producer}: delete it, or start all over with --fresh"
        )
    return ours


def position(stream: Stream, state: Answer | State) -> Position:
    """What there is to show of a session."""
    return Position(state.t, float(shown(stream, state.theta)), state.eta, state.regret.ml)
