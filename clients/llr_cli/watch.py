"""`llr watch`: a session as it moves."""

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

from llr_cli.connection import LOCAL, AsJson, Key, Named, Url, service
from llr_cli.largest import told
from llr_cli.sparkline import sparkline

KEPT = 500
LARGEST = 5
"""How many named features are shown."""
PATIENCE = 3600.0


class View:
    """What is known of a session while it is watched, live or line by line."""

    def __init__(self, live: bool) -> None:
        self.live = live
        self._states: deque[tuple[float, State]] = deque(maxlen=KEPT)
        self._trouble = ""

    def saw(self, state: State) -> None:
        """It moved."""
        self._states.append((time.monotonic(), state))
        self._trouble = ""

    def lost(self, error: LLRError, _seconds: float = 0.0) -> None:
        """The connection broke; it is being made again. In a pipe that is said on stderr, once."""
        if not self.live and not self._trouble:
            typer.echo(f"llr: {error}; trying again", err=True)
        self._trouble = str(error)

    @property
    def rate(self) -> float:
        """Samples a second, over what was seen of late."""
        recent = list(self._states)[-40:]
        if len(recent) < 2:
            return 0.0
        (began, first), (_, last) = recent[0], recent[-1]
        return max(0.0, (last.t - first.t) / max(time.monotonic() - began, 1e-3))

    def line(self) -> str:
        """The present in a line."""
        state = self._states[-1][1]
        return (
            f"t {state.t:,}  η {state.eta:.4g}  mean loss {_number(state.loss.mean)}"
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
        charts.add_row("mean loss", self._chart("loss", width), _number(state.loss.mean))
        if isinstance(state.theta, dict) and state.theta:
            charts.add_row("θ", told(state.theta, LARGEST), f"of {len(state.theta):,}")
        trouble = [Text(self._trouble, "red")] if self._trouble else []
        size = f"dim {state.dim}"
        if state.features is not None:
            size = f"{state.features.known:,} named features"
        title = f"{state.name}: {state.model}, {state.algorithm}, {size}"
        return Panel(Group(Text(self.line()), charts, *trouble), title=Text(title))

    def _chart(self, member: str, width: int) -> str:
        states = [state for _, state in self._states]
        values = [s.loss.mean if member == "loss" else s.log_eta for s in states]
        return sparkline(values, width)


def watch(
    name: Named,
    count: Annotated[int | None, typer.Option(min=1, help="End after so many states.")] = None,
    as_json: AsJson = False,
    url: Url = LOCAL,
    key: Key = None,
) -> None:
    """Watch a session move, until Ctrl-C or its end. In a pipe every state is a line.

    Example: llr watch demo
    """
    console = Console()
    view = View(live=console.is_terminal and not as_json)
    with service(url, key) as client:
        client.session(name).state()  # a wrong name or address is told at once
    with service(url, key, PATIENCE, view.lost) as client:
        states = islice(client.session(name).events(), count)
        if not view.live:
            for state in states:
                view.saw(state)
                typer.echo(json.dumps(asdict(state)) if as_json else view.line())
            return
        with Live(view, console=console, refresh_per_second=10):
            for state in states:
                view.saw(state)


def _drift(state: State) -> str:
    """When the loss was last found to rise, if ever."""
    return f"  drift at {state.drift.at[-1]:,}" if state.drift and state.drift.at else ""


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.4g}"
