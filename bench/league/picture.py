"""The picture of the product: regret against the step size one has to choose, and `auto`'s line.

Above, one line a learner: the geometric mean, over the five streams whose truth stays, of its
regret by that of `auto` on the same seeds. Below, the regret on each of the five.
"""

import math
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("agg")
from matplotlib import pyplot as plt
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from bench.league import drifting, score
from bench.league.ours import FIXED
from bench.league.rounds import AUTO
from bench.league.score import Results

SHOWN = {
    FIXED: ("plain SG, η/f(t)", "#0072B2"),
    "sg/ag": ("the paper's sg/ag", "#56B4E9"),
    "river AdaGrad": ("river AdaGrad", "#E69F00"),
    "VW": ("Vowpal Wabbit", "#009E73"),
    "VW --coin": ("VW --coin", "#999933"),
    "Schedule-Free AdamW": ("Schedule-Free AdamW", "#CC79A7"),
    "Prodigy": ("Prodigy", "#D55E00"),
}
"""Whose lines are named: name, and a colour that everybody can tell apart (after Okabe & Ito)."""

TITLES = {
    "gaussian": "mean of a gaussian",
    "bernoulli": "a coin",
    "linear": "regression, 50 features",
    "scales": "features of scales 10⁻²…10²",
    "logistic": "logistic, 20 features",
}
INK, GREY, PALE = "#000000", "#595959", "#D4D4D4"
LOW, HIGH = 0.5, 2e4


def ratios(results: Results, learner: str) -> tuple[list[float], list[float]]:
    """Step sizes that were tried on every stream, and the mean ratio of regrets at each."""
    curves = {name: results.curve(learner, name) for name in drifting.STATIONARY}
    rates = sorted(set.intersection(*(set(of) for of in curves.values())))
    ours = {
        name: _shown(results.regret(AUTO, name, results.sweeps[learner, name].seeds))
        for name in curves
    }
    return rates, [_mean([score.ratio(curves[n][rate], ours[n]) for n in ours]) for rate in rates]


def _shown(regret: float) -> float:
    """A regret below 0 counts as 0, as in `score.ratio`."""
    return max(regret, 0.0)


def _mean(each: list[float]) -> float:
    return score.geometric_mean(each) if max(each) < math.inf else math.inf


def draw(results: Results, folder: Path) -> list[Path]:
    """Draw it as PNG and SVG; returns the paths."""
    mpl.rcParams.update({"font.family": "DejaVu Sans", "font.size": 9, "svg.hashsalt": "llr"})
    figure = plt.figure(figsize=(10.0, 7.6), layout="constrained")
    grid = figure.add_gridspec(2, 5, height_ratios=[2.4, 1.0])
    _draw_mean(figure.add_subplot(grid[0, :]), results)
    for column, name in enumerate(drifting.STATIONARY):
        _draw_stream(figure.add_subplot(grid[1, column]), results, name)
    paths = [folder / "regret.png", folder / "regret.svg"]
    for path in paths:
        figure.savefig(path, dpi=150, metadata={"Date": None} if path.suffix == ".svg" else None)
    plt.close(figure)
    return paths


def _draw_mean(axes: Any, results: Results) -> None:
    lines = {who: ratios(results, who) for who in results.swept()}
    for who in lines.keys() - SHOWN.keys():
        axes.plot(*lines[who], color=PALE, linewidth=1.0, zorder=1)
    for who, (name, colour) in SHOWN.items():
        if who in lines:
            axes.plot(*lines[who], color=colour, linewidth=2.2, zorder=2, label=name)
    if any(who in lines for who in SHOWN):
        axes.legend(loc="lower left", bbox_to_anchor=(0.0, 0.1), ncols=4, frameon=False, size=10)
    axes.axhline(1.0, color=INK, linewidth=3.5, zorder=3)
    axes.text(1.5e-10, 0.93, "auto: nothing to choose", color=INK, size=12, weight="bold", va="top")
    axes.text(9e9, 0.93, "grey: every other learner", color=GREY, va="top", ha="right")
    _frame(axes, 5)
    axes.set_ylim(LOW, HIGH)
    axes.set_xlabel("step size η₀ given to the learner, one for all five streams")
    axes.set_ylabel("regret, as a multiple of auto's")
    axes.set_title(
        "Every learner but one has a step size to get right", loc="left", size=14, weight="bold"
    )
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g}×"))


def _draw_stream(axes: Any, results: Results, name: str) -> None:
    """The regret itself, eased by 2 so that it has a logarithm."""
    for who in results.swept():
        curve = results.curve(who, name)
        values = [_shown(regret) + score.EASE for regret in curve.values()]
        colour = SHOWN[who][1] if who in SHOWN else PALE
        axes.plot(list(curve), values, color=colour, linewidth=1.2, zorder=2 if who in SHOWN else 1)
    ours = _shown(results.regret(AUTO, name)) + score.EASE
    tuned = [_shown(results.tuned(who, name).value) + score.EASE for who in results.swept()]
    axes.axhline(ours, color=INK, linewidth=2.2, zorder=3)
    _frame(axes, 10)
    axes.set_ylim(min(1.0, ours / 2.0), 30.0 * max([ours, *filter(math.isfinite, tuned)]))
    axes.set_title(TITLES[name], size=9, loc="left")
    if name == drifting.STATIONARY[0]:
        axes.set_ylabel("regret + 2")


def _frame(axes: Any, every: int) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(1e-10, 1e10)
    axes.xaxis.set_major_locator(LogLocator(10.0**every, numticks=9))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_minor_locator(NullLocator())
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(color="#EEEEEE", linewidth=0.8, zorder=0)
