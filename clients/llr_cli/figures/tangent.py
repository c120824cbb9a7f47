"""How good the tangent h is: h_t against the exact A_t, and the step sizes learnt from either.

h_t of SG/AG stands for A_t(η_t), the derivative of θ_t with respect to log η had η been η_t all
along. `llr.exact` computes A_t from the beginning at every sample, and `llr.exact.ExactSG` learns η
from it.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter

from llr import Learner
from llr.exact import ExactSG, along
from llr.types import Vector
from llr_cli.figures.panels import INK, STREAMS, colour, curve, legend, panels
from llr_cli.replay.experiments import MODELS, Experiment, samples, shown
from llr_cli.replay.runs import Runs

STARTS = (1e-4, 1e-2)
"""A first step size far below the best one, and one near it or above."""
MAX_SAMPLES = 2500
TANGENT = {"gaussian": "h and A", "bernoulli": "h and A", "regression": "first entry of hᵀM, AᵀM"}
DASHES = (3, 1.5)


class Comparison(NamedTuple):
    """SG/AG from one first step size beside the exact derivative, sample by sample.

    Attributes:
        eta0: η_0.
        h: the tangent before each sample; for the regression the first entry of hᵀM.
        A: A_t(η_t) along the η of SG/AG, shown like h.
        log_eta: log η before each sample, learnt from h.
        exact: log η before each sample, learnt from A by `ExactSG`.
    """

    eta0: float
    h: Vector
    A: Vector
    log_eta: Vector
    exact: Vector


def tangent(runs: Runs) -> Figure:
    """A column a stream: h and A above, the step sizes learnt from them below."""
    title = f"The tangent h of SG/AG against the exact derivative A, seed {seed_of(runs)}"
    figure, grid = panels(title, rows=2, columns=len(MODELS), share="none", samples="col")
    for (above, below), stream in zip(grid.T, MODELS, strict=True):
        above.set_title(STREAMS[stream])
        above.set_ylabel(TANGENT[stream])
        above.axhline(0.0, color="#8c959f", linewidth=0.8, gid="zero")
        below.set_xscale("log")
        below.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.0f}"))
        below.set_xlabel("samples, logarithmic")
        for one in comparisons(runs, stream):
            beside(above, one.h, one.A, one.eta0)
            beside(below, one.log_eta / np.log(10.0), one.exact / np.log(10.0), one.eta0)
    grid[1, 0].set_ylabel("log₁₀ η")
    legend(
        figure,
        STARTS,
        Line2D([], [], color=INK, label="h; η learnt from h, as SG/AG does"),
        Line2D([], [], color=INK, linewidth=1.4, dashes=DASHES, label="A; η learnt from A"),
    )
    return figure


def beside(axes: Axes, approximate: Vector, exact: Vector, eta0: float) -> None:
    """One curve solid, and dashed the exact one; from the first sample on."""
    curve(axes, np.arange(1, approximate.size), approximate[1:], eta0)
    dashed = {"color": colour(eta0), "linewidth": 1.4, "dashes": DASHES, "gid": "exact"}
    axes.plot(np.arange(1, exact.size), exact[1:], **dashed)


def comparisons(runs: Runs, stream: str) -> Iterator[Comparison]:
    """The comparisons on a stream, over as many samples as its runs have, 2,500 at most."""
    longest = max((int(r.t[-1]) for r in runs if r.experiment.stream == stream), default=0)
    for eta0 in STARTS if longest else ():
        yield compare(stream, seed_of(runs), eta0, min(longest, MAX_SAMPLES))


def seed_of(runs: Runs) -> int:
    """The first of the seeds."""
    return min((run.experiment.seed for run in runs), default=0)


@lru_cache(maxsize=16)
def compare(stream: str, seed: int, eta0: float, n: int) -> Comparison:
    """Learn n samples with SG/AG and with `ExactSG`, and compute A along the η of SG/AG."""
    experiment = Experiment(stream, "sg/ag", eta0, n, seed)
    source, columns = experiment.source(), samples(stream, seed, n)
    learner = Learner(source.model, source.dim, "sg/ag", eta0, source.theta0)
    h, log_eta = np.empty((n, source.dim)), np.empty(n)
    for t in range(n):
        h[t], log_eta[t] = learner.h, learner.log_eta
        if not learner.learn(*(column[t : t + 1] for column in columns)):
            h, log_eta, columns = h[:t], log_eta[:t], tuple(column[:t] for column in columns)
            break
    exact = ExactSG(source.model, eta0, source.theta0)
    exact.learn(*columns)
    theta0 = np.full(source.dim, source.theta0)
    A = along(source.model, *columns, etas=np.exp(log_eta), theta0=theta0).A
    return Comparison(eta0, shown(source, h), shown(source, A), log_eta, exact.log_etas[:n])
