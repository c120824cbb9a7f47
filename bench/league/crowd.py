"""Two processes that share the work, and bars that tell how far they are."""

import multiprocessing
import os
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from types import TracebackType
from typing import Any, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

WORKERS = min(2, os.cpu_count() or 1)


def _settle(folder: str) -> None:
    """Let all temporary files of this process be made there."""
    tempfile.tempdir = folder


class Crowd:
    """A pool of processes with a bar for each list of jobs."""

    def __init__(self) -> None:
        self._progress = Progress(
            TextColumn("{task.description:<44}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=Console(stderr=True),
        )
        fresh = multiprocessing.get_context("spawn")
        self._scratch = tempfile.TemporaryDirectory(prefix="llr-regret-")
        here = (self._scratch.name,)
        self._pool = ProcessPoolExecutor(WORKERS, fresh, initializer=_settle, initargs=here)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._pool.shutdown(wait=error is None, cancel_futures=True)
        self._progress.stop()
        self._scratch.cleanup()

    def map(self, title: str, job: Callable[..., Any], of: Sequence[tuple[Any, ...]]) -> list[Any]:
        """The results of the job on each of these arguments, in their order."""
        task = self._progress.add_task(title, total=len(of))
        places = {self._pool.submit(job, *arguments): at for at, arguments in enumerate(of)}
        found: list[Any] = [None] * len(of)
        for done in as_completed(places):
            found[places[done]] = done.result()
            self._progress.advance(task)
        return found
