"""`llr demo`: a service of its own learns the paper's streams; a table, figures, a dashboard."""

import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Annotated

import httpx
import typer
from llr_client import Client, LLRError
from rich.console import Console

from llr_cli.connection import REFUSED, BadData, end
from llr_cli.installation import need_figures
from llr_cli.interruption import STOPPED
from llr_cli.local_service import LocalService, NoService, local_service
from llr_cli.replay.campaign import Campaign, bars
from llr_cli.replay.command import has_auto
from llr_cli.replay.experiments import Experiment, paper
from llr_cli.replay.feeding import Pace
from llr_cli.replay.results import report, summary

POOR = {"gaussian": 1e-4, "bernoulli": 1e-4, "regression": 1e-5, "quadratic": 1e-4}
"""The first step sizes of the table: far too small, for the quadratic far too large."""
STARTING = "starting the service; the first time on a machine it compiles, for up to a minute"


def demo(
    samples: Annotated[
        int | None, typer.Option(min=1, help="Length of every stream. [the paper's]")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Where the random numbers start.")] = 0,
    figures: Annotated[bool, typer.Option(help="Draw the paper's figures.")] = True,
    out: Annotated[Path, typer.Option(help="Folder for the figures.")] = Path("out"),
) -> None:
    """Start a service, replay the paper through it, show what it learnt from poor step sizes.

    On a terminal it serves until Ctrl-C; otherwise it ends when all is done. Its sessions are kept
    in a temporary folder and go with it.
    """
    console, errors = Console(), Console(stderr=True)
    try:
        if figures:
            need_figures()
        with serving(errors) as service, Client(service.url) as client:
            perform(client, samples, seed, console, errors)
            if figures:
                console.print("figures  ", picture(client, out, seed, errors), highlight=False)
            stay(service, console)
    except (LLRError, BadData, NoService) as error:
        end(REFUSED, str(error))
    except KeyboardInterrupt:
        end(STOPPED, "stopped")


@contextmanager
def serving(errors: Console) -> Iterator[LocalService]:
    """A service that is ready, on a store that goes with it."""
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="llr-demo-"))
        errors.print(STARTING, style="dim")
        service = stack.enter_context(local_service(Path(folder)))
        httpx.get(f"{service.url}/readyz").raise_for_status()
        yield service


def perform(
    client: Client, samples: int | None, seed: int, console: Console, errors: Console
) -> None:
    """Replay every experiment, and show those from poor step sizes."""
    every = paper(seed, has_auto(client))
    chosen = [experiment.of_length(samples) for experiment in every] if samples else every
    with bars(errors) as progress:
        results = Campaign(client, Pace(), progress).run(chosen)
    report(console, [result for result in results if is_poor(result.experiment)])
    console.print("", summary(results), "", sep="\n", highlight=False)


def is_poor(experiment: Experiment) -> bool:
    """Whether the table shows it: one poor step size a stream, and whoever needs none."""
    return experiment.eta0 in (None, POOR[experiment.stream])


def picture(client: Client, out: Path, seed: int, errors: Console) -> Path:
    """Draw the figures; where their page is."""
    from llr_cli.figures.drawing import draw  # noqa: PLC0415 - matplotlib is an extra

    return draw(client, out, seed, errors)


def stay(service: LocalService, console: Console) -> None:
    """Say where the dashboard is; where somebody sits at a terminal, serve until Ctrl-C."""
    console.print("dashboard", service.url, highlight=False)
    if not sys.stdout.isatty():  # the console may have been told that everything is a terminal
        return
    console.print("serving until Ctrl-C", style="dim")
    try:
        service.wait()
    except KeyboardInterrupt:
        console.print()
