"""The figures in the paper's order, drawn from the sessions of a replay, and the page with them."""

import io
import re
import subprocess
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from html import escape
from itertools import product
from pathlib import Path
from platform import python_version
from typing import NamedTuple

import matplotlib
import numba
import numpy as np
from llr_client import Client
from matplotlib.figure import Figure
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from llr import __version__
from llr_cli.figures import captions
from llr_cli.figures.panels import styled
from llr_cli.figures.quadratic import quadratic
from llr_cli.figures.regrets import beside_auto, regrets
from llr_cli.figures.tangent import tangent
from llr_cli.figures.trajectories import hand_tuned, step_sizes, trajectories
from llr_cli.options import BadData
from llr_cli.replay import claims
from llr_cli.replay.claims import Claim
from llr_cli.replay.command import has_auto
from llr_cli.replay.experiments import AUTO, MODELS, paper
from llr_cli.replay.runs import Ensemble, Run, Runs, fetch


class Picture(NamedTuple):
    """A figure to be drawn.

    Attributes:
        name: of its files, without their suffix.
        caption: counts what is to be seen, in single runs.
        draw: makes it from runs, or from their medians.
        streams: whose runs it needs.
        algorithm: without whose runs it is not drawn, if there is such a one.
    """

    name: str
    caption: Callable[[Runs], str]
    draw: Callable[[Runs], Figure]
    streams: tuple[str, ...]
    algorithm: str | None = None

    def is_possible(self, runs: Runs) -> bool:
        """Whether there is anything to draw it from."""
        return any(
            run.experiment.stream in self.streams
            and self.algorithm in (None, run.experiment.algorithm)
            for run in runs
        )


KINDS: dict[str, tuple[Callable[[Runs, str], Figure], Callable[[Runs, str], str]]] = {
    "trajectories": (trajectories, captions.trajectories),
    "regrets": (regrets, captions.regrets),
    "step-sizes": (step_sizes, captions.step_sizes),
    "hand-tuned": (hand_tuned, captions.hand_tuned),
}


def pictures() -> list[Picture]:
    """The paper's thirteen; `auto` beside them if the service has it; h against A."""
    found = [_picture(kind, stream) for kind, stream in product(KINDS, MODELS)]
    found.append(Picture("quadratic", captions.quadratic, quadratic, ("quadratic",)))
    found.append(Picture("beside-auto", captions.beside_auto, beside_auto, MODELS, AUTO))
    found.append(Picture("tangent", captions.tangent, tangent, MODELS))
    return [one._replace(name=f"{n:02d}-{one.name}") for n, one in enumerate(found, start=1)]


BAND_DPI = 72
"""Resolution of the bands in an SVG, which are rasterized: as paths they take 18 MB in sum."""


def save(figure: Figure, out: Path, name: str) -> None:
    """As PNG and as SVG, the same bytes for the same data."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # it has been laid out: once is enough for both
    figure.savefig(out / f"{name}.png", dpi=150, metadata={"Software": None})
    drawing = io.StringIO()
    figure.savefig(drawing, format="svg", dpi=BAND_DPI, metadata={"Date": None, "Creator": None})
    (out / f"{name}.svg").write_text(rounded(drawing.getvalue()), encoding="utf-8")


def rounded(svg: str) -> str:
    r"""An SVG with coordinates in tenths of a point and no indentation: less than half the bytes.

    >>> rounded('<g>\n  <path d="M 1.234567 2.5 L -0.01 7" transform="scale(0.015625)"/>')
    '<g>\n<path d="M 1.2 2.5 L -0.0 7" transform="scale(0.015625)"/>'
    """

    def short(path: re.Match[str]) -> str:
        return re.sub(r"(\.\d)\d+", r"\1", path[0])

    return re.sub(r"\n +", "\n", re.sub(r'\bd="[^"]*"', short, svg))


def _picture(kind: str, stream: str) -> Picture:
    figure, caption = KINDS[kind]
    return Picture(
        f"{kind}-{stream}",
        lambda runs: caption(runs, stream),
        lambda runs: figure(runs, stream),
        (stream,),
    )


AT_ONCE = 2


def draw(
    client: Client,
    out: Path,
    seed: int,
    console: Console,
    seeds: int = 0,
    every: Ensemble | None = None,
) -> Path:
    """Draw what can be drawn, and write the page; returns its path.

    With several seeds every experiment is learnt in this process and the figures show medians; the
    sessions are compared with these runs. Otherwise the figures show the sessions.

    Args:
        client: the service with the sessions of a replay.
        out: the folder for the figures.
        seed: the seed of the replay.
        console: for progress bars and complaints.
        seeds: how many seeds the claims are judged on; 0 for none.
        every: what was learnt on these seeds already; it is learnt here if left out.
    """
    with bars(console) as progress:
        sessions = collect(client, seed, progress)
    if not len(sessions):
        raise BadData("the service has no session of a replay: run llr replay all first")
    _make(out)
    complain(console, sessions, seed, has_auto(client))
    judged: list[claims.Claim] = []
    runs, shown = sessions, sessions
    about = f"Drawn from {len(sessions)} sessions of the service, seed {seed}."
    if seeds:
        every = every or claims.measure(seeds, console, figures=seeds > 1)
        judged = claims.judge(every)
        if seeds > 1:
            runs = Runs(every.courses)
            shown, about = runs.medians(), compared(sessions, runs, seeds)
    found = [picture for picture in pictures() if picture.is_possible(runs)]
    with styled(), bars(console) as progress:
        for picture in progress.track(found, description="figures"):
            save(picture.draw(shown), out, picture.name)
    shown_on_page = [(picture.name, picture.caption(runs)) for picture in found]
    return write_page(out, shown_on_page, f"{about} {stamp()}", judged, seeds)


def compared(sessions: Runs, runs: Runs, seeds: int) -> str:
    """Where the runs are from, and whether the service's sessions are the same."""
    about = (
        f"Drawn from {len(runs)} runs on seeds 0 to {seeds - 1}, learnt by the library; lines are"
        " medians, bands go from quartile to quartile."
    )
    ends = {(run.experiment.name, int(run.t[-1])): run.regret[-1] for run in runs}
    both = [
        (ends.get((r.experiment.name, int(r.t[-1]))), r.regret[-1])
        for r in sessions
        if r.experiment.seed < seeds
    ]
    if not both:
        return f"{about} The {len(sessions)} sessions of the service are of another seed."
    same = sum(ours == theirs for ours, theirs in both)
    return (
        f"{about} Of {len(both)} sessions of the service, {same} end with the same regret as the"
        " library's run to the last bit."
    )


