"""Trajectories over many seeds: the median of each first step size, and its quartiles."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from llr.types import Counts, Vector
from llr_cli.figures.panels import ALGORITHMS, STREAMS, THETA, colour, legend, panels
from llr_cli.figures.trajectories import BENDS
from llr_cli.replay.claims import CLOSE
from llr_cli.replay.ensemble import Course, Ensemble
from llr_cli.replay.experiments import DECADES, MODELS

ROWS = ("sg", "sg/sg", "sg/ag", "svrg/ag")
BEYOND = 1e6


def over_seeds(every: Ensemble) -> Figure:
    """A column a stream; SG, SG/SG as the paper labels its panels, SG/AG, SVRG/AG below it."""
    title = f"Trajectories over {every.seeds} seeds: median and quartiles"
    figure, grid = panels(title, len(ROWS), len(MODELS), share="col", samples="col")
    for row, algorithm in zip(grid, ROWS, strict=True):
        for axes, stream in zip(row, MODELS, strict=True):
            axes.set_title(f"{ALGORITHMS[algorithm]}, {STREAMS[stream]}", fontsize=9.5)
            if stream in BENDS:
                BENDS[stream].apply(axes)
            for eta0 in reversed(DECADES):
                _medians(axes, every.of(stream, algorithm, [eta0]), eta0)
        row[0].set_ylabel(THETA["gaussian"])
    legend(figure, DECADES)
    return figure


def caption(every: Ensemble) -> str:
    """What there is to see, counted in what is drawn."""
    counts = []
    for algorithm in ROWS:
        near = [sum(c.gap < CLOSE for c in every.of(stream, algorithm)) for stream in MODELS]
        counts.append(f"{ALGORITHMS[algorithm]} {', '.join(map(str, near))}")
    total = len(every.of(MODELS[0], ROWS[0]))
    return (
        f"Of {total} runs a stream (Gaussian, Bernoulli, regression) end within {CLOSE} of the"
        f" maximum likelihood: {'; '.join(counts)}."
    )


def _medians(axes: Axes, courses: list[Course], eta0: float) -> None:
    if not courses:
        return
    t = max((course.t for course in courses), key=len)
    low, middle, high = np.percentile(
        [_until(course, t) for course in courses], [25, 50, 75], axis=0, method="nearest"
    )
    axes.fill_between(t, low, high, color=colour(eta0), alpha=0.22, linewidth=0)
    axes.plot(t, middle, color=colour(eta0), linewidth=1.3)


def _until(course: Course, t: Counts) -> Vector:
    """The trajectory at these t; where it diverged it stays beyond the axis."""
    shown = np.clip(course.shown, -BEYOND, BEYOND)
    last = BEYOND if course.diverged else float(shown[-1])
    return np.interp(t, course.t, shown, right=last)
