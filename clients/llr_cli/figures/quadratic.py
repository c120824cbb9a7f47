"""The steep quadratic: how fast η comes down to where the ascent is stable."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from llr.types import Counts, Vector
from llr_cli.figures.panels import ALGORITHMS, INK, RED, panels
from llr_cli.replay.experiments import FIXED, LEARNT, STEEP, Experiment
from llr_cli.replay.runs import Runs

BLUE = "#0550ae"
ALPHA = 1e8


def quadratic(runs: Runs) -> Figure:
    """SG and SG/AG on the left, SVRG and SVRG/AG on the right."""
    title = "Quadratic model, $\\alpha = 10^8$, from $\\eta_0 = 10^{-4}$"
    figure, grid = panels(title, rows=1)
    for axes, fixed, learnt in zip(grid[0], FIXED, LEARNT, strict=True):
        axes.set_title(f"{ALGORITHMS[fixed]} and {ALGORITHMS[learnt]}")
        axes.axhline(-np.log10(ALPHA), color=INK, linewidth=1.0, dashes=(1, 2))
        for run in runs.of("quadratic", learnt, is_steep):
            axes.plot(run.t, stability(run.log_eta, run.t), color=BLUE, linewidth=1.6)
            if fixed == "svrg":  # R7: no f(t) in its step
                axes.plot(run.t, undamped(run.log_eta), color=BLUE, linewidth=1.2, dashes=(5, 2))
        for run in runs.of("quadratic", fixed, is_steep):
            original(axes, run.t, run.log_eta, run.experiment.samples, run.diverged)
            if fixed == "svrg":
                rest = np.arange(run.experiment.samples + 1)
                own = undamped(np.full(rest.size, run.log_eta[-1]))
                axes.plot(rest, own, color=RED, linewidth=1.2, dashes=(5, 2), gid="own")
    grid[0, 0].set_ylabel("$\\log_{10}\\,(\\eta_t\\,/\\,2\\sqrt{t+2}\\,\\log(t+3))$")
    figure.legend(handles=handles(), loc="outside lower center", ncols=3, fontsize=9.5)
    return figure


def is_steep(experiment: Experiment) -> bool:
    """Whether it starts where the figure does; the claims try other fixed step sizes as well."""
    return experiment.eta0 == STEEP


def stability(log_eta: Vector, t: Counts) -> Vector:
    """log10(η/2f(t)), which has to be below −log10(α) for SG to be stable."""
    damping = np.sqrt(t + 2.0) * np.log(t + 3.0)
    return np.asarray(log_eta / np.log(10.0) - np.log10(2.0 * damping))


def undamped(log_eta: Vector) -> Vector:
    """log10(η/2), which has to be below −log10(α) for SVRG to be stable."""
    return np.asarray(log_eta / np.log(10.0) - np.log10(2.0))


def original(axes: Axes, t: Counts, log_eta: Vector, samples: int, diverged: bool) -> None:
    """A fixed step size: as far as it came, and dashed as it would go on."""
    axes.plot(t, stability(log_eta, t), color=RED, linewidth=1.6)
    if diverged:
        axes.plot(t[-1:], stability(log_eta, t)[-1:], "x", color=RED, markersize=7)
        rest = np.arange(t[-1], samples + 1)
        later = stability(np.full(rest.size, log_eta[-1]), rest)
        axes.plot(rest, later, color=RED, linewidth=1.2, dashes=(4, 2))


def handles() -> list[Line2D]:
    """The legend."""
    return [
        Line2D([], [], color=RED, linewidth=1.6, label="original, η = η₀"),
        Line2D([], [], color=RED, marker="x", dashes=(4, 2), label="diverged; as it would go on"),
        Line2D([], [], color=BLUE, linewidth=1.6, label="LLR version"),
        Line2D([], [], color=BLUE, linewidth=1.2, dashes=(5, 2), label="its own η/2 (SVRG/AG)"),
        Line2D([], [], color=RED, linewidth=1.2, dashes=(5, 2), label="its own η/2 (SVRG)"),
        Line2D([], [], color=INK, dashes=(1, 2), label="$\\alpha^{-1}$: stable below"),
    ]
