"""The peers' own environments: one folder each under `.bench`, made once, pinned like everything.

What is measured runs beside the service, never inside its environment, so that nobody's version of
numpy is bent for somebody else's sake.
"""

import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

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
