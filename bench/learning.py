"""Learning in process: this library beside river, scikit-learn and Vowpal Wabbit."""

import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bench.markdown import table
from bench.report import Section, Verdict
from bench.requests import samples
from bench.workers import OURS, RIVER, SCIKIT_LEARN, VOWPAL_WABBIT, Entry, Taken, compete

SEED = 1
KNOWN, PRESENT = 100_000, 30
MAIN = "llr sg/ag"
FLOOR = "X @ theta"


class Scale(NamedTuple):
    """How much is measured: numbers in a block of samples, and turns of each entry."""

    numbers: int
    rounds: int


FULL, QUICK = Scale(5_000_000, 7), Scale(1_000_000, 2)

DENSE = (
    Entry(FLOOR, SCIKIT_LEARN.python, "floor:dense"),
    Entry("llr sg", OURS, "ours:sg"),
    Entry(MAIN, OURS, "ours:dense"),
    Entry("llr auto", OURS, "ours:auto"),
    Entry("llr sg/ag, exact regret", OURS, "ours:exact", 0.1),
    Entry("llr auto, exact regret", OURS, "ours:auto_exact", 0.1),
    Entry("scikit-learn partial_fit", SCIKIT_LEARN.python, "by_scikit_learn:dense"),
    Entry("scikit-learn, every extra off", SCIKIT_LEARN.python, "by_scikit_learn:bare"),
    Entry("Vowpal Wabbit, text", VOWPAL_WABBIT.python, "by_vowpal_wabbit:dense", 0.02),
    Entry("Vowpal Wabbit, parsed beforehand", VOWPAL_WABBIT.python, "by_vowpal_wabbit:ready", 0.02),
    Entry("river", RIVER.python, "by_river:dense", 0.02),
)
SPARSE = (
    Entry(FLOOR, SCIKIT_LEARN.python, "floor:sparse"),
    Entry(MAIN, OURS, "ours:sparse"),
    Entry("llr auto", OURS, "ours:sparse_auto"),
    Entry("scikit-learn partial_fit", SCIKIT_LEARN.python, "by_scikit_learn:sparse"),
    Entry("Vowpal Wabbit, text", VOWPAL_WABBIT.python, "by_vowpal_wabbit:sparse", 0.1),
    Entry("river", RIVER.python, "by_river:sparse", 0.05),
)
DIMS = (1, 10, 50, 1000)
MOST_EXACT = 64
"""Features up to which the exact regret is on by default, and is measured."""


def turns(scale: Scale) -> int:
    """How many turns there will be, for a bar of progress."""
    return scale.rounds * (sum(len(_dense(dim)) for dim in DIMS) + len(SPARSE))


def measure(scale: Scale, tick: Callable[[], None]) -> Section:
    """Time everybody on the same samples."""
    text, verdicts = [], list[Verdict]()
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        for dim in DIMS:
            given = {e: _dense_samples(Path(folder), scale, dim, e.share) for e in _dense(dim)}
            found = compete(given, scale.rounds, tick)
            text += [f"### d = {dim:,}, blocks of {_rows(scale, dim, 1.0):,}", _table(found)]
            verdicts += _verdicts(found) if dim == 50 else []
        few = {e: _sparse_samples(Path(folder), scale, e.share) for e in SPARSE}
        found = compete(few, scale.rounds, tick)
        text += [f"### {PRESENT} features of {KNOWN:,}, by name or number", _table(found)]
    return Section("Learning in process", [PROSE, *text], verdicts)


PROSE = """\
One core, float64, linear regression. Each entry is a process in its own environment; what is
timed is the call a user makes, on samples that are in memory in the form it takes them (arrays,
dicts, lines of text). Slow entries get fewer samples. Memory is what the process grew by from just
before the learner was made until all samples were learnt."""


def _dense(dim: int) -> tuple[Entry, ...]:
    return tuple(e for e in DENSE if dim <= MOST_EXACT or "exact" not in e.name)


def _rows(scale: Scale, dim: int, share: float) -> int:
    """Samples in a block: as many numbers whatever dim is, within reason."""
    return max(200, int(share * min(scale.numbers // dim, scale.numbers // 5)))


def _dense_samples(folder: Path, scale: Scale, dim: int, share: float) -> tuple[Path, int]:
    n = _rows(scale, dim, share)
    path = folder / f"dense-{dim}-{n}.npz"
    if not path.exists():
        X, y = samples(dim, n)
        np.savez(path, X=X, y=y)
    return path, n


def _sparse_samples(folder: Path, scale: Scale, share: float) -> tuple[Path, int]:
    """Features drawn like words, a few common and most rare; each is there at least once."""
    n = max(KNOWN // PRESENT + 1, int(share * scale.numbers / PRESENT))
    path = folder / f"sparse-{n}.npz"
    if not path.exists():
        rng = np.random.default_rng(SEED)
        columns = (KNOWN * rng.random(n * PRESENT) ** 3).astype(np.int64)
        columns[:KNOWN] = rng.permutation(KNOWN)
        columns = _distinct(columns.reshape(n, PRESENT))
        values, truth = rng.normal(size=columns.shape), rng.normal(size=KNOWN)
        y = (values * truth[columns]).sum(1) + 0.1 * rng.normal(size=n)
        starts = np.arange(0, n * PRESENT + 1, PRESENT)
        np.savez(path, starts=starts, columns=columns.ravel(), values=values.ravel(), y=y)
    return path, n


def _distinct(columns: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> Any:
    """Rows without repetitions: a feature that comes twice moves on until it is alone."""
    for row in columns:
        seen = set[int]()
        for i in range(row.size):
            while row[i] in seen:
                row[i] = (row[i] + 1) % KNOWN
            seen.add(int(row[i]))
    return columns


def _table(found: dict[str, Taken]) -> str:
    base = found[MAIN].seconds
    rows = [
        (
            name,
            f"{1e9 * taken.seconds:,.0f}",
            f"{1 / taken.seconds:,.0f}",
            f"{taken.seconds / base:.3g}",
            f"{taken.grown / 2**20:.1f}",
        )
        for name, taken in found.items()
    ]
    return table(("", "ns a sample", "samples/s", f"time by {MAIN}", "MiB"), rows)


def _verdicts(found: dict[str, Taken]) -> Iterable[Verdict]:
    base = found[MAIN].seconds
    beaten = (
        ("scikit-learn partial_fit", 2.0),
        ("river", 150.0),
        ("Vowpal Wabbit, text", 20.0),
    )
    for name, least in beaten:
        ratio = found[name].seconds / base
        what = f"d = 50: time of {name} by {MAIN}"
        yield Verdict(what, f"≥ {least:g}", f"{ratio:.3g}", ratio >= least)
    ratio = base / found[FLOOR].seconds
    yield Verdict(f"d = 50: time of {MAIN} by {FLOOR}", "≤ 3.5", f"{ratio:.3g}", ratio <= 3.5)
