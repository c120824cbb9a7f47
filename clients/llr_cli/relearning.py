"""A what-if that is waited for: a bar for those who watch, and what to say if they stop."""

from llr_client import Session, State
from llr_client.answers import Relearning
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn


class Waiting:
    """The wait for one what-if."""

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
        """Wait until it has learnt all; its state then."""
        self._goes_on = True
        with self._bar:
            return session.relearnt(self._told)

    def hint(self) -> str:
        """What to add to the reason of an early end."""
        if not self._goes_on:
            return ""
        return f"; {self._name} goes on in the service: see llr sessions show {self._name}"

    def _told(self, going: Relearning) -> None:
        self._goes_on = going.stopped is None and going.done < going.of
        self._bar.update(self._task, completed=going.done, total=going.of)
