"""Progress bars of pushes and of what-ifs, and their final lines."""

import json
import time
from dataclasses import asdict
from typing import Any

from llr_client import Answer, LLRError, Session, State
from llr_client.answers import Relearning
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)

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
            self._say(f"{before:,} samples were sent before: going on after them")

    def learnt(self, batch: Batch, answer: Answer) -> None:
        """Count a batch that is on disk."""
        self.sent += batch.n
        if self._away:
            self._away = False
            self._say("the service answers again")
        told = f"{self.sent:,} samples, {self.rate:,.0f}/s, η {answer.eta:.3g}"
        self._bar.update(self._task, completed=batch.done, told=told)

    def waiting(self, error: LLRError, _seconds: float) -> None:
        """Report, once per outage, that the service is unreachable."""
        if not self._away:
            self._away = True
            self._say(f"{error}; trying again for {self._patience:.0f} s")

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

    def report(self, state: State, as_json: bool) -> None:
        """Print the final line."""
        if as_json:
            known = asdict(state)
            shown: dict[str, Any] = {"sent": self.sent, "before": self.before}
            shown |= {name: known[name] for name in ("name", "t", "eta", "loss", "regret")}
            Console().print_json(json.dumps(shown))
            return
        mean = "none" if state.loss.mean is None else f"{state.loss.mean:.4g}"
        there = f", {self.before:,} were there" if self.before else ""
        Console().print(
            f"{self.name}: {self.sent:,} samples sent{there}, {self.rate:,.0f}/s;"
            f" t {state.t:,}, η {state.eta:.4g}, mean loss {mean}",
            highlight=False,
            soft_wrap=True,
        )

    def _say(self, line: str) -> None:
        self._bar.console.print(line, highlight=False, soft_wrap=True)


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
