"""The regrets of the LLR algorithms with `auto` beside them, which is given no step size."""

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from llr_cli.figures.panels import ALGORITHMS, STREAMS, is_decade, legend, panels, red_line
from llr_cli.figures.regrets import climbs
from llr_cli.figures.runs import Runs
from llr_cli.replay.experiments import AUTO, DECADES, LEARNT, MODELS


def beside_auto(runs: Runs) -> Figure:
    """A column a stream: SG/AG above, SVRG/AG below, the same `auto` in both."""
    title = "Cumulated regret minus that of the ML, with auto beside it"
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
