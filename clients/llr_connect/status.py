"""How a connector fares, for those who watch it and for the line at its end."""

import json
import math
import time
from collections.abc import Callable

from llr_client import LLRError
from rich.console import Console
from rich.live import Live
from rich.text import Text


class Status:
    """A connector under way.

    Args:
        name: what it is called.
        patience: seconds that who is away is waited for.

    Attributes:
        learnt: samples that are on disk by now.
        repeated: messages that came again and were learnt before.
        left_out: messages that cannot be learnt, and are kept elsewhere.
        missing: messages that never came.
        running: whether it has come past its start.
    """

    def __init__(self, name: str, patience: float) -> None:
        self.learnt = self.repeated = self.left_out = self.missing = 0
        self.name, self.patience, self.running = name, patience, False
        self.lag: Callable[[], int | None] = lambda: None
        self._began, self._away = time.monotonic(), False
        self._warned: set[str] = set()
        console = Console(stderr=True)
        self._live = Live(self, console=console, refresh_per_second=4, transient=True)
        self._shown = console.is_interactive

    def __enter__(self) -> None:
        if self._shown:
            self._live.start()

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def __rich__(self) -> Text:
        lag = self.lag()
        waits = "" if lag is None else f", {lag:,} waiting"
        away = "; trying to reach who is away" if self._away else ""
        return Text(f"{self.name}: {self._told()}, {self.rate:,.0f}/s{waits}{away}")

    def moved(self, learnt: int) -> None:
        """Samples are on disk; who was away is back."""
        self.learnt += learnt
        if self._away:
            self._away = False
            self.say("it goes on")

    def again(self, producer: str, number: int) -> None:
        """A message came that was learnt before; a sender that counts anew looks the same."""
        self.repeated += 1
        if number <= 1 and producer not in self._warned:
            self._warned.add(producer)
            self.say(
                f"{producer}: number {number} came again, and is taken for what was learnt before;"
                " a sender that counts anew needs another name"
            )

    def waiting(self, error: LLRError, _seconds: float) -> None:
        """The service or the source is away; said once each time."""
        if not self._away:
            self._away = True
            long = "" if math.isinf(self.patience) else f" for {self.patience:.0f} s"
            self.say(f"{error}; trying again{long}")

    def say(self, line: str) -> None:
        """A line for people, on stderr."""
        self._live.console.print(line, highlight=False, soft_wrap=True, markup=False)

    @property
    def rate(self) -> float:
        """Samples a second."""
        return self.learnt / max(time.monotonic() - self._began, 1e-3)

    def hint(self) -> str:
        """What to add to the reason of an early end."""
        return f"; {self._told()}, the same command goes on there" if self.running else ""

    def report(self, as_json: bool) -> None:
        """The line at the end."""
        names = ("learnt", "repeated", "left_out", "missing")
        if as_json:
            shown = {"source": self.name} | {name: getattr(self, name) for name in names}
            Console().print_json(json.dumps(shown))
        else:
            line = f"{self.name}: {self._told()}, {self.rate:,.0f}/s"
            Console().print(line, highlight=False, soft_wrap=True, markup=False)

    def _told(self) -> str:
        parts = [f"{self.learnt:,} samples learnt"]
        parts += [f"{self.repeated:,} came again"] if self.repeated else []
        parts += [f"{self.left_out:,} left out"] if self.left_out else []
        parts += [f"{self.missing:,} missing"] if self.missing else []
        return ", ".join(parts)
