"""The questions of RESULTS.md side by side in one go."""

import argparse
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from bench import (
    growth,
    http,
    kernels,
    learning,
    postgres,
    profile,
    replicas,
    report,
    sockets,
    tables,
    workers,
)
from bench.report import Machine, Section

HERE = Path(__file__).parent
KEPT = workers.FOLDER / "sections.json"
QUESTIONS = (
    "learning",
    "kernels",
    "sockets",
    "http",
    "postgres",
    "replicas",
    "growth",
    "profile",
)
WITH_PEERS = {"learning", "sockets"}
"""Questions that run other packages, in environments of their own."""
Tick = Callable[[], None]


class Part(NamedTuple):
    """A section to be measured: how many steps it has, and how it is measured."""

    steps: int
    measure: Callable[[Tick], Section]


def parts(folder: Path, quick: bool) -> dict[str, Part]:
    """All sections, in the order of the report."""
    of_learning = learning.QUICK if quick else learning.FULL
    of_kernels = kernels.QUICK if quick else kernels.FULL
    of_http = http.QUICK if quick else http.FULL
    of_sockets = sockets.QUICK if quick else sockets.FULL
    of_postgres = postgres.QUICK if quick else postgres.FULL
    of_growth = growth.QUICK if quick else growth.FULL
    of_profile = profile.QUICK if quick else profile.FULL
    pictures = folder if quick else HERE / "results"
    return {
        "learning": Part(learning.turns(of_learning), partial(learning.measure, of_learning)),
        "kernels": Part(tables.KERNELS, partial(tables.of_kernels, of_kernels)),
        "sockets": Part(
            sockets.turns(of_sockets), partial(sockets.measure, folder / "sockets", of_sockets)
        ),
        "http": Part(tables.HTTP, partial(tables.of_http, folder / "http", of_http)),
        "postgres": Part(postgres.turns(of_postgres), partial(tables.of_postgres, of_postgres)),
        "replicas": Part(len(replicas.SETTINGS), partial(tables.of_replicas, of_postgres)),
        "growth": Part(
            growth.CURVES, partial(growth.measure, folder / "growth", of_growth, pictures)
        ),
        "profile": Part(profile.KINDS, partial(profile.measure, folder / "profile", of_profile)),
    }


def main(arguments: Sequence[str]) -> None:
    """Measure and write."""
    given = _parsed(arguments)
    with tempfile.TemporaryDirectory(dir=given.store, prefix="bench-") as folder:
        todo = parts(Path(folder), given.quick)
        for name in todo:
            (Path(folder) / name).mkdir()
        todo = {name: todo[name] for name in todo if name in (given.questions or QUESTIONS)}
        machine, found = (
            Machine.now(given.resume),
            _kept() if given.resume else dict[str, Section](),
        )
        written = not (given.questions or given.quick)
        for name, section in _measured({k: v for k, v in todo.items() if k not in found}):
            found[name] = section
            if written:  # after each: none is lost with a later one
                KEPT.write_text(json.dumps(found))
                report.write(HERE / "RESULTS.md", machine, _versions(found), _ordered(found))
    if not written:
        report.write(Path("/dev/stdout"), machine, _versions(found), _ordered(found))


def _kept() -> dict[str, Section]:
    """What the last run had measured."""
    return {name: Section.of(one) for name, one in json.loads(KEPT.read_text()).items()}


def _ordered(found: dict[str, Section]) -> list[Section]:
    return [found[name] for name in QUESTIONS if name in found]


def _versions(found: Iterable[str]) -> list[str]:
    return [line for one in _environments(found) for line in one.versions()]


def _environments(questions: Iterable[str]) -> tuple[workers.Environment, ...]:
    """Those that some of these questions need."""
    return () if WITH_PEERS.isdisjoint(questions) else workers.ALL


def _parsed(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure side by side.")
    parser.add_argument("questions", nargs="*", metavar="question", help=", ".join(QUESTIONS))
    parser.add_argument("--quick", action="store_true", help="shorter turns; printed, not written")
    parser.add_argument("--resume", action="store_true", help="keep what the last run measured")
    parser.add_argument("--store", type=Path, default=Path.cwd(), help="the disk to write to")
    given = parser.parse_args(arguments)
    if unknown := [name for name in given.questions if name not in QUESTIONS]:
        parser.error(f"{unknown[0]}: the questions are {', '.join(QUESTIONS)}")
    return given


def _measured(todo: dict[str, Part]) -> Iterator[tuple[str, Section]]:
    """Every section, with a bar on stderr that is drawn between turns, never during one."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    needed = _environments(todo)
    console, everywhere = Console(stderr=True), os.sched_getaffinity(0)
    with Progress(*columns, TimeElapsedColumn(), console=console, auto_refresh=False) as progress:
        making = progress.add_task("environments", total=len(needed))
        tasks = {name: progress.add_task(name, total=part.steps) for name, part in todo.items()}
        for one in needed:
            one.make()
            progress.update(making, advance=1, refresh=True)
        for name, part in todo.items():
            tick = partial(progress.update, tasks[name], advance=1, refresh=True)
            section = part.measure(tick)
            os.sched_setaffinity(0, everywhere)
            yield name, section
