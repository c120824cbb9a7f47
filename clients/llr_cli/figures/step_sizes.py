"""log η as the LLR algorithms learn it, above the ascents that it led to."""

from matplotlib.figure import Figure

from llr_cli.figures.panels import (
    ALGORITHMS,
    STREAMS,
    THETA,
    curve,
    is_decade,
    legend,
    panels,
    red_line,
)
from llr_cli.figures.runs import Runs
from llr_cli.figures.trajectories import bend_for, decades
from llr_cli.replay.experiments import DECADES, LEARNT


def step_sizes(runs: Runs, stream: str) -> Figure:
    """log η of SG/AG and SVRG/AG above, their trajectories below."""
    figure, grid = panels(f"Step sizes as they are learnt, {STREAMS[stream]}", rows=2, share="row")
    bend = bend_for(runs, stream, LEARNT)
    for (above, below), algorithm in zip(grid.T, LEARNT, strict=True):
        above.set_title(ALGORITHMS[algorithm])
        found = runs.of(stream, algorithm, is_decade)
        for run in reversed(found):
            curve(above, run.t, run.log_eta, run.experiment.eta0)
        decades(below, found, bend)
    grid[0, 0].set_ylabel("log η")
    grid[1, 0].set_ylabel(THETA[stream])
    legend(figure, DECADES, red_line("running ML"))
    return figure
