"""Results of experiments: a table to read, the same as JSON for programs."""

import math
from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

import numpy as np
from llr_client import State
from rich import box
from rich.console import Console
from rich.table import Table

from llr_cli.replay.experiments import AUTO, Experiment

WORDS = ("stream", "algorithm", "outcome")
NUMBERS = ("eta0", "t", "theta\nerror", "learnt\neta", "mean\nloss", "regret\nml")
HEADERS = (*WORDS[:2], *NUMBERS, "regret\nbest\nfixed", WORDS[2])

NOTES = {
    "theta error": "distance from the truth, over the truth's norm if that is not 0",
    "learnt eta": "sg divides it by sqrt(t+2) log(t+3) at each step, svrg does not",
    "mean loss": "of each sample before it is learnt: early mistakes stay in it",
    "regret ml": "loss beyond that of the best theta for the samples before each",
    "best fixed": "loss beyond that of the one theta that is best for all samples",
}
DIVERGED = "the next step would leave the finite numbers; the session stays before it"


class Result(NamedTuple):
    """An experiment and its session afterwards."""

    experiment: Experiment
    state: State

    @property
    def outcome(self) -> str:
        """Whether all samples were learnt."""
        return "learnt" if self.state.t >= self.experiment.samples else "diverged"

    @property
    def error(self) -> float:
        """‖θ − truth‖, over ‖truth‖ where that is not 0."""
        truth = self.experiment.source().truth
        distance = np.ravel(np.asarray(self.state.theta, dtype=np.float64)) - truth
        return math.hypot(*distance) / (math.hypot(*truth) or 1.0)

    def members(self) -> dict[str, Any]:
        """As JSON has it; numbers are finite or null."""
        loss, regret = self.state.loss, self.state.regret
        return {
            "session": self.state.name,
            "stream": self.experiment.stream,
            "algorithm": self.experiment.algorithm,
            "eta0": self.experiment.eta0,
            "t": self.state.t,
            "theta_error": self.error if math.isfinite(self.error) else None,
            "eta": self.state.eta,
            "mean_loss": loss.mean,
            "regret": {"ml": regret.ml, "best_fixed": regret.best_fixed},
            "outcome": self.outcome,
        }


def report(console: Console, results: list[Result]) -> None:
    """Print the table, what its columns mean, and what befell whoever diverged."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=0)
    for header in HEADERS:
        side: Literal["left", "right"] = "left" if header in WORDS else "right"
        table.add_column(header, justify=side, overflow="fold")
    for row, following in zip(results, [*results[1:], None], strict=True):
        last = following is None or following.experiment.stream != row.experiment.stream
        table.add_row(*cells(row), end_section=last)
    notes = Table.grid("", "", padding=(0, 2, 0, 0))
    for name, meaning in NOTES.items():
        notes.add_row(name, meaning, style="dim")
    if any(row.experiment.algorithm == AUTO for row in results):
        notes.add_row(AUTO, "needs no eta0; predicts with an intercept beside theta", style="dim")
    if any(row.outcome == "diverged" for row in results):
        notes.add_row("diverged", DIVERGED, style="red")
    console.print(table, "", notes, highlight=False)


def cells(row: Result) -> list[str]:
    """A row of the table as text."""
    state, regret = row.state, row.state.regret
    numbers = (row.error, state.eta, state.loss.mean, regret.ml, regret.best_fixed)
    start = [row.experiment.stream, row.experiment.algorithm, figure(row.experiment.eta0)]
    return [*start, str(state.t), *map(figure, numbers), row.outcome]


def summary(results: Iterable[Result]) -> str:
    """How many sessions there are and what became of them."""
    outcomes = [result.outcome for result in results]
    learnt, diverged = outcomes.count("learnt"), outcomes.count("diverged")
    sessions = "1 session" if len(outcomes) == 1 else f"{len(outcomes)} sessions"
    return f"{sessions}: {learnt} learnt all of their samples, {diverged} diverged on the way"


def figure(x: float | None) -> str:
    """A number in at most eight characters.

    >>> [figure(x) for x in (0.01583, 30635.8, 1e-4, 4.118e65, 3.5384e-57, None)]
    ['0.0158', '30636', '1e-4', '4.1e65', '3.5e-57', '-']
    """
    if x is None:
        return "-"
    if not math.isfinite(x):
        return str(x)
    if x == 0.0 or 1e-3 <= abs(x) < 1e6:
        return f"{x:.0f}" if abs(x) >= 100.0 else f"{x:.3g}"
    digits, _, exponent = f"{x:.1e}".partition("e")
    return f"{digits.removesuffix('.0')}e{int(exponent)}"
