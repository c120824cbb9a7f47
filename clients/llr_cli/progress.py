"""Progress bars of pushes and of what-ifs, and their final lines."""

import json
import time
from dataclasses import asdict
from typing import Any

import typer
from llr_client import Answer, LLRError, Session, State
from llr_client.answers import Metrics, Relearning
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)

from llr_cli.bad_rows import BadRows
from llr_cli.formats import Batch


class PushProgress:
    """The progress of a push.

    Args:
        name: the session.
        patience: seconds of retries when the service is unreachable.

    Attributes:
        before: samples the service had at the start.
        sent: samples it has learnt since.
    """

    def __init__(self, name: str, patience: float) -> None:
        self.name, self.before, self.sent = name, 0, 0
        self._patience, self._began = patience, time.monotonic()
        self._away = self._goes_on = False
        console = Console(stderr=True)
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.fields[told]}"),
            TimeRemainingColumn(compact=True),
            console=console,
            disable=not console.is_interactive,
        )
        self._task = self._bar.add_task(name, start=False, told="")

    def __enter__(self) -> None:
        self._bar.start()

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def begin(self, before: int | None, total: int | None) -> None:
        """Start; `before` is the number of the file's samples that the service has, if known."""
        self.before, self._began = before or 0, time.monotonic()
        self._goes_on = before is not None
        self._bar.update(self._task, total=total)
        self._bar.start_task(self._task)
        if before:
            self.say(f"{before:,} samples were sent before: going on after them")

    def learnt(self, batch: Batch, answer: Answer | None) -> None:
        """Count a batch that is on disk; without an answer it had no good row."""
        self.sent += batch.n
        if self._away:
            self._away = False
            self.say("the service answers again")
        told = f"{self.sent:,} samples, {self.rate:,.0f}/s"
        if answer is not None:
            told += f", recent loss {_number(answer.loss.recent)}"
        self._bar.update(self._task, completed=batch.done, told=told)

    def waiting(self, error: LLRError, _seconds: float) -> None:
        """Report, once per outage, that the service is unreachable."""
        if not self._away:
            self._away = True
            self.say(f"{error}; trying again for {self._patience:.0f} s")

    @property
    def rate(self) -> float:
        """Samples a second."""
        return self.sent / max(time.monotonic() - self._began, 1e-3)

    def hint(self) -> str:
        """A hint to append to the reason of an early end."""
        learnt = self.sent + self.before
        if not learnt:
            return ""
        then = ", the same command goes on there" if self._goes_on else ""
        return f"; {learnt:,} samples are learnt{then}"

    def report(self, state: State, as_json: bool, bad: BadRows) -> None:
        """Print the final line."""
        if as_json:
            known = asdict(state)
            shown: dict[str, Any] = {"sent": self.sent, "before": self.before} | bad.members()
            names = ("name", "t", "eta", "loss", "regret", "metrics")
            shown |= {name: known[name] for name in names}
            typer.echo(json.dumps(shown, indent=2))
            return
        there = f", {self.before:,} were there" if self.before else ""
        typer.echo(
            f"{self.name}: {self.sent:,} samples sent{there}{bad.summary()}, {self.rate:,.0f}/s;"
            f" t {state.t:,}, recent loss {_number(state.loss.recent)}{_quality(state.metrics)}"
        )

    def say(self, line: str) -> None:
        """Print a line on stderr, above the bar."""
        self._bar.console.print(line, highlight=False, soft_wrap=True)


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.4g}"


def _quality(metrics: Metrics | None) -> str:
    """The recent RMSE or accuracy beside the baseline's; empty if it is unknown.

    >>> from llr_client.answers import BaselineMetrics, Measure
    >>> _quality(Metrics(rmse=Measure(0.5, 0.7), baseline=BaselineMetrics(rmse=Measure(2.0, 2.1))))
    ', recent RMSE 0.5 (baseline 2)'
    """
    base = metrics.baseline if metrics is not None else None
    for label, name in (("RMSE", "rmse"), ("accuracy", "accuracy")):
        own, other = getattr(metrics, name, None), getattr(base, name, None)
        if own is not None and own.recent is not None:
            beside = f" (baseline {_number(other.recent)})" if other is not None else ""
            return f", recent {label} {_number(own.recent)}{beside}"
    return ""


class RelearnProgress:
    """The progress of one what-if."""

    def __init__(self, name: str) -> None:
        self._name, self._goes_on = name, False
        console = Console(stderr=True)
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(compact=True),
            console=console,
            disable=not console.is_interactive,
        )
        self._task = self._bar.add_task(name, total=None)

    def wait(self, session: Session) -> State:
        """Wait until it has learnt all samples; returns its state."""
        self._goes_on = True
        with self._bar:
            return session.relearnt(self._update)

    def hint(self) -> str:
        """A hint to append to the reason of an early end."""
        if not self._goes_on:
            return ""
        return f"; {self._name} goes on in the service: see llr sessions show {self._name}"

    def _update(self, relearning: Relearning) -> None:
        self._goes_on = relearning.stopped is None and relearning.done < relearning.of
        self._bar.update(self._task, completed=relearning.done, total=relearning.of)
