"""From the sessions of a replay to a folder of figures and the page that shows them."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from llr_client import Client
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from llr import __version__
from llr_cli.connection import BadData
from llr_cli.figures import gallery
from llr_cli.figures.gallery import Picture
from llr_cli.figures.over_seeds import caption, over_seeds
from llr_cli.figures.page import write_page
from llr_cli.figures.panels import styled
from llr_cli.figures.runs import Run, Runs, fetch
from llr_cli.replay import claims
from llr_cli.replay.command import has_auto
from llr_cli.replay.experiments import MODELS, paper

AT_ONCE = 2
OVER_SEEDS = "15-over-seeds"


def draw(client: Client, out: Path, seed: int, console: Console, seeds: int = 0) -> Path:
    """Fetch what there is, draw what can be drawn; where the page is.

    The page has the paper's claims, judged on so many seeds, unless there are none.
    """
    with bars(console) as progress:
        runs = collect(client, seed, progress)
        if not len(runs):
            raise BadData("the service has no session of a replay: run llr replay all first")
        pictures = [picture for picture in gallery.paper() if picture.is_possible(runs)]
        _make(out)
        with styled():
            for picture in progress.track(pictures, description="figures"):
                gallery.save(picture.draw(runs), out, picture.name)
    complain(console, runs, seed, has_auto(client))
    judged: list[claims.Claim] = []
    if seeds:
        every = claims.measure(seeds, console)
        judged = claims.judge(every)
        with styled():
            gallery.save(over_seeds(every), out, OVER_SEEDS)
        pictures.append(Picture(OVER_SEEDS, caption(every), lambda _: over_seeds(every), MODELS))
    about = f"Drawn from {len(runs)} sessions, seed {seed}, by llr {__version__}."
    return write_page(out, pictures, about, judged, seeds)


def _make(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as wrong:
        raise BadData(f"{out} cannot be a folder for figures: {wrong.strerror}") from None


def collect(client: Client, seed: int, progress: Progress) -> Runs:
    """The runs of every session that is there."""
    there = {(listed.name, listed.model, listed.algorithm) for listed in client.sessions()}
    wanted = [e for e in paper(seed, auto=True) if (e.name, e.model, e.algorithm) in there]
    bar = progress.add_task("sessions", total=len(wanted))
    found: list[Run] = []
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for run in pool.map(partial(fetch, client), wanted):
            progress.advance(bar)
            found.append(run)
    return Runs(found)


def complain(console: Console, runs: Runs, seed: int, auto: bool) -> None:
    """Say what is missing in the figures."""
    missing = len(paper(seed, auto)) - len(runs)
    if missing > 0:
        console.print(f"{missing} sessions are not there: llr replay all makes them")
    if runs.unfinished():
        console.print(f"{runs.unfinished()} sessions are behind: llr replay all goes on with them")


def bars(console: Console) -> Progress:
    """Progress bars; silent where nobody watches."""
    return Progress(
        TextColumn("{task.description:<10}"),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
        disable=not console.is_interactive,
    )
