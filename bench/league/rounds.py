"""The rounds of the league: the processes that share the jobs of each, and what comes back."""

import multiprocessing
import os
import tempfile
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from types import TracebackType
from typing import Any, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from bench.league import drifting, hostile, jobs, parts, peers, quality, real, score
from bench.league.jobs import FINE, Hostile, Ours
from bench.league.peers.peer import Peer
from bench.league.score import Results, Sweep

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


AUTO, FIRST_ORDER = "auto", "auto, first order"
HURT = (
    "1 % of labels off by a normal of sd 100",
    "half of the features suddenly ×100",
    "pure noise",
)
"""The hostile streams that the ablations are shown on."""

Ablated = dict[tuple[str, int], dict[str, list[float]]]


def synthetic(crowd: Crowd, seeds: Sequence[int], title: str) -> Results:
    """The library on the fifteen streams."""
    results = Results(tuple(seeds))
    todo = [(name, seed) for name in drifting.NAMES for seed in seeds]
    found: list[Ours] = crowd.map(f"auto and SG, {title} seeds", jobs.on_stream, todo)
    for (name, seed), one in zip(todo, found, strict=True):
        results.least[name, seed] = one.least
        for learner, loss in one.losses.items():
            results.losses[learner, name, seed] = loss
    for name in drifting.NAMES:
        of_seeds = [one.sweeps for (at, _), one in zip(todo, found, strict=True) if at == name]
        for learner in of_seeds[0]:
            columns = zip(*(sweeps[learner] for sweeps in of_seeds), strict=True)
            means = dict(zip(FINE, map(score.average, columns), strict=True))
            results.sweeps[learner, name] = Sweep(tuple(seeds), means)
    return results


def defaults(crowd: Crowd, results: Results, packages: Iterable[str]) -> None:
    """The peers at their defaults on the streams that stay."""
    todo = [
        (package, peer.name, name, seed)
        for package, peer in _entered(packages)
        if peer.synthetic
        for name in drifting.STATIONARY
        for seed in results.seeds
    ]
    found = crowd.map("peers at their defaults", jobs.peer_on_stream, todo)
    for (_, peer, name, seed), loss in zip(todo, found, strict=True):
        results.losses[peer, name, seed] = loss


def sweeps(crowd: Crowd, results: Results, packages: Iterable[str], few: bool) -> None:
    """The peers over their step sizes: the slow ones on one seed, or not at all if few."""
    todo = [
        (package, peer.name, name, results.seeds if peer.fast else results.seeds[:1], 1)
        for package, peer in reversed(list(_entered(packages)))  # the slowest first
        if peer.swept and (peer.fast or not few)
        for name in reversed(drifting.STATIONARY)
    ]
    found = crowd.map("peers over their step sizes", jobs.peer_swept, todo)
    for (_, peer, name, seeds, _), losses in reversed(list(zip(todo, found, strict=True))):
        results.sweeps[peer, name] = Sweep(tuple(seeds), losses)


def robustness(crowd: Crowd, seeds: Sequence[int]) -> dict[str, list[Hostile]]:
    """The library on the hostile streams, a result a seed."""
    names = list(hostile.streams(seeds[0]))
    todo = [(name, seed) for name in names for seed in seeds]
    found = crowd.map("hostile streams", jobs.on_hostile, todo)
    pairs = list(zip(todo, found, strict=True))
    return {name: [one for (at, _), one in pairs if at == name] for name in names}


def ablations(crowd: Crowd, seeds: Sequence[int]) -> Ablated:
    """Every ablation on the fifteen streams and some hostile ones."""
    todo = [(name, seed) for name in (*drifting.NAMES, *HURT) for seed in seeds]
    found = crowd.map(f"{len(parts.ABLATIONS)} ablations", jobs.ablated, todo)
    return dict(zip(todo, found, strict=True))


def reality(crowd: Crowd, packages: Iterable[str]) -> dict[str, dict[str, float]]:
    """Mean losses on real data, by learner and set."""
    entered = [(package, peer.name) for package, peer in _entered(packages) if peer.real]
    todo = [(package, peer, name) for package, peer in entered for name in real.STREAMS]
    by_peers = crowd.map("peers on real data", jobs.peer_on_real, todo)
    both = [(name, on) for on in (True, False) for name in real.STREAMS]
    by_auto = crowd.map("auto on real data", jobs.auto_on_real, both)
    losses: dict[str, dict[str, float]] = {AUTO: {}, FIRST_ORDER: {}}
    for (name, on), loss in zip(both, by_auto, strict=True):
        losses[AUTO if on else FIRST_ORDER][name] = loss
    for (_, peer, name), loss in zip(todo, by_peers, strict=True):
        losses.setdefault(peer, {})[name] = loss
    return losses


def qualities(crowd: Crowd) -> dict[tuple[int, str, str], list[float]]:
    """river's table of quality, with `auto`."""
    found = crowd.map("river's table", jobs.quality_of, quality.JOBS)
    return dict(zip(quality.JOBS, found, strict=True))


def _entered(packages: Iterable[str]) -> list[tuple[str, Peer]]:
    return [(package, peer) for package in packages for peer in peers.peers_of(package).values()]