def stamp() -> str:
    """The versions and the commit that drew the figures."""
    packages = ("llr", __version__), ("numpy", np.__version__), ("numba", numba.__version__)
    used = [*packages, ("matplotlib", matplotlib.__version__), ("Python", python_version())]
    return f"Drawn by {', '.join(f'{name} {version}' for name, version in used)}{commit()}."


def commit(file: Path = Path(__file__)) -> str:
    """The commit of the source tree that this module is in; empty if no repository has it."""
    git = ["git", "-C", str(file.parent)]
    try:
        _output([*git, "ls-files", "--error-unmatch", file.name])
        return f", commit {_output([*git, 'describe', '--always', '--dirty'])}"
    except (OSError, subprocess.CalledProcessError):
        return ""


def _output(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
    return done.stdout.strip()


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
    """Progress bars; silent without a terminal."""
    return Progress(
        TextColumn("{task.description:<10}"),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
        disable=not console.is_interactive,
    )


HEAD = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Speed learning on the fly, replayed</title>
<style>
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
figure { margin: 0 0 3rem; }
img { width: 100%; height: auto; background: white; border-radius: 6px; }
figcaption { margin-top: .6rem; }
figcaption b { margin-right: .4rem; }
table { border-collapse: collapse; }
th, td { padding: .3rem .6rem; border-bottom: 1px solid #8c959f55; text-align: left; }
</style>
"""


READ = (
    "Colours go from dark to light with the first step size. Where runs explode, the shaded parts"
    " of an axis are logarithmic; a bar above a panel says that a run is beyond even these, or that"
    " its quartiles are on both sides of the axis, a cross that most runs diverged. Every picture"
    " leads to itself as SVG."
)


def write_page(
    out: Path,
    figures: Iterable[tuple[str, str]],
    about: str,
    claims: Sequence[Claim] = (),
    seeds: int = 0,
) -> Path:
    """Write the page beside the pictures, with the claims below; where it is."""
    parts = [HEAD, "<h1>Speed learning on the fly, replayed</h1>", f"<p>{escape(about)} {READ}</p>"]
    parts += [_figure(name, caption) for name, caption in figures]
    parts += _table(claims, seeds) if claims else []
    page = out / "index.html"
    page.write_text("\n".join([*parts, "</html>", ""]), encoding="utf-8")
    return page


def _table(claims: Iterable[Claim], seeds: int) -> list[str]:
    """The claims of the paper's Section 3, and what came of them."""
    heads = "".join(f"<th>{word}</th>" for word in ("the paper says", "measured", "found", ""))
    rows = ["".join(f"<td>{escape(cell)}</td>" for cell in claim) for claim in claims]
    about = f"Measured on seeds 0 to {seeds - 1} and seven decades of η₀."
    return [
        f'<h2 id="claims">Section 3, claim by claim</h2><p>{about}</p><table><tr>{heads}</tr>',
        *(f"<tr>{row}</tr>" for row in rows),
        "</table>",
    ]


def _figure(name: str, caption: str) -> str:
    number, shown = int(name[:2]), escape(caption)
    return (
        f'<figure id="{name}"><a href="{name}.svg"><img src="{name}.png" alt="{shown}"'
        f' loading="lazy"></a>\n<figcaption><b>Figure {number}.</b>{shown}</figcaption></figure>'
    )
