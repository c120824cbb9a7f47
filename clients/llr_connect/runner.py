"""Runs a connector: start, signals, errors and the final report."""

import asyncio
import signal
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from llr_cli.options import open_client
from llr_client import AsyncClient, Client

from llr_connect.channels import Channels
from llr_connect.options import Options
from llr_connect.pump import DEFAULT_BATCH, Pump
from llr_connect.source import Source
from llr_connect.status import Status, serve_metrics

R = TypeVar("R")
GRACE_SECONDS, CANCEL_INTERVAL = 5.0, 0.1
"""Seconds that a batch may take after a stop signal; the interval between cancellations."""


def run(make: Callable[[], Source], options: Options) -> None:
    """Run a connector until its source ends or a signal stops it."""
    status = Status(options.session, options.seconds)
    with open_client(options.url, options.key, hint=status.hint) as client:
        source = make()
        client.version()  # a wrong address fails at once; only a known service is waited for
        features = takes_features(client)
        if options.metrics is not None:
            serve_metrics(status, options.metrics)
        with status:
            interrupted = asyncio.run(_run(source, options, status, features))
        if interrupted:
            raise KeyboardInterrupt
    status.report(options.as_json)


def takes_features(client: Client) -> Callable[[str], bool]:
    """Read from the service's catalog whether a model takes features."""
    known = {entry["name"]: entry for entry in client.catalog()["models"]}
    return lambda model: bool(known.get(model, {}).get("features", True))


async def _run(
    source: Source, options: Options, status: Status, features: Callable[[str], bool]
) -> bool:
    """Run until the end; returns whether Ctrl-C ended it."""
    stop = StopSignal()
    async with AsyncClient(
        options.url, options.key, patience=options.seconds, on_retry=status.waiting
    ) as client:
        try:
            channels = Channels(
                client, options.session, options.config, features, source.journal, source.sparse
            )
            pump = Pump(source, channels, status, options.bad, options.missing)
            await stop.unless_stopped(source.start(channels, status))
            if not stop.stopping:
                _started(source, status)
                await _pump_all(source, pump, options, status, stop)
        finally:
            await source.close()
            if source.journal is not None:
                source.journal.close()
    return stop.interrupted


async def _pump_all(
    source: Source, pump: Pump, options: Options, status: Status, stop: "StopSignal"
) -> None:
    """Pump batches until the source ends or `count` samples are learnt."""
    batch = options.batch or source.batch or DEFAULT_BATCH
    while left := batch if options.count is None else options.count - status.learnt:
        messages = await stop.unless_stopped(source.take(min(batch, left)))
        if not messages:
            return
        await stop.finish(pump.batch(messages))


def _started(source: Source, status: Status) -> None:
    status.running, status.lag = True, source.lag
    if source.notice:
        status.say(source.notice)


class StopSignal:
    """Handles SIGTERM and Ctrl-C; a second signal cancels everything at once.

    Attributes:
        interrupted: whether the signal was Ctrl-C.
    """

    def __init__(self) -> None:
        self.interrupted = False
        self._event = asyncio.Event()
        loop, work = asyncio.get_running_loop(), asyncio.current_task()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stop, number, work)

    def _stop(self, number: int, work: "asyncio.Task[Any] | None") -> None:
        if self.stopping and work is not None:
            work.cancel()
        self.interrupted = self.interrupted or number == signal.SIGINT
        self._event.set()

    @property
    def stopping(self) -> bool:
        """Whether a signal has arrived."""
        return self._event.is_set()

    async def unless_stopped(self, work: Coroutine[Any, Any, R]) -> R | None:
        """Run work; a signal cancels it and returns None."""
        async with self._race(work) as doing:
            return doing.result() if doing.done() and not self.stopping else None

    async def finish(self, work: Coroutine[Any, Any, None]) -> None:
        """Run work; a signal leaves it GRACE_SECONDS. The rest is sent again at the next start."""
        async with self._race(work) as doing:
            if not doing.done():
                await asyncio.wait((doing,), timeout=GRACE_SECONDS)
            if doing.done():
                doing.result()

    @asynccontextmanager
    async def _race(self, work: Coroutine[Any, Any, R]) -> AsyncIterator["asyncio.Task[R]"]:
        """Run work until it is done or a signal arrives; cancel it at the end of the block."""
        doing, stopping = asyncio.create_task(work), asyncio.create_task(self._event.wait())
        try:
            await asyncio.wait((doing, stopping), return_when=asyncio.FIRST_COMPLETED)
            yield doing
        finally:
            stopping.cancel()
            while not doing.done():  # redis-py may swallow a cancellation: cancel again
                doing.cancel()
                await asyncio.wait((doing,), timeout=CANCEL_INTERVAL)
            await asyncio.gather(doing, stopping, return_exceptions=True)
