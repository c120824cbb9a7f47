"""Cumulated regret minus that of the running maximum likelihood, and beside `auto`."""

from collections.abc import Iterable

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter

from llr_cli.figures.panels import (
    ALGORITHMS,
    STREAMS,
    band,
    bar,
    curve,
    is_decade,
    legend,
    over,
    panels,
    red,
    red_line,
    rows_of,
)
from llr_cli.replay.experiments import AUTO, DECADES, LEARNT, MODELS, power
from llr_cli.replay.runs import Run, Runs

TOP = {"gaussian": 1e6, "bernoulli": 1e3, "regression": 1e6}
BOTTOM = {"gaussian": -2.0, "bernoulli": -2.0, "regression": -20.0}


def regrets(runs: Runs, stream: str) -> Figure:
    """SG and SVRG above, their LLR versions below; /sg, the paper's labels, last (R9)."""
    rows = rows_of(runs, stream)
    title = f"Cumulated regret minus that of the ML, {STREAMS[stream]}{over(runs)}"
    figure, grid = panels(title, rows=len(rows) // 2)
    for axes, algorithm in zip(grid.flat, rows, strict=True):
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
        low, high = run.bands.get("regret", (np.empty(0), np.empty(0)))
        band(axes, run.t, np.minimum(low, 10.0 * top), np.minimum(high, 10.0 * top), eta0)
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


def beside_auto(runs: Runs) -> Figure:
    """A column a stream: SG/AG above, SVRG/AG below, the same `auto` in both."""
    title = f"Cumulated regret minus that of the ML, with auto beside it{over(runs)}"
    figure, grid = panels(title, rows=len(LEARNT), columns=len(MODELS), share="col", samples="col")
    for row, algorithm in zip(grid, LEARNT, strict=True):
        for axes, stream in zip(row, MODELS, strict=True):
            axes.set_title(f"{ALGORITHMS[algorithm]}, {STREAMS[stream]}")
            both = [*runs.of(stream, AUTO), *runs.of(stream, algorithm, is_decade)]
            climbs(axes, stream, both)
        row[0].set_ylabel("regret − regret of the ML")
    auto = Line2D([], [], color="black", linewidth=2.2, label="auto, no step size given")
    legend(figure, DECADES, red_line("running ML"), auto)
    return figure
