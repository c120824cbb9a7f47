"""Whether η has arrived, read off the last half of its own past.

The last half of the run is cut into 16 stretches of time, and the changes of log η over them are
added up twice: with their signs, and as squares. Where η only trembles they cancel, and

    z = |Σδ| / √Σδ²

is about 1; where η goes one way it comes close to 4, which it cannot exceed. η *travels* if z is
above 2.5 and it changed by more than a fifth; a mere tremble looks like that in one case of a
hundred. The cost is the same however long the stream was.

>>> import llr
>>> learner = llr.Learner("gaussian", algorithm="sg/ag", eta0=1e-6)
>>> bool(learner.learn(*llr.streams.gaussian(seed=1).take(300)))
True
>>> print(learner.eta_status.state)
travelling
"""

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from llr.config import Config
from llr.history import used
from llr.layout import LOG_ETA
from llr.types import Vector

if TYPE_CHECKING:
    from llr.face import Numbers

STRETCHES = 16
EARLY = 4 * STRETCHES
ONE_WAY = 2.5
A_FIFTH = math.log(1.2)
FAR = math.log(10.0)
HELD = 1e-9


class EtaStatus(NamedTuple):
    """What η is doing.

    Attributes:
        state: "fixed", "starting" (too early to say), "travelling", "settled", or "pinned" at a
            bound of its algorithm.
        advice: one line for people.
    """

    state: str
    advice: str


def of(config: Config, state: "Numbers | None") -> EtaStatus:
    """What the step size of a learner with this config is doing."""
    algorithm = config.of_algorithm
    if not algorithm.learns:
        return EtaStatus(
            "fixed", "eta stays as given; an algorithm with a rate, as sg/ag, learns it"
        )
    if state is None or state.t < EARLY:
        return EtaStatus("starting", f"too early to say: ask again after {EARLY} samples")
    log_eta = float(state.scalars[LOG_ETA])
    if algorithm.bounds is not None:
        low, high = algorithm.bounds(state.scalars, state.t)
        if min(abs(log_eta - low), abs(log_eta - high)) <= HELD:
            return _pinned(log_eta - low <= HELD)
    start = math.log(config.eta0) if algorithm.starts else None
    changes = _changes(used(state), state.t, log_eta)
    if _one_way(changes):
        return _travelling(float(changes.sum()), log_eta, start)
    return _settled(log_eta, start)


def _changes(past: Vector, t: int, log_eta: float) -> Vector:
    """How log η changed over each stretch of the last half of the run."""
    cuts = np.linspace(t / 2.0, t, STRETCHES + 1)
    times, values = np.append(past[:, 0], t), np.append(past[:, 1], log_eta)
    return np.diff(np.interp(cuts, times, values))


def _one_way(changes: Vector) -> bool:
    net, size = abs(float(changes.sum())), math.sqrt(float(changes @ changes))
    return net > A_FIFTH and net > ONE_WAY * size


def _pinned(low: bool) -> EtaStatus:
    side = "smallest" if low else "largest"
    return EtaStatus("pinned", f"eta is held at the {side} step its algorithm allows here")


def _travelling(net: float, log_eta: float, start: float | None) -> EtaStatus:
    way = "grows" if net > 0.0 else "falls"
    said = f"eta still {way}, {_times(net)} over the last half of the samples"
    if start is None or (log_eta - start) * net < 0.0 or abs(log_eta - start) < FAR:
        return EtaStatus("travelling", said)
    wrong, least = ("small", "at least") if net > 0.0 else ("large", "at most")
    said += (
        f": eta0 was too {wrong}, {least} {math.exp(log_eta):.2g} would have been a better start"
    )
    return EtaStatus("travelling", said)


def _settled(log_eta: float, start: float | None) -> EtaStatus:
    if start is None or abs(log_eta - start) < FAR:
        return EtaStatus("settled", "eta has found its place")
    way = _times(log_eta - start)
    said = f"eta has found its place, {way} from eta0: start the next session at"
    return EtaStatus("settled", f"{said} {math.exp(log_eta):.2g}")


def _times(change: float) -> str:
    times = math.exp(min(abs(change), 700.0))
    return f"{times:.3g} times up" if change > 0.0 else f"{times:.3g} times down"
