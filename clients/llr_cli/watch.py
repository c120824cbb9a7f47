"""`llr watch`: shows a session live."""

import json
import time
from collections import deque
from dataclasses import asdict
from itertools import islice
from typing import Annotated

import typer
from llr_client import LLRError, State
from rich.console import Console, Group
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from llr_cli.formatting import format_theta, sparkline
from llr_cli.options import DEFAULT_URL, AsJson, Key, SessionName, Url, open_client

MAX_STATES = 500
LARGEST = 5
"""The most named features that are shown."""
PATIENCE = 3600.0


class View:
    """The view of a session, live or line by line."""

    def __init__(self, live: bool) -> None:
        self.live = live
        self._states: deque[tuple[float, State]] = deque(maxlen=MAX_STATES)
        self._trouble = ""

    def add(self, state: State) -> None:
        """Add a state."""
        self._states.append((time.monotonic(), state))
        self._trouble = ""

    def report_lost(self, error: LLRError, _seconds: float = 0.0) -> None:
        """Show that the connection broke and is retried; in a pipe once, on stderr."""
        if not self.live and not self._trouble:
            typer.echo(f"llr: {error}; trying again", err=True)
        self._trouble = str(error)

    @property
    def rate(self) -> float:
        """Samples per second over the last states."""
        recent = list(self._states)[-40:]
        if len(recent) < 2:
            return 0.0
        (began, first), (_, last) = recent[0], recent[-1]
        return max(0.0, (last.t - first.t) / max(time.monotonic() - began, 1e-3))

    def line(self) -> str:
        """The last state in one line."""
        state = self._states[-1][1]
        return (
            f"t {state.t:,}  η {state.eta:.4g}  recent loss {_number(state.loss.recent)}"
            f"  regret {_number(state.regret.ml)}  {self.rate:,.0f}/s  {state.status}"
            f"{_drift(state)}"
        )

    def __rich__(self) -> Panel:
        if not self._states:
            return Panel(Text(self._trouble or "waiting for the first state"))
        state = self._states[-1][1]
        width = max(10, Console().width - 30)
        charts = Table.grid("", "", "", padding=(0, 1))
        charts.add_row("log η", self._chart("log_eta", width), _number(state.log_eta))
        charts.add_row("recent loss", self._chart("loss", width), _number(state.loss.recent))
        if isinstance(state.theta, dict) and state.theta:
            charts.add_row("θ", format_theta(state.theta, LARGEST), f"of {len(state.theta):,}")
        trouble = [Text(self._trouble, "red")] if self._trouble else []
        size = f"dim {state.dim}"
        if state.features is not None:
            size = f"{state.features.known:,} named features"
        title = f"{state.name}: {state.model}, {state.algorithm}, {size}"
        return Panel(Group(Text(self.line()), charts, *trouble), title=Text(title))

    def _chart(self, member: str, width: int) -> str:
        states = [state for _, state in self._states]
        values = [s.loss.recent if member == "loss" else s.log_eta for s in states]
        return sparkline(values, width)


def watch(
    name: SessionName,
    count: Annotated[int | None, typer.Option(min=1, help="Stop after this many states.")] = None,
    as_json: AsJson = False,
    url: Url = DEFAULT_URL,
    key: Key = None,
) -> None:
    """Watch a session until Ctrl-C or its deletion. In a pipe every state is a line.

    Example: llr watch demo
    """
    console = Console()
    view = View(live=console.is_terminal and not as_json)
    with open_client(url, key) as client:
        client.session(name).state()  # a wrong name or address fails at once
    with open_client(url, key, PATIENCE, view.report_lost) as client:
        states = islice(client.session(name).events(), count)
        if not view.live:
            for state in states:
                view.add(state)
                typer.echo(json.dumps(asdict(state)) if as_json else view.line())
            return
        with Live(view, console=console, refresh_per_second=10):
            for state in states:
                view.add(state)


def _drift(state: State) -> str:
    """The t of the last drift alarm, if there is one."""
    return f"  drift at {state.drift.at[-1]:,}" if state.drift and state.drift.at else ""


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.4g}"
