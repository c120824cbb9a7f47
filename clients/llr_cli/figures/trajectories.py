"""Trajectories of θ for every first step size, beside the running maximum likelihood."""

from collections.abc import Iterable

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from llr_cli.figures.bent import Bend
from llr_cli.figures.panels import (
    ALGORITHMS,
    STREAMS,
    THETA,
    band,
    bar,
    curve,
    is_decade,
    legend,
    panels,
    red,
    red_line,
)
from llr_cli.figures.running_ml import running_ml
from llr_cli.figures.runs import Run, Runs
from llr_cli.replay.experiments import DECADES, FIXED, LEARNT

BENDS = {
    "gaussian": Bend(-1.0, 7.0, 1e4, (0, 2, 4, 6)),
    "regression": Bend(-0.4, 1.4, 1e4, (0, 0.5, 1)),
}


def trajectories(runs: Runs, stream: str) -> Figure:
    """SG and SVRG above, their LLR versions below, θ over the samples in each."""
    figure, grid = panels(f"Trajectories, {STREAMS[stream]}", rows=2)
    bend = bend_for(runs, stream, (*FIXED, *LEARNT))
    for axes, algorithm in zip(grid.flat, (*FIXED, *LEARNT), strict=True):
        axes.set_title(ALGORITHMS[algorithm])
        decades(axes, runs.of(stream, algorithm, is_decade), bend)
    for axes in grid[:, 0]:
        axes.set_ylabel(THETA[stream])
    legend(figure, DECADES, red_line("running ML"))
    return figure


def bend_for(runs: Runs, stream: str, algorithms: Iterable[str]) -> Bend | None:
    """How to bend the axis of these algorithms' decades; not at all if nothing runs away."""
    bend = BENDS.get(stream)
    shown = [run.shown for a in algorithms for run in runs.of(stream, a, is_decade)]
    return bend if bend and any(bend.leaves(values) for values in shown) else None


def decades(axes: Axes, runs: list[Run], bend: Bend | None) -> None:
    """One panel: the decades of one algorithm, and the running maximum likelihood in red."""
    ascents(axes, runs, bend)
    if runs:
        experiment, longest = runs[0].experiment, max(run.t[-1] for run in runs)
        times = np.unique(np.linspace(0, longest, 500).astype(np.int64))
        red(axes, times, running_ml(experiment.stream, experiment.seed, times))


def ascents(axes: Axes, runs: list[Run], bend: Bend | None) -> None:
    """Trajectories in one panel, the smallest step size on top."""
    if bend:
        bend.apply(axes)
    for run in reversed(runs):
        eta0, shown = run.experiment.eta0, run.shown
        if not bend:
            band(axes, run.t, run.low, run.high, eta0)
            curve(axes, run.t, shown, eta0)
            continue
        limit = 10.0 * bend.end
        band(axes, run.t, np.maximum(run.low, -limit), np.minimum(run.high, limit), eta0)
        beyond = bend.beyond(shown)
        curve(axes, run.t, bend.inside(shown), eta0, wild=bool(beyond.any()))
        if beyond.any():
            bar(axes, run.t, beyond, eta0, run.diverged)
