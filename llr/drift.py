"""Drift detection: whether the loss has risen, sample by sample, without a threshold to tune.

Let e be a sample's excess, its loss beyond the least that its label allows, and m the mean of the
excess so far. While samples stay what they are e/m is 1 on average, and less while the learner
still gets better. So for any λ between 0 and 1 the factor 1 + λ (e/m − 1) is positive and at most 1
on average, whatever the distribution of the loss and whatever its scale: to bet the share λ of a
stake on a rise is fair, or bad. A few λ are used, each by itself; one that lost restarts at 1:

    M_λ ← max(M_λ, 1) · (1 + λ (min(e/m, 30) − 1))

An alarm is raised when the mean of the M_λ reaches 100,000. If m were known, chance takes that many
samples for that on average, or more (in the reference such an M is an e-detector). A cap on e/m
keeps this true, and single outliers raise no alarm. After an alarm everything restarts, so that
a change raises one alarm.

m is learnt as m ← m + a (min(e, 30 m) − m). The rate a is 2/(n+1), so that the first samples, still
badly predicted, are soon outweighed; and 1/1000 at least, so that m follows a loss that falls
slowly. It also follows a loss that rises as slowly, which therefore raises no alarm.

Reference: Shin, Ramdas & Rinaldo, *E-detectors: a nonparametric framework for sequential change
detection*, 2022.
"""

import math
from typing import Any

import numpy as np

from llr.errors import StateError
from llr.kernels.jit import NOTHING, READ_VECTOR, VECTOR, inline_jit, kernel
from llr.types import Vector

RARE = 1e5
CAP = 30.0
SHARES = (0.2, 0.6, 0.9)
SLOWEST = 1e-3
FEW = 50
"""Samples after a start in which only m is learnt."""

KEPT = 16
"""How many alarms are remembered: the last ones."""

# the numbers: samples seen, those since the last start, m, the stakes, how many alarms, when
T, N, MEAN, STAKES = range(4)
ALARMS = STAKES + len(SHARES)
AT = ALARMS + 1
SIZE = AT + KEPT


class Drift:
    """Tells when a loss has risen, from the excess of samples as a learner gives it.

    Args:
        t: how many samples there were before it began to watch.

    >>> import llr
    >>> learner, drift = llr.Learner("gaussian"), Drift()
    >>> drift.watch(learner.learn(*llr.streams.gaussian(seed=1).take(3000), excess=True).excess)
    >>> drift.alarms, drift.at
    (0, [])
    >>> drift.watch(learner.learn(np.full(500, -20.0), excess=True).excess)
    >>> drift.alarms, drift.at
    (1, [3004])
    """

    def __init__(self, t: int = 0) -> None:
        self._numbers = np.zeros(SIZE)
        self._numbers[T] = t

    def watch(self, excess: Vector) -> None:
        """Take the excess of the next samples into account, in order."""
        self._numbers = self._numbers.copy()
        _watch(self._numbers, excess)

    def restart(self) -> None:
        """Look at another loss from now on; the alarms so far are remembered."""
        self._numbers = self._numbers.copy()
        self._numbers[N:ALARMS] = 0.0

    @property
    def t(self) -> int:
        """How many samples there were, those before it began to watch among them."""
        return int(self._numbers[T])

    @property
    def alarms(self) -> int:
        """The number of alarms."""
        return int(self._numbers[ALARMS])

    @property
    def at(self) -> list[int]:
        """The t of the alarms, in order; the last 16."""
        first = max(0, self.alarms - KEPT)
        return [int(self._numbers[AT + k % KEPT]) for k in range(first, self.alarms)]

    @property
    def nbytes(self) -> int:
        """How much memory the state takes."""
        return self._numbers.nbytes

    def view(self) -> "Drift":
        """Another one in the same state; each may go its own way."""
        looking = Drift.__new__(Drift)
        looking._numbers = self._numbers
        return looking

    def to_plain(self) -> list[float]:
        """The state as plain numbers, every bit of them."""
        plain: list[float] = self._numbers.tolist()
        return plain

    @classmethod
    def from_plain(cls, plain: Any) -> "Drift":
        """What `to_plain` wrote. Raises `StateError` on anything else.

        >>> Drift.from_plain(Drift(7).to_plain()).t
        7
        """
        known = isinstance(plain, list) and len(plain) == SIZE
        if not known or not all(type(n) in (int, float) and 0 <= n < math.inf for n in plain):
            raise StateError(f"drift: not {SIZE} finite numbers from 0 on")
        drift = cls.__new__(cls)
        drift._numbers = np.array(plain, np.float64)
        if drift.alarms > drift.t or drift._numbers[N] > drift.t:
            raise StateError("drift: more alarms than samples")
        return drift


@inline_jit
def _rises(numbers: Vector, ratio: float) -> bool:
    """Bet on a rise; whether the stakes have become unlikely."""
    total = 0.0
    for k in range(len(SHARES)):
        stake = max(numbers[STAKES + k], 1.0) * (1.0 + SHARES[k] * (ratio - 1.0))
        numbers[STAKES + k] = stake
        total += stake
    return total >= RARE * len(SHARES)


@inline_jit
def _start_anew(numbers: Vector) -> None:
    numbers[AT + int(numbers[ALARMS]) % KEPT] = numbers[T]
    numbers[ALARMS] += 1.0
    for place in range(N, ALARMS):
        numbers[place] = 0.0


@kernel(NOTHING(VECTOR, READ_VECTOR), long=False)
def _watch(numbers: Vector, excess: Vector) -> None:
    """Go through the excess of samples, in order."""
    for e in excess:
        numbers[T] += 1.0
        if e < 0.0:  # a sample of weight 0
            continue
        numbers[N] += 1.0
        n, m = numbers[N], numbers[MEAN]
        ratio = min(e / m, CAP) if m > 0.0 else 1.0
        if n > FEW and _rises(numbers, ratio):
            _start_anew(numbers)
        else:
            seen = ratio * m if m > 0.0 else e
            numbers[MEAN] = m + max(2.0 / (n + 1.0), SLOWEST) * (seen - m)
