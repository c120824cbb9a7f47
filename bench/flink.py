"""Samples a second of keyed learners in Flink, bytes a key, and the time of a checkpoint.

python -m bench flink            the table of docs/scale.md, several minutes
python -m bench flink --quick    fewer keys

It runs in the environment of `make test-flink`, on one core for Python and one for Flink.
"""

import argparse
import json
import os
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import llr
from bench.markdown import table

ROOT = Path(__file__).parents[1]
PYTHON = ROOT / ".venv-flink" / "bin" / "python"
DIM = 10


class Setting(NamedTuple):
    """A job: its keys and samples, and how they learn."""

    keys: int
    samples: int
    algorithm: str
    second_order: bool


FULL = (
    Setting(1_000, 200_000, "sg/ag", False),
    Setting(1_000, 200_000, "auto", False),
    Setting(1_000, 200_000, "auto", True),
    Setting(100_000, 300_000, "sg/ag", False),
    Setting(1_000_000, 1_500_000, "sg/ag", False),
    Setting(100_000, 300_000, "auto", True),
)
QUICK = (Setting(100, 20_000, "sg/ag", False), Setting(100, 20_000, "auto", True))


def bare(setting: Setting) -> float:
    """Samples a second of the library in one process, one call a sample."""
    options = {"second_order": setting.second_order} if setting.algorithm == "auto" else {}
    learner = llr.Learner("linear", DIM, setting.algorithm, **options)  # type: ignore[arg-type]
    X, y = llr.streams.regression(seed=0, dim=DIM).take(20_000)
    learner.learn(X[:10], y[:10])
    began = time.perf_counter()
    for x, label in zip(X, y, strict=True):
        learner.learn(x, label, predictions=True)
    return len(y) / (time.perf_counter() - began)


def run(setting: Setting) -> dict[str, Any]:
    """The figures of one job."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        keys, samples, algorithm, second = setting
        words = [folder, str(keys), str(samples), str(DIM), algorithm, "yes" if second else "no"]
        done = subprocess.run(  # noqa: S603
            [PYTHON, ROOT / "bench/peers/flink_keys.py", *words],
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def row(setting: Setting) -> list[str]:
    """A row of the table."""
    found, alone = run(setting), bare(setting)
    first_order = setting.algorithm == "auto" and not setting.second_order
    each = found.get("bytes", 0) / setting.keys
    return [
        f"{setting.keys:,}",
        f"{setting.algorithm}{', first order' if first_order else ''}",
        f"{found['samples/s']:,.0f}",
        f"{found['samples/s'] / alone:.3f}",
        f"{each:,.0f}" if each else "-",
        f"{found['checkpoint ms'] / 1000:.2f} s" if each else "-",
    ]


def main(arguments: list[str] | None = None) -> None:
    """Run every setting and print the table."""
    parser = argparse.ArgumentParser(description="Measure keyed learners in Flink.")
    parser.add_argument("--quick", action="store_true", help="fewer keys")
    settings = QUICK if parser.parse_args(arguments).quick else FULL
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.2f} before")
    headings = ["keys", "learner, d = 10", "samples/s", "of the bare library", "bytes a key"]
    print(table([*headings, "checkpoint"], [row(one) for one in settings]))


if __name__ == "__main__":
    main()
