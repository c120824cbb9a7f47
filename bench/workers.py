"""Peers in environments of their own, and learners as processes that take turns.

An environment is a folder under `.bench`, made once and pinned like everything: no peer bends the
versions of another or of the service. Turns go A B C A B C, so that a busy machine slows all alike.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

REPOSITORY = Path(__file__).parents[1]
FOLDER = REPOSITORY / ".bench"


class Environment(NamedTuple):
    """A peer's packages, by name, and the interpreter that has them."""

    name: str
    packages: tuple[str, ...]

    @property
    def python(self) -> str:
        """Its interpreter."""
        return str(FOLDER / self.name / "bin" / "python")

    def make(self) -> None:
        """Make it, unless it is there with just these packages."""
        mark = FOLDER / self.name / "made-of"
        pins = (REPOSITORY / "constraints.txt").read_text()
        wanted = "\n".join(self.packages) + "\n" + pins
        if mark.exists() and mark.read_text() == wanted:
            return
        subprocess.run([sys.executable, "-m", "venv", FOLDER / self.name], check=True)  # noqa: S603
        install = [self.python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        constraints = ["-c", str(REPOSITORY / "constraints.txt")]
        subprocess.run([*install, *constraints, *self.packages], check=True)  # noqa: S603
        mark.write_text(wanted)

    def versions(self) -> list[str]:
        """Each package with its version."""
        ask = "import sys; from importlib.metadata import version\n"
        ask += "print(*(f'{name} {version(name)}' for name in sys.argv[1:]), sep='\\n')"
        told = subprocess.run(  # noqa: S603
            [self.python, "-c", ask, *self.packages], check=True, capture_output=True, text=True
        )
        return told.stdout.splitlines()


RIVER = Environment("river", ("river", "numpy"))
SCIKIT_LEARN = Environment("scikit-learn", ("scikit-learn", "numpy"))
VOWPAL_WABBIT = Environment("vowpal-wabbit", ("vowpalwabbit", "numpy"))
FLASK = Environment("flask", ("flask", "gunicorn", "river"))

ALL = (RIVER, SCIKIT_LEARN, VOWPAL_WABBIT, FLASK)

PEERS = Path(__file__).parent / "peers"
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OPENBLAS", "OMP", "MKL")}
OURS = sys.executable


class Entry(NamedTuple):
    """Who takes part.

    Attributes:
        name: what it is called in the table.
        python: the interpreter of its environment.
        peer: `module:function` in `bench/peers`.
        share: how many of the samples it gets; the slow ones get few.
    """

    name: str
    python: str
    peer: str
    share: float = 1.0


class Taken(NamedTuple):
    """The best turn of an entry: seconds a sample, and the bytes it has grown by."""

    seconds: float
    grown: float


class Worker:
    """A process that has its samples and waits for its turn."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        self._read()

    def turn(self) -> dict[str, Any]:
        """One turn."""
        if self._process.stdin is None:
            raise RuntimeError("a worker without a standard input")
        self._process.stdin.write("turn\n")
        self._process.stdin.flush()
        return self._read()

    def _read(self) -> dict[str, Any]:
        line = self._process.stdout.readline() if self._process.stdout else ""
        if not line:
            raise RuntimeError(f"{self._process.args!r} ended with {self._process.wait()}")
        told: dict[str, Any] = json.loads(line)
        return told


@contextmanager
def working(entry: Entry, samples: Path) -> Iterator[Worker]:
    """The process of an entry, ready for its turns."""
    command = [entry.python, str(PEERS / "worker.py"), entry.peer, str(samples)]
    environment = os.environ | ONE_THREAD | {"PYTHONPATH": str(REPOSITORY)}
    pipe = subprocess.PIPE
    with subprocess.Popen(  # noqa: S603
        command, stdin=pipe, stdout=pipe, env=environment, text=True
    ) as process:
        try:
            yield Worker(process)
        finally:
            process.kill()


def compete(
    entries: dict[Entry, tuple[Path, int]], rounds: int, tick: Callable[[], None]
) -> dict[str, Taken]:
    """The best turns of all entries, given each one's samples and how many they are."""
    best = {entry.name: Taken(float("inf"), 0.0) for entry in entries}
    with ExitStack() as stack:
        workers = {
            entry: stack.enter_context(working(entry, path)) for entry, (path, _) in entries.items()
        }
        for _ in range(rounds):
            for entry, worker in workers.items():
                best[entry.name] = _better(best[entry.name], worker.turn(), entries[entry][1])
                tick()
    return best


def _better(before: Taken, told: dict[str, Any], n: int) -> Taken:
    """Less time counts; of memory the most that was seen."""
    return Taken(min(before.seconds, told["seconds"] / n), max(before.grown, told["grown"]))
