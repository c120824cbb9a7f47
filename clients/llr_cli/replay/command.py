"""`llr replay` feeds the paper's streams to a service; `llr figures` draws its figures."""

import json
from enum import StrEnum
from itertools import product
from pathlib import Path
from typing import Annotated

import typer
from llr_client import Client, LLRError, SessionNotFound
from llr_client.retries import Clock
from rich.console import Console

from llr_cli.installation import need_figures
from llr_cli.options import (
    DEFAULT_URL,
    LONG_PATIENCE,
    AsJson,
    Key,
    Patience,
    Url,
    check_reachable,
    open_client,
)
from llr_cli.replay import claims
from llr_cli.replay.experiments import AUTO, SAMPLES, STEEP, Experiment, paper
from llr_cli.replay.results import Result, report, summary
from llr_cli.replay.runner import ReplayRunner, Throttle, bars
from llr_cli.replay.runs import Ensemble

LONG_TABLE = 40


class Choice(StrEnum):
    """What can be replayed."""

    GAUSSIAN = "gaussian"
    BERNOULLI = "bernoulli"
    REGRESSION = "regression"
    QUADRATIC = "quadratic"
    ALL = "all"


def replay(
    stream: Annotated[Choice, typer.Argument(help="Which stream; all is every experiment.")],
    algorithm: Annotated[
        list[str] | None, typer.Option(help="The algorithm; may be repeated. [sg/ag, or all]")
    ] = None,
    eta0: Annotated[
        list[float] | None,
        typer.Option(help="First step size; may be repeated. [1e-3, quadratic 1e-4, or all]"),
    ] = None,
    samples: Annotated[
        int | None, typer.Option(min=1, help="How many of each stream. [the paper's number]")
    ] = None,
    rate: Annotated[
        float | None,
        typer.Option(min=0.01, help="Samples a second, of each session. [flat out]"),
    ] = None,
    at_once: Annotated[int, typer.Option(min=1, max=64, help="Sessions fed at a time.")] = 2,
    seed: Annotated[int, typer.Option(min=0, help="Where the random numbers start.")] = 0,
    seeds: Annotated[
        int,
        typer.Option(min=0, max=1000, help="With all: seeds the paper's claims are judged on."),
    ] = 20,
    figures: Annotated[
        Path | None,
        typer.Option(help="With all: draw the figures into this folder, from the same runs."),
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Delete the sessions first.")] = False,
    patience: Patience = LONG_PATIENCE,
    as_json: AsJson = False,
    url: Url = DEFAULT_URL,
    key: Key = None,
) -> None:
    """Feed the paper's streams to a running service and show what it learns.

    Running it again goes on where it stopped. A session that diverges is a result, not an error.
    After all of the paper, its claims are judged one by one on many seeds, learnt in this process;
    with --figures the figures are drawn from the same runs.
    """
    errors, throttle = Console(stderr=True), Throttle(rate)
    whole = stream == Choice.ALL and not (algorithm or eta0 or samples or as_json)
    if figures and not whole:
        raise typer.BadParameter("needs all of the paper, without --json", param_hint="--figures")
    if figures:
        need_figures()

    def waiting(error: LLRError, _: float) -> None:
        errors.print(f"waiting: {error}", highlight=False, soft_wrap=True)

    check_reachable(url, key)
    going_on = "; the same command goes on from here"
    with open_client(
        url, key, patience, waiting, lambda: going_on, Clock(sleep=throttle.pause)
    ) as client:
        chosen = choose(client, stream, algorithm, eta0, samples, seed)
        if fresh:
            delete(client, chosen)
        with bars(errors) as progress:
            results = ReplayRunner(client, throttle, progress, at_once).run(chosen)
    show(results, as_json)
    every = (
        claims.measure(seeds, errors, figures is not None and seeds > 1)
        if whole and seeds
        else None
    )
    if every:
        claims.report(Console(), claims.judge(every), seeds)
    if figures:
        with open_client(url, key) as client:
            typer.echo(draw(client, figures, seed, errors, seeds, every))


def choose(
    client: Client,
    stream: str,
    algorithms: list[str] | None,
    eta0s: list[float] | None,
    samples: int | None,
    seed: int,
) -> list[Experiment]:
    """The experiments asked for: of the paper those that match, of a stream those given."""
    if stream == "all":
        found = [
            e
            for e in paper(seed, has_auto(client))
            if (not algorithms or e.algorithm in algorithms) and (not eta0s or e.eta0 in eta0s)
        ]
        if not found:
            raise typer.BadParameter("no experiment of the paper has them", param_hint="--eta0")
    else:
        steps = eta0s or [STEEP if stream == "quadratic" else 1e-3]
        pairs = product(algorithms or ["sg/ag"], steps)
        unique = dict.fromkeys((a, None if a == AUTO else eta0) for a, eta0 in pairs)
        found = [Experiment(stream, a, eta0, SAMPLES[stream], seed) for a, eta0 in unique]
    return [e.of_length(samples) for e in found] if samples else found


def has_auto(client: Client) -> bool:
    """Whether the service has the algorithm that needs no step size."""
    return any(algorithm["name"] == AUTO for algorithm in client.catalog()["algorithms"])


def delete(client: Client, experiments: list[Experiment]) -> None:
    """Delete the sessions of these experiments, if they are there."""
    for experiment in experiments:
        try:
            client.session(experiment.name).delete()
        except SessionNotFound:
            continue


def show(results: list[Result], as_json: bool) -> None:
    """The table, or if it would be long what it comes to; or all of it as JSON."""
    if as_json:
        typer.echo(json.dumps([result.members() for result in results], indent=2))
        return
    console = Console()
    if len(results) <= LONG_TABLE:
        report(console, results)
        console.print()
    console.print(summary(results), highlight=False)


def figures(
    out: Annotated[Path, typer.Option(help="Folder for the figures.")] = Path("out"),
    seed: Annotated[int, typer.Option(min=0, help="The seed of the replay.")] = 0,
    seeds: Annotated[
        int, typer.Option(min=0, max=1000, help="Seeds the paper's claims are judged on.")
    ] = 20,
    url: Url = DEFAULT_URL,
    key: Key = None,
) -> None:
    """Redraw the paper's figures from what the service kept of `llr replay all`.

    Prints where the page is that shows them all. Figures without any session are left out.
    """
    need_figures()
    with open_client(url, key) as client:
        typer.echo(draw(client, out, seed, Console(stderr=True), seeds))


def draw(
    client: Client, out: Path, seed: int, errors: Console, seeds: int, every: Ensemble | None = None
) -> Path:
    """Draw the figures; where the page is."""
    from llr_cli.figures import gallery  # noqa: PLC0415 - matplotlib is an extra

    return gallery.draw(client, out, seed, errors, seeds, every)
