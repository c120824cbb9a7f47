"""A connector from its start to its end: signals, errors and the last line."""

import asyncio
import signal
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from llr_cli.connection import service
from llr_client import AsyncClient, Client

from llr_connect.feed import BATCH, Feed
from llr_connect.lane import Lanes
from llr_connect.options import Options
from llr_connect.source import Source
from llr_connect.status import Status

R = TypeVar("R")
GRACE, AGAIN = 5.0, 0.1
"""Seconds that what is under way may take once we are told to stop; and until it is told again."""


def run(make: Callable[[], Source], options: Options) -> None:
    """Run a connector until its source ends or it is told to stop."""
    status = Status(options.session, options.seconds)
    with service(options.url, options.key, hint=status.hint) as client:
        source = make()
        client.version()  # a wrong address is told at once; only who was there is waited for
        features = takes_features(client)
        with status:
            interrupted = asyncio.run(_run(source, options, status, features))
        if interrupted:
            raise KeyboardInterrupt
    status.report(options.as_json)


def takes_features(client: Client) -> Callable[[str], bool]:
    """Whether a model has features, by the service's own word."""
    known = {entry["name"]: entry for entry in client.catalog()["models"]}
    return lambda model: bool(known.get(model, {}).get("features", True))


async def _run(
    source: Source, options: Options, status: Status, features: Callable[[str], bool]
) -> bool:
    """Whether Ctrl-C ended it."""
    stop = Stop()
    async with AsyncClient(
        options.url, options.key, patience=options.seconds, on_retry=status.waiting
    ) as client:
        try:
            lanes = Lanes(client, options.session, options.config, features, source.journal)
            feed = Feed(source, lanes, status, options.bad, options.missing)
            await stop.before(source.start(lanes, status))
            if not stop.told:
                _started(source, status)
                await _until_the_end(source, feed, options, status, stop)
        finally:
            await source.close()
            if source.journal is not None:
                source.journal.close()
    return stop.interrupted


async def _until_the_end(
    source: Source, feed: Feed, options: Options, status: Status, stop: "Stop"
) -> None:
    """Batch after batch, until nothing comes any more or enough is learnt."""
    batch = options.batch or source.batch or BATCH
    while left := batch if options.count is None else options.count - status.learnt:
        messages = await stop.before(source.take(min(batch, left)))
        if not messages:
            return
        await stop.soon_after(feed.batch(messages))


def _started(source: Source, status: Status) -> None:
    status.running, status.lag = True, source.lag
    if source.notice:
        status.say(source.notice)


class Stop:
    """SIGTERM and Ctrl-C, waited for beside the work; a second one ends everything at once.

    Attributes:
        interrupted: whether it was Ctrl-C.
    """

    def __init__(self) -> None:
        self.interrupted = False
        self._event = asyncio.Event()
        loop, work = asyncio.get_running_loop(), asyncio.current_task()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stop, number, work)

    def _stop(self, number: int, work: "asyncio.Task[Any] | None") -> None:
        if self.told and work is not None:
            work.cancel()
        self.interrupted = self.interrupted or number == signal.SIGINT
        self._event.set()

    @property
    def told(self) -> bool:
        """Whether it is time to stop."""
        return self._event.is_set()

    async def before(self, work: Coroutine[Any, Any, R]) -> R | None:
        """What work returns, unless the stop comes first, which ends it."""
        async with self._beside(work) as doing:
            return doing.result() if doing.done() and not self.told else None

    async def soon_after(self, work: Coroutine[Any, Any, None]) -> None:
        """Let work end, soon after a stop at the latest: what it leaves is sent again next time."""
        async with self._beside(work) as doing:
            if not doing.done():
                await asyncio.wait((doing,), timeout=GRACE)
            if doing.done():
                doing.result()

    @asynccontextmanager
    async def _beside(self, work: Coroutine[Any, Any, R]) -> AsyncIterator["asyncio.Task[R]"]:
        """Work, until it is done or we are told to stop; what is not done at the end is ended."""
        doing, told = asyncio.create_task(work), asyncio.create_task(self._event.wait())
        try:
            await asyncio.wait((doing, told), return_when=asyncio.FIRST_COMPLETED)
            yield doing
        finally:
            told.cancel()
            while not doing.done():  # redis-py may overhear that it is cancelled: tell it again
                doing.cancel()
                await asyncio.wait((doing,), timeout=AGAIN)
            await asyncio.gather(doing, told, return_exceptions=True)
