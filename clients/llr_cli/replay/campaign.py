"""Many experiments at a time, under one bar a stream."""

from collections.abc import Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait

from llr_client import Client
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TaskProgressColumn, TextColumn
from rich.table import Column

from llr_cli.replay.experiments import Experiment, digits
from llr_cli.replay.feeding import Pace, Position, feed
from llr_cli.replay.results import Result, figure


def bars(console: Console) -> Progress:
    """Progress bars, one a stream, with θ, η and regret as they move; silent if nobody watches."""
    return Progress(
        TextColumn("{task.description:<10}"),
        BarColumn(bar_width=12, table_column=Column(min_width=8)),
        TaskProgressColumn(table_column=Column(min_width=4, no_wrap=True)),
        TextColumn("{task.fields[now]}", style="dim", table_column=Column(no_wrap=True)),
        console=console,
        disable=not console.is_interactive,
    )


class Campaign:
    """Experiments under way.

    Args:
        client: where the service is.
        pace: how fast each is fed.
        progress: the bars.
        at_once: how many are fed at a time.
    """

    def __init__(self, client: Client, pace: Pace, progress: Progress, at_once: int = 2) -> None:
        self._client, self._pace = client, pace
        self._progress, self._at_once = progress, at_once
        self._bars: dict[str, TaskID] = {}

    def run(self, experiments: Sequence[Experiment]) -> list[Result]:
        """Feed all of them; the first error, or Ctrl-C, stops the others and is raised."""
        for experiment in experiments:
            if experiment.stream not in self._bars:
                total = sum(e.samples for e in experiments if e.stream == experiment.stream)
                bar = self._progress.add_task(experiment.stream, total=total, now="")
                self._bars[experiment.stream] = bar
        pool = ThreadPoolExecutor(self._at_once)
        try:
            under_way = [pool.submit(self._feed, experiment) for experiment in experiments]
            for ended in wait(under_way, return_when=FIRST_EXCEPTION).done:
                ended.result()
            return [ended.result() for ended in under_way]
        finally:
            self._pace.stop()
            pool.shutdown(cancel_futures=True)

    def _feed(self, experiment: Experiment) -> Result:
        bar, fed = self._bars[experiment.stream], 0

        def moved(position: Position) -> None:
            nonlocal fed
            text = describe(experiment, position)
            self._progress.update(bar, advance=position.t - fed, now=text)
            fed = position.t

        state = feed(self._client, experiment, self._pace, moved)
        self._progress.update(bar, advance=experiment.samples - fed)
        return Result(experiment, state)


def describe(experiment: Experiment, position: Position) -> str:
    """An experiment and where it is, in a line."""
    start = "" if experiment.eta0 is None else f" {digits(experiment.eta0)}"
    now = f"θ {figure(position.shown)} η {figure(position.eta)} regret {figure(position.regret)}"
    return f"{experiment.algorithm}{start}: {now}"
