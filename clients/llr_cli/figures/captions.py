"""Captions of the figures, counted in the runs that they are drawn from.

A figure may show medians; its caption counts the single runs, each of one seed.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

from llr_cli.figures.panels import ALGORITHMS, is_decade, pairs_of
from llr_cli.figures.quadratic import is_steep
from llr_cli.figures.tangent import MAX_SAMPLES, Comparison, comparisons
from llr_cli.replay.claims import CLOSE, spread
from llr_cli.replay.experiments import AUTO, DECADES, FIXED, LEARNT, MODELS, power
from llr_cli.replay.runs import PLAIN, Run, Runs

ORDER = (*FIXED, *LEARNT, *PLAIN)
POOR = 10.0
"""A step size this many times too small or too large is poor."""


def trajectories(runs: Runs, stream: str) -> str:
    """How many runs end near the maximum likelihood, and how many diverged."""
    found = _by_algorithm(runs, stream, ORDER)
    near = _counts(found, lambda run: run.gap < CLOSE)
    gone = {name: [r for r in group if r.diverged] for name, group in found.items()}
    lost = [f"{ALGORITHMS[name]} {len(group)}" for name, group in gone.items() if group]
    diverged = f" Diverged: {', '.join(lost)}." if lost else " No run diverged."
    smooth = any(len(run.shown) and not len(run.low) for group in found.values() for run in group)
    hidden = (
        " Between the points kept a session has no range of θᵀM: oscillations show as the lines"
        " between every so many samples."
    )
    shown = hidden if smooth else ""
    return f"Runs that end within {CLOSE} of the maximum likelihood: {near}.{diverged}{shown}"


def regrets(runs: Runs, stream: str) -> str:
    """The regret at the end, and how many runs have stopped paying."""
    found = _by_algorithm(runs, stream, ORDER)
    ends = [f"{ALGORITHMS[a]} {spread(r.end for r in group)}" for a, group in found.items()]
    still = _counts(found, lambda run: run.rise < 0.1 * max(run.at_half(run.regret), 1.0))
    return (
        f"Regret at the end, median and quartiles of all runs: {'; '.join(ends)}. The second half"
        f" adds less than a tenth: {still}."
    )


def step_sizes(runs: Runs, stream: str) -> str:
    """How many step sizes have settled, and where they are."""
    found = _by_algorithm(runs, stream, (*LEARNT, *PLAIN))
    settled = _counts(
        found, lambda run: abs(run.log_eta[-1] - run.at_half(run.log_eta)) < math.log(2.0)
    )
    ends = [
        f"{ALGORITHMS[a]} {spread(math.exp(r.log_eta[-1]) for r in group)}"
        for a, group in found.items()
    ]
    return (
        f"η changes less than 2 times over the second half: {settled}. It ends at"
        f" {'; '.join(ends)} (median and quartiles)."
    )


def hand_tuned(runs: Runs, stream: str) -> str:
    """How many poor starts end where the hand-tuned step size does."""
    parts = []
    medians = runs.medians()
    for fixed, learnt in pairs_of(runs, stream):
        best = medians.best(stream, fixed)
        if best is None or best.experiment.eta0 is None:
            continue
        eta = best.experiment.eta0
        tuned = {r.experiment.seed: r for r in _from(runs, stream, fixed, eta)}
        poor = [
            r
            for r in runs.of(stream, learnt, is_decade)
            if is_poor(r.experiment.eta0 or eta, eta) and r.experiment.seed in tuned
        ]
        near = sum(abs(r.last - tuned[r.experiment.seed].last) < CLOSE for r in poor)
        parts.append(
            f"{near} of {len(poor)} runs of {ALGORITHMS[learnt]} end within {CLOSE} of"
            f" {ALGORITHMS[fixed]} with η = {power(eta)}"
        )
    if not parts:
        return "No fixed step size came to the end."
    return f"From η₀ ten times off or more: {'; '.join(parts)}."


def quadratic(runs: Runs) -> str:
    """When the step size is stable, and where θ has been by then."""
    parts = []
    for algorithm in LEARNT:
        for run in runs.of("quadratic", algorithm, is_steep):
            first = first_stable(run)
            when = "is not stable within these samples" if first is None else f"at t = {first}"
            largest = np.nanmax(np.abs([run.low, run.high])) if len(run.low) else run.shown.max()
            parts.append(f"{ALGORITHMS[algorithm]} {when}, with |θ| up to {largest:.2g}")
    gone = [a for a in FIXED if any(run.diverged for run in runs.of("quadratic", a, is_steep))]
    fixed = f" Diverged with the fixed step: {', '.join(ALGORITHMS[a] for a in gone)}."
    return (
        f"The learnt step size comes below the stable 10⁻⁸: {'; '.join(parts)}."
        f"{fixed if gone else ''} SVRG and SVRG/AG do not divide by f(t): their own η/2 is dashed."
    )


def beside_auto(runs: Runs) -> str:
    """The regret of `auto` beside the best and the worst first step size of each algorithm."""
    parts = []
    for stream in MODELS:
        mine = [run.end for run in runs.of(stream, AUTO)]
        if not mine:
            continue
        medians = [
            float(np.median([r.end for r in group]))
            for a in LEARNT
            for x in DECADES
            if (group := _from(runs, stream, a, x))
        ]
        worst = max(medians)
        shown = "diverged" if math.isinf(worst) else f"{worst:.2g}"
        parts.append(f"{stream} {spread(mine)}, LLR {min(medians):.2g} to {shown} by η₀")
    return f"Regret at the end of auto, which is given no step size: {'; '.join(parts)}."


def tangent(runs: Runs) -> str:
    """How far h is from A, and how far apart the step sizes learnt from them end."""
    parts = []
    for stream in MODELS:
        for eta0, found in comparisons(runs, stream):
            off = spread(distance(one) for one in found)
            ratio = spread(math.exp(one.log_eta[-1] - one.exact[-1]) for one in found)
            parts.append(f"{stream} from {power(eta0)}: {off}, {ratio}")
    return (
        f"Over {MAX_SAMPLES:,} samples at most. The median of |h − A| against that of |A| over the"
        " second half, and how many times the η learnt from A the one learnt from h is at the end"
        f" (median and quartiles of the seeds): {'; '.join(parts)}."
    )


def distance(one: Comparison) -> float:
    """The median of |h − A| over the second half, against that of |A|."""
    half = slice(one.h.size // 2, None)
    return float(np.median(np.abs(one.h[half] - one.A[half])) / np.median(np.abs(one.A[half])))


def first_stable(run: Run) -> int | None:
    """The first t at which a learnt step is stable on the quadratic; SVRG has no f(t) (R7)."""
    damping = np.sqrt(run.t + 2.0) * np.log(run.t + 3.0)
    own = damping if run.experiment.algorithm.startswith("sg/") else np.ones_like(damping)
    stable = np.exp(run.log_eta) / (2.0 * own) < 1e-8
    return int(run.t[np.argmax(stable)]) if stable.any() else None


def is_poor(eta0: float, best: float) -> bool:
    """Whether a step size is far from the best one.

    >>> is_poor(1e-3, 1e-2), is_poor(1e-2, 5e-2), is_poor(1.0, 0.1)
    (True, False, True)
    """
    return max(eta0 / best, best / eta0) >= POOR * (1.0 - 1e-9)


def _by_algorithm(runs: Runs, stream: str, algorithms: Sequence[str]) -> dict[str, list[Run]]:
    found = {name: runs.of(stream, name, is_decade) for name in algorithms}
    return {name: group for name, group in found.items() if group}


def _from(runs: Runs, stream: str, algorithm: str, eta0: float) -> list[Run]:
    return runs.of(stream, algorithm, lambda experiment: experiment.eta0 == eta0)


def _counts(found: dict[str, list[Run]], passes: Callable[[Run], bool]) -> str:
    counted = (
        f"{ALGORITHMS[name]} {sum(map(passes, group))} of {len(group)}"
        for name, group in found.items()
    )
    return ", ".join(counted)
