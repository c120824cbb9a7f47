"""Cumulated regret beyond that of the running maximum likelihood, for every first step size."""

from collections.abc import Iterable

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from llr_cli.figures.panels import (
    ALGORITHMS,
    STREAMS,
    bar,
    curve,
    is_decade,
    legend,
    panels,
    red,
    red_line,
)
from llr_cli.figures.runs import Run, Runs
from llr_cli.replay.experiments import DECADES, FIXED, LEARNT, power

TOP = {"gaussian": 1e6, "bernoulli": 1e3, "regression": 1e6}
BOTTOM = {"gaussian": -2.0, "bernoulli": -2.0, "regression": -20.0}


def regrets(runs: Runs, stream: str) -> Figure:
    """SG and SVRG above, their LLR versions below."""
    figure, grid = panels(f"Cumulated regret minus that of the ML, {STREAMS[stream]}", rows=2)
    for axes, algorithm in zip(grid.flat, (*FIXED, *LEARNT), strict=True):
        axes.set_title(ALGORITHMS[algorithm])
        climbs(axes, stream, runs.of(stream, algorithm, is_decade))
    for axes in grid[:, 0]:
        axes.set_ylabel("regret − regret of the ML")
    legend(figure, DECADES, red_line("running ML"))
    return figure


def climbs(axes: Axes, stream: str, runs: Iterable[Run]) -> None:
    """Regrets in one panel, logarithmic beyond 1; the running maximum likelihood's own is 0."""
    top = TOP[stream]
    axes.set_yscale("symlog", linthresh=1.0, linscale=0.5)
    axes.set_ylim(BOTTOM[stream], top)
    axes.yaxis.set_major_formatter(FuncFormatter(tick))
    found = [*runs]
    for run in reversed(found):
        eta0 = run.experiment.eta0
        curve(axes, run.t, np.minimum(run.regret, 10.0 * top), eta0)
        if (run.regret > top).any():
            bar(axes, run.t, run.regret > top, eta0, run.diverged)
    red(axes, [0, max((run.t[-1] for run in found), default=1)], [0.0, 0.0])


def tick(value: float, _: int | None = None) -> str:
    """A tick of the logarithmic axis.

    >>> tick(0.0), tick(-10.0), tick(1e5)
    ('0', '−10', '10⁵')
    """
    if value == 0.0:
        return "0"
    return ("−" if value < 0 else "") + power(abs(value))
