"""Trajectories of θ for every first step size, beside the running maximum likelihood."""

from collections.abc import Iterable

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from clients.figures.bent import Bend
from clients.figures.panels import (
    ALGORITHMS,
    STREAMS,
    THETA,
    bar,
    curve,
    is_decade,
    legend,
    panels,
    red,
    red_line,
)
from clients.figures.running_ml import running_ml
from clients.figures.runs import Run, Runs
from clients.replay.experiments import DECADES, FIXED, LEARNT

BENDS = {
    "gaussian": Bend(-1.0, 7.0, 1e4, (0, 2, 4, 6)),
    "regression": Bend(-0.4, 1.4, 1e4, (0, 0.5, 1)),
}


def trajectories(runs: Runs, stream: str) -> Figure:
    """SG and SVRG above, their LLR versions below, θ over the samples in each."""
    figure, grid = panels(f"Trajectories, {STREAMS[stream]}", rows=2)
    for axes, algorithm in zip(grid.flat, (*FIXED, *LEARNT), strict=True):
        axes.set_title(ALGORITHMS[algorithm])
        decades(axes, runs, stream, algorithm)
    for axes in grid[:, 0]:
        axes.set_ylabel(THETA[stream])
    legend(figure, DECADES, red_line("running ML"))
    return figure


def decades(axes: Axes, runs: Runs, stream: str, algorithm: str) -> None:
    """One panel: the decades of one algorithm, and the running maximum likelihood in red."""
    found = runs.of(stream, algorithm, is_decade)
    ascents(axes, stream, found)
    if found:
        longest = max(run.t[-1] for run in found)
        times = np.unique(np.linspace(0, longest, 500).astype(np.int64))
        red(axes, times, running_ml(stream, found[0].experiment.seed, times))


def ascents(axes: Axes, stream: str, runs: Iterable[Run]) -> None:
    """Trajectories in one panel, bent where they may explode; the smallest step size on top."""
    bend = BENDS.get(stream)
    if bend:
        bend.apply(axes)
    for run in reversed([*runs]):
        eta0, shown = run.experiment.eta0, run.shown
        if not bend:
            curve(axes, run.t, shown, eta0)
            continue
        beyond = bend.beyond(shown)
        curve(axes, run.t, bend.inside(shown), eta0, wild=bool(beyond.any()))
        if beyond.any():
            bar(axes, run.t, beyond, eta0, run.ended is not None)
