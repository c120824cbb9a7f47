"""Feeds experiments to a running service, several at a time, with one progress bar per stream."""

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import NamedTuple

from llr_client import Answer, Client, Diverged, LLRError, Session, SessionExists, State
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TaskProgressColumn, TextColumn
from rich.table import Column

from llr.streams import Stream
from llr_cli.replay.experiments import Experiment, digits, samples, shown
from llr_cli.replay.results import Result, figure

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
    """A stop was requested."""


class Throttle:
    """How fast samples go out, and whether they still should.

    Args:
        rate: samples a second; None for flat out.
    """

    def __init__(self, rate: float | None = None) -> None:
        self.block = BLOCK if rate is None else max(1, round(rate * TICK))
        self._rate, self._stop = rate, threading.Event()

    def stop(self) -> None:
        """Stop all feeders before the next batch, or the next try."""
        self._stop.set()

    def pause(self, seconds: float) -> None:
        """Wait, unless it is time to stop."""
        if self._stop.wait(seconds):
            raise Stopped

    def ahead(self, elapsed: float, sent: int) -> float:
        """Seconds by which the samples are ahead of their time.

        >>> Throttle(rate=100.0).ahead(elapsed=1.5, sent=200)
        0.5
        """
        return 0.0 if self._rate is None else max(0.0, sent / self._rate - elapsed)


def feed(
    client: Client, experiment: Experiment, throttle: Throttle, moved: Callable[[Position], None]
) -> State:
    """Feed what is missing of an experiment; the session as it is then."""
    session = opened(client, experiment)
    stream = experiment.source()
    columns = samples(experiment.stream, experiment.seed, experiment.samples)
    at = first = place(session, experiment)
    size, started = throttle.block, time.monotonic()
    while at < experiment.samples:
        throttle.pause(throttle.ahead(time.monotonic() - started, at - first))
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


def bars(console: Console) -> Progress:
    """Progress bars, one a stream, with θ, η and regret as they move; silent without a terminal."""
    return Progress(
        TextColumn("{task.description:<10}"),
        BarColumn(bar_width=12, table_column=Column(min_width=8)),
        TaskProgressColumn(table_column=Column(min_width=4, no_wrap=True)),
        TextColumn("{task.fields[now]}", style="dim", table_column=Column(no_wrap=True)),
        console=console,
        disable=not console.is_interactive,
    )


class ReplayRunner:
    """Experiments under way.

    Args:
        client: where the service is.
        throttle: how fast each is fed.
        progress: the bars.
        at_once: how many are fed at a time.
    """

    def __init__(
        self, client: Client, throttle: Throttle, progress: Progress, at_once: int = 2
    ) -> None:
        self._client, self._throttle = client, throttle
        self._progress, self._at_once = progress, at_once
        self._bars: dict[str, TaskID] = {}

    def run(self, experiments: Sequence[Experiment]) -> list[Result]:
        """Feed all of them; the first error, or Ctrl-C, stops the others and is raised."""
        for experiment in experiments:
            if experiment.stream not in self._bars:
                total = sum(e.samples for e in experiments if e.stream == experiment.stream)
                bar = self._progress.add_task(experiment.stream, total=total, now="")
                self._bars[experiment.stream] = bar
        pool = ThreadPoolExecutor(self._at_once)
        try:
            under_way = [pool.submit(self._feed, experiment) for experiment in experiments]
            for ended in wait(under_way, return_when=FIRST_EXCEPTION).done:
                ended.result()
            return [ended.result() for ended in under_way]
        finally:
            self._throttle.stop()
            pool.shutdown(cancel_futures=True)

    def _feed(self, experiment: Experiment) -> Result:
        bar, fed = self._bars[experiment.stream], 0

        def moved(position: Position) -> None:
            nonlocal fed
            text = describe(experiment, position)
            self._progress.update(bar, advance=position.t - fed, now=text)
            fed = position.t

        state = feed(self._client, experiment, self._throttle, moved)
        self._progress.update(bar, advance=experiment.samples - fed)
        return Result(experiment, state)


def describe(experiment: Experiment, position: Position) -> str:
    """An experiment and where it is, in a line."""
    start = "" if experiment.eta0 is None else f" {digits(experiment.eta0)}"
    now = f"θ {figure(position.shown)} η {figure(position.eta)} regret {figure(position.regret)}"
    return f"{experiment.algorithm}{start}: {now}"
