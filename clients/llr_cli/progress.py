"""How far a push has come, for those who watch it and for the line at its end."""

import json
import time
from dataclasses import asdict
from typing import Any

from llr_client import Answer, LLRError, State
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from llr_cli.formats import Part


class Pushing:
    """A push under way.

    Args:
        name: the session.
        patience: seconds that a service which is away is waited for.

    Attributes:
        before: samples the service had when the push began.
        sent: samples it learnt since.
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
        """The file is open, and the service has so much of it; None if that has no meaning."""
        self.before, self._began = before or 0, time.monotonic()
        self._goes_on = before is not None
        self._bar.update(self._task, total=total)
        self._bar.start_task(self._task)
        if before:
            self._say(f"{before:,} samples were sent before: going on after them")

    def learnt(self, part: Part, answer: Answer) -> None:
        """A part is on disk."""
        self.sent += part.n
        if self._away:
            self._away = False
            self._say("the service answers again")
        told = f"{self.sent:,} samples, {self.rate:,.0f}/s, η {answer.eta:.3g}"
        self._bar.update(self._task, completed=part.done, told=told)

    def waiting(self, error: LLRError, _seconds: float) -> None:
        """The service is away; said once each time."""
        if not self._away:
            self._away = True
            self._say(f"{error}; trying again for {self._patience:.0f} s")

    @property
    def rate(self) -> float:
        """Samples a second."""
        return self.sent / max(time.monotonic() - self._began, 1e-3)

    def hint(self) -> str:
        """What to add to the reason of an early end."""
        learnt = self.sent + self.before
        if not learnt:
            return ""
        then = ", the same command goes on there" if self._goes_on else ""
        return f"; {learnt:,} samples are learnt{then}"

    def report(self, state: State, as_json: bool) -> None:
        """The line at the end."""
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
