"""RESULTS.md: what a run measured, section by section; nothing in it is typed by hand."""

import datetime
import os
import platform
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from bench.markdown import table, yes

OWN = ("numba", "numpy", "fastapi", "starlette", "uvicorn", "pydantic", "orjson", "uvloop")


class Verdict(NamedTuple):
    """A figure that was to be reached."""

    what: str
    wanted: str
    found: str
    reached: bool


class Section(NamedTuple):
    """A part of the report.

    Attributes:
        title: its heading.
        text: paragraphs, tables and pictures in markdown, in order.
        verdicts: which of its figures were to be reached.
    """

    title: str
    text: Sequence[str]
    verdicts: Sequence[Verdict] = ()

    @classmethod
    def of(cls, plain: Any) -> "Section":
        """The section that was kept as JSON."""
        title, text, verdicts = plain
        return cls(title, text, [Verdict(*one) for one in verdicts])


class Machine(NamedTuple):
    """Where and when it was measured."""

    begun: datetime.datetime
    load: float
    resumed: bool = False

    @classmethod
    def now(cls, resumed: bool = False) -> "Machine":
        """This one, and whether a part was measured in a run before."""
        return cls(datetime.datetime.now(datetime.UTC), os.getloadavg()[0], resumed)


def write(
    path: Path, machine: Machine, versions: Sequence[str], sections: Sequence[Section]
) -> None:
    """Write the report."""
    verdicts = [verdict for section in sections for verdict in section.verdicts]
    parts = [_head(machine, versions), _verdicts(verdicts)]
    for section in sections:
        parts += [f"## {section.title}", *section.text]
    path.write_text("\n\n".join(part for part in parts if part) + "\n")


def _head(machine: Machine, versions: Sequence[str]) -> str:
    now = datetime.datetime.now(datetime.UTC)
    minutes = (now - machine.begun).total_seconds() / 60.0
    goes = "in more than one go" if machine.resumed else f"after {minutes:.0f} minutes"
    own = [f"{name} {version(name)}" for name in ("llr", *OWN)]
    named = ", ".join(sorted(set(versions)))
    peers = f" Peers, each in an environment of its own: {named}." if named else ""
    return f"""# Side by side

Written by `make bench` on {now.date().isoformat()} {goes}. {_processor()},
{os.cpu_count()} cores, {platform.system()} {platform.release()}, Python
{platform.python_version()}; load {machine.load:.2f} before. {", ".join(own)}.{peers}

Entries take turns, one after the other and over again, so that a machine that is busy for a while
slows them all alike; the best turn counts. Ratios say more than seconds."""


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _verdicts(verdicts: Sequence[Verdict]) -> str:
    if not verdicts:
        return ""
    rows = [(one.what, one.wanted, one.found, yes(one.reached)) for one in verdicts]
    return table(("to be reached", "wanted", "found", "reached"), rows)
