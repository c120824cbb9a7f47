"""How every figure looks: a grid of panels, colours that all eyes can tell apart, one legend.

First step sizes go from dark to light, the smallest darkest; what the paper draws in red is red and
dashed here, so that nothing hangs on the colour alone.
"""

from collections import Counter
from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import Any, Literal

import matplotlib as mpl
import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter

from llr_cli.replay.experiments import DECADES, FIXED, LEARNT, Experiment, power
from llr_cli.replay.runs import PLAIN, Runs

RED = "#d1242f"
INK = "#24292f"
STYLE: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.edgecolor": "#8c959f",
    "axes.labelcolor": INK,
    "axes.grid": True,
    "grid.color": "#e6e8eb",
    "grid.linewidth": 0.7,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
    "svg.hashsalt": "llr",
    "path.simplify_threshold": 0.8,
}
ALGORITHMS = {
    "sg": "SG",
    "svrg": "SVRG",
    "sg/ag": "SG/AG",
    "svrg/ag": "SVRG/AG",
    "auto": "auto",
    "sg/sg": "SG/SG",
    "svrg/sg": "SVRG/SG",
}
STREAMS = {
    "gaussian": "Gaussian model",
    "bernoulli": "Bernoulli model",
    "regression": "50-dimensional linear regression",
}
THETA = {"gaussian": "θ", "bernoulli": "θ", "regression": "first entry of θᵀM"}
WIDEST = 5


def styled() -> AbstractContextManager[None]:
    """Within it, everything is drawn in the one style."""
    return rc_context(STYLE)


Shared = Literal["all", "row", "col", "none"]


def panels(
    title: str, rows: int, columns: int = 2, share: Shared = "all", samples: Shared = "all"
) -> tuple[Figure, Any]:
    """A figure with its title, and its panels as an array of rows × columns.

    Args:
        title: above all of it.
        rows: of panels.
        columns: of panels.
        share: which panels have the same axis of values.
        samples: which panels have the same axis of samples.
    """
    figure = Figure(figsize=(4.6 * columns, 3.1 * rows + 1.0), layout="constrained")
    figure.suptitle(title, fontsize=13, color=INK)
    grid = figure.subplots(rows, columns, sharex=samples, sharey=share, squeeze=False)
    for axes in grid[-1]:
        axes.set_xlabel("samples")
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.0f}"))
    return figure, grid


def is_decade(experiment: Experiment) -> bool:
    """Whether the paper's figures show this first step size."""
    return experiment.eta0 in DECADES


def rows_of(runs: Runs, stream: str) -> tuple[str, ...]:
    """The algorithms of a figure of panels, two in a row: the /sg ones only if there are any."""
    plain = PLAIN if any(runs.of(stream, name) for name in PLAIN) else ()
    return (*FIXED, *LEARNT, *plain)


def pairs_of(runs: Runs, stream: str) -> list[tuple[str, str]]:
    """Original and LLR version: the /ag ones, and the /sg ones if there are any."""
    pairs = [*zip(FIXED, LEARNT, strict=True), *zip(FIXED, PLAIN, strict=True)]
    return pairs[: len(rows_of(runs, stream)) - len(FIXED)]


def over(runs: Runs) -> str:
    """The end of a title: over how many seeds the medians are."""
    seeds = max((len(run.seeds) for run in runs), default=1)
    return f"\nmedian and quartiles of {seeds} seeds" if seeds > 1 else ""


def colour(eta0: float | None) -> Any:
    """The colour of a first step size: its place between the smallest and the largest decade."""
    if eta0 is None:
        return "black"
    low, high = np.log10([DECADES[0], DECADES[-1]])
    place = np.clip((np.log10(eta0) - low) / (high - low), 0.0, 1.0)
    return mpl.colormaps["viridis"](0.92 * float(place))


def curve(axes: Axes, t: Any, values: Any, eta0: float | None, wild: bool = False) -> None:
    """A run in the colour of its first step size; `auto`, which has none, is black and wide."""
    width = 0.7 if wild else 1.3
    axes.plot(t, values, color=colour(eta0), linewidth=width if eta0 else 2.2, zorder=2 - wild)


def band(axes: Axes, t: Any, low: Any, high: Any, eta0: float | None) -> None:
    """The range of a run between its points, in the colour of its first step size."""
    if len(low):
        shade = {"color": colour(eta0), "alpha": 0.25, "linewidth": 0}
        axes.fill_between(t, low, high, step="pre", zorder=1, rasterized=True, **shade)


def red(axes: Axes, t: Any, values: Any) -> None:
    """What the paper draws in red."""
    axes.plot(t, values, color=RED, linewidth=1.5, dashes=(4, 1.5), zorder=5)


def bar(axes: Axes, t: Any, where: Any, eta0: float | None, diverged: bool) -> None:
    """A bar above the panel wherever a run is beyond the axis; a cross if it diverged there."""
    row = sum(line.get_gid() == "beyond" for line in axes.lines)
    height = 1.02 + 0.02 * row
    place = {"transform": axes.get_xaxis_transform(), "clip_on": False, "color": colour(eta0)}
    line = np.where(where, height, np.nan)
    axes.plot(t, line, linewidth=2.6, solid_capstyle="butt", gid="beyond", **place)
    if diverged:
        axes.plot(t[-1:], [height], "x", markersize=5.5, markeredgewidth=1.6, gid="end", **place)


def legend(figure: Figure, eta0s: Iterable[float], *others: Line2D) -> None:
    """The one legend, below all panels, to be read in rows; it names what there is to see."""
    handles = [Line2D([], [], color=colour(x), label=f"η₀ = {power(x)}") for x in eta0s]
    handles += others
    seen = {line.get_gid() for axes in figure.axes for line in axes.lines}
    if "end" in seen:
        handles.append(Line2D([], [], color=INK, marker="x", linestyle="", label="diverged"))
    if "beyond" in seen:
        handles.append(Line2D([], [], color="#8c959f", linewidth=2.6, label="beyond the axis"))
        raise_titles(figure)
    rows = -(-len(handles) // WIDEST)
    columns = -(-len(handles) // rows)
    by_column = [handle for start in range(columns) for handle in handles[start::columns]]
    figure.legend(handles=by_column, loc="outside lower center", ncols=columns, fontsize=9.5)


def raise_titles(figure: Figure) -> None:
    """Panels side by side have their titles at one height, above all bars."""
    bars: Counter[int] = Counter()
    for axes in figure.axes:
        here = sum(line.get_gid() == "beyond" for line in axes.lines)
        bars[row_of(axes)] = max(bars[row_of(axes)], here)
    for axes in figure.axes:
        axes.set_title(axes.get_title(), pad=6.0 + 4.6 * bars[row_of(axes)])


def row_of(axes: Axes) -> int:
    """Which row of the grid a panel is in."""
    place = axes.get_subplotspec()
    return place.rowspan.start if place else 0


def red_line(label: str) -> Line2D:
    """The legend's entry for the red line."""
    return Line2D([], [], color=RED, linewidth=1.5, dashes=(4, 1.5), label=label)
