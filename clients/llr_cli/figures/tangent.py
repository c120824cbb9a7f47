"""How good the tangent h is: h_t against the exact A_t, and the step sizes learnt from either.

h_t of SG/AG stands for A_t(η_t), the derivative of θ_t with respect to log η had η been η_t all
along. `llr.exact` computes A_t from the beginning at every sample, and `llr.exact.ExactSG` learns η
from it.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
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
from llr_cli.figures.panels import INK, STREAMS, band, colour, curve, legend, panels
from llr_cli.replay.experiments import MODELS, Experiment, samples, shown
from llr_cli.replay.runs import Runs

AT_ONCE = 2
STARTS = (1e-4, 1e-2)
"""A first step size far below the best one, and one near it or above."""
MAX_SAMPLES = 1000
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
    title = f"The tangent h of SG/AG against the exact derivative A{over_seeds(runs)}"
    figure, grid = panels(title, rows=2, columns=len(MODELS), share="none", samples="col")
    for (above, below), stream in zip(grid.T, MODELS, strict=True):
        above.set_title(STREAMS[stream])
        above.set_ylabel(TANGENT[stream])
        above.axhline(0.0, color="#8c959f", linewidth=0.8, gid="zero")
        below.set_xscale("log")
        below.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.0f}"))
        below.set_xlabel("samples, logarithmic")
        for eta0, found in comparisons(runs, stream):
            beside(above, [one.h for one in found], [one.A for one in found], eta0)
            log_eta = [one.log_eta / np.log(10.0) for one in found]
            beside(below, log_eta, [one.exact / np.log(10.0) for one in found], eta0)
    grid[1, 0].set_ylabel("log₁₀ η")
    legend(
        figure,
        STARTS,
        Line2D([], [], color=INK, label="h; η learnt from h, as SG/AG does"),
        Line2D([], [], color=INK, linewidth=1.4, dashes=DASHES, label="A; η learnt from A"),
    )
    return figure


def beside(axes: Axes, approximate: list[Vector], exact: list[Vector], eta0: float) -> None:
    """One curve solid, and dashed the exact one: medians, and quartiles as a band."""
    for found, dashed in ((approximate, False), (exact, True)):
        rows = np.array([each[: min(map(len, found))] for each in found])
        low, middle, high = np.percentile(rows, [25, 50, 75], axis=0, method="nearest")[:, 1:]
        t = np.arange(1, middle.size + 1)
        if len(found) > 1:
            band(axes, t, low, high, eta0)
        if dashed:
            style = {"color": colour(eta0), "linewidth": 1.4, "dashes": DASHES, "gid": "exact"}
            axes.plot(t, middle, **style)
        else:
            curve(axes, t, middle, eta0)


def comparisons(runs: Runs, stream: str) -> Iterator[tuple[float, list[Comparison]]]:
    """The comparisons on a stream, one a seed, from each start.

    They go over as many samples as its runs have, `MAX_SAMPLES` at most.
    """
    here = [run for run in runs if run.experiment.stream == stream]
    longest = min(max((run.t.item(-1) for run in here), default=0), MAX_SAMPLES)
    for eta0 in STARTS if longest else ():
        with ThreadPoolExecutor(AT_ONCE) as pool:
            jobs = [pool.submit(compare, stream, seed, eta0, longest) for seed in seeds_of(runs)]
            yield eta0, [job.result() for job in jobs]


def seeds_of(runs: Runs) -> list[int]:
    """The seeds that the runs are of, or are medians of."""
    return sorted({seed for run in runs for seed in run.seeds or (run.experiment.seed,)})


def over_seeds(runs: Runs) -> str:
    """The end of the title."""
    seeds = seeds_of(runs)
    return (
        f"\nmedian and quartiles of {len(seeds)} seeds" if len(seeds) > 1 else f", seed {seeds[0]}"
    )


@lru_cache(maxsize=256)
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
