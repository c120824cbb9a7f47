"""`llr demo`: the paper's streams learnt in this process, and a table of how that went."""

import math
from collections.abc import Callable, Iterator
from typing import Annotated, Literal, NamedTuple

import typer
from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from llr import Learner, Status
from llr.streams import STREAMS

BLOCK = 250
LEARNING = ("sg/ag", "svrg/ag")
COMPARED = ("sg", "svrg", *LEARNING)


class Act(NamedTuple):
    """One stream and who learns it.

    Attributes:
        stream: a name from `llr.streams.STREAMS`.
        eta0: the step size every learner starts with: too small, for the quadratic too large.
        samples: how many are fed.
        algorithms: who learns, each from the same samples.
    """

    stream: str
    eta0: float
    samples: int
    algorithms: tuple[str, ...] = COMPARED


class Row(NamedTuple):
    """A learner after its stream; `error` is ‖θ − truth‖, over ‖truth‖ where that is not 0."""

    stream: str
    learner: Learner
    status: Status
    error: float


ACTS = (
    Act("gaussian", 1e-4, 2500),
    Act("bernoulli", 1e-4, 2500),
    Act("regression", 1e-6, 7500),  # 1e-4 is not poor here: it is nearly the best svrg can have
    Act("quadratic", 1e-4, 500, LEARNING),  # 10,000 times 1/alpha: it runs away first
)

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


def demo(
    samples: Annotated[
        int | None,
        typer.Option(min=1, help="Length of every stream; each has its own if left out."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Where the random numbers start.")] = 0,
) -> None:
    """Learn the paper's streams from poor step sizes and show what came of it."""
    acts = [act if samples is None else act._replace(samples=samples) for act in ACTS]
    with bars(Console(stderr=True)) as progress:
        rows = [row for act in acts for row in perform(act, seed, progress)]
    report(Console(), rows)


def bars(console: Console) -> Progress:
    """Progress bars, one a stream; silent where nobody watches."""
    return Progress(
        TextColumn("{task.description:<10}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[algorithm]:<7}"),
        TimeElapsedColumn(),
        console=console,
        disable=not console.is_interactive,
    )


def perform(act: Act, seed: int, progress: Progress) -> Iterator[Row]:
    """Let every learner of the act learn, under one bar."""
    bar = progress.add_task(act.stream, total=act.samples * len(act.algorithms), algorithm="")
    for algorithm in act.algorithms:
        progress.update(bar, algorithm=algorithm)
        yield play(act, algorithm, seed, lambda n: progress.advance(bar, n))
    progress.update(bar, algorithm="")


def play(act: Act, algorithm: str, seed: int, done: Callable[[int], None]) -> Row:
    """One learner before its stream, block by block until the end or divergence."""
    stream = STREAMS[act.stream](seed)
    learner = Learner(stream.model, stream.dim, algorithm, act.eta0, stream.theta0, "exact")
    status = Status.LEARNT
    for start in range(0, act.samples, BLOCK):
        n = min(BLOCK, act.samples - start)
        if status is Status.LEARNT:
            status = learner.learn(*stream.take(n)).status
        done(n)
    error = math.hypot(*(learner.theta - stream.truth)) / (math.hypot(*stream.truth) or 1.0)
    return Row(act.stream, learner, status, error)


def report(console: Console, rows: list[Row]) -> None:
    """Print the table, what its columns mean, and what befell whoever diverged."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=0)
    for header in HEADERS:
        side: Literal["left", "right"] = "left" if header in WORDS else "right"
        table.add_column(header, justify=side, overflow="fold")
    for row, following in zip(rows, [*rows[1:], None], strict=True):
        last = following is None or following.stream != row.stream
        table.add_row(*cells(row), end_section=last)
    notes = Table.grid("", "", padding=(0, 2, 0, 0))
    for name, meaning in NOTES.items():
        notes.add_row(name, meaning, style="dim")
    if any(row.status is Status.DIVERGED for row in rows):
        notes.add_row("diverged", Status.DIVERGED.value, style="red")
    console.print(table, "", notes, highlight=False)


def cells(row: Row) -> list[str]:
    """A row of the table as text."""
    learner, regret = row.learner, row.learner.regret
    numbers = (row.error, learner.eta, learner.loss.mean, regret.ml, regret.best_fixed)
    start = [row.stream, learner.config.algorithm, figure(learner.config.eta0), str(learner.t)]
    return [*start, *map(figure, numbers), row.status.name.lower()]


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
