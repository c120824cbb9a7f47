"""Trajectories of θ: from every initial step size, below log η, and against hand tuning."""

from collections.abc import Iterable
from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from llr.types import Array
from llr_cli.figures.axis_scale import LinLogScale
from llr_cli.figures.captions import is_poor
from llr_cli.figures.panels import (
    ALGORITHMS,
    STREAMS,
    THETA,
    band,
    bar,
    curve,
    is_decade,
    legend,
    over,
    pairs_of,
    panels,
    red,
    red_line,
    rows_of,
)
from llr_cli.replay.experiments import DECADES, power
from llr_cli.replay.runs import Run, Runs, median_ml

SCALES = {
    "gaussian": LinLogScale(-1.0, 7.0, 1e4, (0, 2, 4, 6)),
    "regression": LinLogScale(-0.4, 1.4, 1e4, (0, 0.5, 1)),
}


def trajectories(runs: Runs, stream: str) -> Figure:
    """SG and SVRG above, their LLR versions below; /sg, the paper's labels, last (R9)."""
    rows = rows_of(runs, stream)
    figure, grid = panels(f"Trajectories, {STREAMS[stream]}{over(runs)}", rows=len(rows) // 2)
    scale = scale_for(runs, stream, rows)
    for axes, algorithm in zip(grid.flat, rows, strict=True):
        axes.set_title(ALGORITHMS[algorithm])
        decades(axes, runs.of(stream, algorithm, is_decade), scale)
    for axes in grid[:, 0]:
        axes.set_ylabel(THETA[stream])
    legend(figure, DECADES, red_line("running ML"))
    return figure


def scale_for(runs: Runs, stream: str, algorithms: Iterable[str]) -> LinLogScale | None:
    """How to scale the axis of these algorithms' decades; not at all if nothing runs away."""
    scale = SCALES.get(stream)
    found = [run for name in algorithms for run in runs.of(stream, name, is_decade)]
    drawn = [values for run in found for values in (run.shown, run.low, run.high)]
    return scale if scale and any(scale.leaves(values) for values in drawn) else None


def decades(axes: Axes, runs: list[Run], scale: LinLogScale | None) -> None:
    """One panel: the decades of one algorithm, and the running maximum likelihood in red."""
    ascents(axes, runs, scale)
    if runs:
        experiment, longest = runs[0].experiment, int(max(run.t[-1] for run in runs))
        seeds = runs[0].seeds or (experiment.seed,)
        red(axes, *median_ml(experiment.stream, seeds, longest))


def ascents(axes: Axes, runs: list[Run], scale: LinLogScale | None) -> None:
    """Trajectories in one panel, the smallest step size on top."""
    if scale:
        scale.apply(axes)
    for run in reversed(runs):
        eta0, shown = run.experiment.eta0, run.shown
        if not scale:
            band(axes, run.t, run.low, run.high, eta0)
            curve(axes, run.t, shown, eta0)
            continue
        limit, beyond = 10.0 * scale.end, scale.beyond(shown)
        low, high = np.maximum(run.low, -limit), np.minimum(run.high, limit)
        if run.bands:  # quartiles on both sides of the axis: their median says nothing
            gone = closed(beyond | ((run.low < scale.low) & (run.high > scale.high)))
            shown = np.where(gone & ~beyond, np.nan, shown)
            low, high = (np.where(gone, np.nan, side) for side in (low, high))
            beyond = gone
        band(axes, run.t, low, high, eta0)
        curve(axes, run.t, scale.inside(shown), eta0, wild=bool(beyond.any()))
        if beyond.sum() > 1 or run.diverged:  # a single point is too short for a bar
            bar(axes, run.t, beyond, eta0, run.diverged)


def closed(flags: Array, gap: int = 8) -> Array:
    """The flags with every gap of at most so many points between two of them filled.

    A median that comes back to the axis for a few points would be a vertical line.

    >>> closed(np.array([0, 1, 0, 0, 1, 0, 0, 0, 1], bool), gap=2).astype(int)
    array([0, 1, 1, 1, 1, 0, 0, 0, 1])
    """
    (places,) = np.nonzero(flags)
    filled = flags.copy()
    for left, right in pairwise(places):
        if right - left <= gap + 1:
            filled[left:right] = True
    return filled


def step_sizes(runs: Runs, stream: str) -> Figure:
    """log η of SG/AG and SVRG/AG above, their trajectories below; /sg, if there, likewise."""
    learnt = [name for _, name in pairs_of(runs, stream)]
    title = f"Learnt step sizes, {STREAMS[stream]}{over(runs)}"
    figure, grid = panels(title, rows=len(learnt), share="row")
    scale = scale_for(runs, stream, learnt)
    for place, algorithm in enumerate(learnt):
        row, column = place // 2 * 2, place % 2
        above, below = grid[row : row + 2, column]
        above.set_title(ALGORITHMS[algorithm])
        found = runs.of(stream, algorithm, is_decade)
        for run in reversed(found):
            band(above, run.t, run.log_eta_low, run.log_eta_high, run.experiment.eta0)
            curve(above, run.t, run.log_eta, run.experiment.eta0)
        decades(below, found, scale)
    for above, below in zip(grid[::2, 0], grid[1::2, 0], strict=True):
        above.set_ylabel("log η")
        below.set_ylabel(THETA[stream])
    legend(figure, DECADES, red_line("running ML"))
    return figure


def hand_tuned(runs: Runs, stream: str) -> Figure:
    """SG/AG on the left, SVRG/AG on the right, the original with its best step size in red.

    SG/SG and SVRG/SG, if they are there, below.
    """
    pairs = pairs_of(runs, stream)
    title = f"Poor step sizes against hand-tuned ones, {STREAMS[stream]}{over(runs)}"
    figure, grid = panels(title, rows=len(pairs) // 2)
    poor, scale = set(), scale_for(runs, stream, [learnt for _, learnt in pairs])
    for axes, (fixed, learnt) in zip(grid.flat, pairs, strict=True):
        axes.set_title(ALGORITHMS[learnt])
        tuned = runs.best(stream, fixed)
        if tuned:
            poor |= against(axes, runs.of(stream, learnt, is_decade), tuned, scale)
    for axes in grid[:, 0]:
        axes.set_ylabel(THETA[stream])
    legend(figure, [x for x in DECADES if x in poor], red_line("hand-tuned"))
    return figure


def against(
    axes: Axes, learnt: list[Run], tuned: Run, scale: LinLogScale | None
) -> set[float | None]:
    """One panel; which first step sizes were poor."""
    best = tuned.experiment.eta0 or 1.0
    original = ALGORITHMS[tuned.experiment.algorithm]
    axes.set_title(f"{axes.get_title()}; in red {original} with η = {power(best)}")
    poor = [run for run in learnt if is_poor(run.experiment.eta0 or best, best)]
    ascents(axes, poor, scale)
    red(axes, tuned.t, tuned.shown)
    return {run.experiment.eta0 for run in poor}
