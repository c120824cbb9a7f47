"""LLR from poor first step sizes against SG and SVRG whose step sizes were tuned by hand."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from llr_cli.figures.bent import Bend
from llr_cli.figures.panels import (
    ALGORITHMS,
    STREAMS,
    THETA,
    is_decade,
    legend,
    panels,
    red,
    red_line,
)
from llr_cli.figures.runs import Run, Runs
from llr_cli.figures.trajectories import ascents, bend_for
from llr_cli.replay.experiments import DECADES, FIXED, LEARNT, power

POOR = 10.0
"""A step size this many times too small or too large is poor."""


def hand_tuned(runs: Runs, stream: str) -> Figure:
    """SG/AG on the left, SVRG/AG on the right, the original with its best step size in red."""
    figure, grid = panels(f"Poor step sizes against hand-tuned ones, {STREAMS[stream]}", rows=1)
    poor, bend = set(), bend_for(runs, stream, LEARNT)
    for axes, fixed, learnt in zip(grid[0], FIXED, LEARNT, strict=True):
        axes.set_title(ALGORITHMS[learnt])
        tuned = runs.best(stream, fixed)
        if tuned:
            poor |= against(axes, runs.of(stream, learnt, is_decade), tuned, bend)
    grid[0, 0].set_ylabel(THETA[stream])
    legend(figure, [x for x in DECADES if x in poor], red_line("hand-tuned"))
    return figure


def against(axes: Axes, learnt: list[Run], tuned: Run, bend: Bend | None) -> set[float | None]:
    """One panel; which first step sizes were poor."""
    best = tuned.experiment.eta0 or 1.0
    original = ALGORITHMS[tuned.experiment.algorithm]
    axes.set_title(f"{axes.get_title()}; in red {original} with η = {power(best)}")
    poor = [run for run in learnt if is_poor(run.experiment.eta0 or best, best)]
    ascents(axes, poor, bend)
    red(axes, tuned.t, tuned.shown)
    return {run.experiment.eta0 for run in poor}


def is_poor(eta0: float, best: float) -> bool:
    """Whether a step size is far from the best one.

    >>> is_poor(1e-3, 1e-2), is_poor(1e-2, 5e-2), is_poor(1.0, 0.1)
    (True, False, True)
    """
    return max(eta0 / best, best / eta0) >= POOR * (1.0 - 1e-9)
