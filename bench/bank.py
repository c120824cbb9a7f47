"""What each part of `auto`'s bank of filters is worth: regret by tuned SG with a part taken away.

python -m bench bank               on the fifteen streams of the choosing seeds: ten minutes

The library has no switches for these parts. So each line is measured in a copy of the package in
which a constant has another value; its kernels are compiled for that copy.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench.league import drifting, jobs, ours
from bench.league.findings import Summary, summary
from bench.league.jobs import FINE
from bench.league.score import Results, Sweep, average
from bench.markdown import table

ROOT = Path(__file__).parent.parent
SEEDS = (0, 1, 2)
LAYOUT = "llr/auto/bank_layout.py"
ABLATIONS: dict[str, tuple[str, str]] = {
    "nothing: `auto` as it is": ("", ""),
    "short memory: it forgets nothing": ("KEEP = 1.0 - 1.0 / 50.0", "KEEP = 1.0"),
    "sentinel: no alarm ever": ("ALARM_GROWTH = 12.0,", "ALARM_GROWTH = 1e300,"),
    "start: 16 samples kept, not 128": ("START = 128", "START = 16"),
    "three ridges: only the middle one": (
        "RIDGES, RIDGES_OF_CURVED = (1.0, 0.1, 0.01), (3.0, 1.0, 0.3)",
        "RIDGES, RIDGES_OF_CURVED = (0.1, 0.1, 0.1), (1.0, 1.0, 1.0)",
    ),
    "robust long memory: every error as it is": ("ROBUST = 4.0", "ROBUST = 1e300"),
    "moderation of probabilities": ("MODERATION = math.pi / 8.0", "MODERATION = 0.0"),
}
"""A line of `bank_layout` and what stands in its place."""

CHILD = """
import json
from bench.bank import SEEDS
from bench.league import drifting, ours
todo = [(name, seed) for name in drifting.NAMES for seed in SEEDS]
print(json.dumps([ours.total(drifting.stream(*one), "auto") for one in todo]))
"""


def losses(before: str, after: str) -> dict[str, list[float]]:
    """The losses of `auto` in a copy with that line changed, by stream, a number a seed."""
    with tempfile.TemporaryDirectory(prefix="llr-bank-") as folder:
        for package in ("llr", "clients", "bench"):
            shutil.copytree(ROOT / package, Path(folder) / package)
        layout = Path(folder) / LAYOUT
        text = layout.read_text()
        if before not in text:
            raise SystemExit(f"{LAYOUT} has no line {before}")
        layout.write_text(text.replace(before, after) if before else text)
        paths = os.pathsep.join([folder, f"{folder}/clients"])
        environment = os.environ | {"PYTHONPATH": paths}
        child = [sys.executable, "-c", CHILD]
        told = subprocess.check_output(  # noqa: S603 - this program, in the copy
            child, cwd=folder, env=environment, text=True
        )
    found = iter(json.loads(told.splitlines()[-1]))
    return {name: [next(found) for _ in SEEDS] for name in drifting.NAMES}


def tuned() -> Results:
    """Tuned SG on the same streams."""
    results = Results(SEEDS)
    for name in drifting.NAMES:
        each = [jobs.on_stream(name, seed) for seed in SEEDS]
        for seed, one in zip(SEEDS, each, strict=True):
            results.least[name, seed] = one.least
        for kind in (ours.FIXED, ours.CONSTANT):
            columns = zip(*(one.sweeps[kind] for one in each), strict=True)
            means = dict(zip(FINE, map(average, columns), strict=True))
            results.sweeps[kind, name] = Sweep(SEEDS, means)
    return results


def line(results: Results, found: dict[str, list[float]]) -> Summary:
    """The ratios of these losses."""
    regrets = {name: average(of) - results.floor(name) for name, of in found.items()}
    return summary(results, regrets)


def main(given: Sequence[str]) -> None:
    """Print the table."""
    argparse.ArgumentParser(prog="python -m bench bank").parse_args(given)
    results, rows = tuned(), []
    for what, change in ABLATIONS.items():
        of = line(results, losses(*change))
        rows.append((what, f"{of.fixed:.3f}", f"{of.better:.3f}", f"{of.worst:.3f}"))
        print(*rows[-1], file=sys.stderr, flush=True)
    headings = ("off", "by tuned SG 1/f(t)", "by the better", "worst loss")
    print(table(headings, rows))
