"""Whether η has arrived, read off the last half of its own past.

The last half of the run is cut into 16 stretches of time, and the changes of log η over them are
added up twice: with their signs, and as squares. Where η only trembles they cancel, and

    z = |Σδ| / √Σδ²

is about 1; where η goes one way it comes close to 4, which it cannot exceed. η *travels* if z is
above 2.5 and it changed by more than a fifth; a mere tremble looks like that in one case of a
hundred. The cost is the same however long the stream was.

η *vanished* if it is at the floor of log η (R24), or 10³⁰ times below η₀: one slope that is far too
large does that under a `/sg` rate. θ stays where it was thrown, and no later sample brings η back.

>>> import llr
>>> learner = llr.Learner("gaussian", algorithm="sg/ag", eta0=1e-6)
>>> bool(learner.learn(*llr.streams.gaussian(seed=1).take(300)))
True
>>> print(learner.eta_status.state)
travelling
"""

import math
from typing import TYPE_CHECKING, NamedTuple

from llr.algorithms.algorithm import FLOOR
from llr.config import Config
from llr.kernels.jit import COUNTS, MATRIX, PAIR, REAL, kernel
from llr.kernels.layout import LOG_ETA, POINTS, STRIDE, T
from llr.types import Counts, Vector

if TYPE_CHECKING:
    from llr.base import Numbers

STRETCHES = 16
EARLY = 4 * STRETCHES
ONE_WAY = 2.5
A_FIFTH = math.log(1.2)
FAR = math.log(10.0)
LOST = 30.0 * math.log(10.0)
HELD = 1e-9


class EtaStatus(NamedTuple):
    """What η is doing.

    Attributes:
        state: "fixed", "starting" (too early to say), "travelling", "settled", "pinned" at a
            bound of its algorithm, or "vanished" (R24).
        advice: one line for people.
    """

    state: str
    advice: str


def of(config: Config, state: "Numbers | None") -> EtaStatus:
    """What the step size of a learner with this config is doing."""
    algorithm = config.of_algorithm
    if not algorithm.learns:
        return _fixed(config)
    t = 0 if state is None else state.t
    start = math.log(config.eta0) if algorithm.uses_eta0 else None
    if state is not None and start is not None and _is_lost(state.scalars.item(LOG_ETA), start):
        return _vanished(state.scalars.item(LOG_ETA) - start)
    if state is None or t < EARLY:
        return EtaStatus("starting", f"too early to say: ask again after {EARLY} samples")
    log_eta = state.scalars.item(LOG_ETA)
    if algorithm.bounds is not None and state.steps:
        low, high = algorithm.bounds(state.scalars, state.steps)
        if min(abs(log_eta - low), abs(log_eta - high)) <= HELD:
            return _pinned(log_eta - low <= HELD)
    net, squares = _changes(state.history, state.counts, log_eta)
    if abs(net) > A_FIFTH and abs(net) > ONE_WAY * math.sqrt(squares):
        return _travelling(net, log_eta, start)
    return _settled(log_eta, start)


@kernel(PAIR(MATRIX, COUNTS, REAL), long=False)
def _changes(past: Vector, counts: Counts, log_eta: float) -> tuple[float, float]:
    """Σδ and Σδ² of the changes of log η over the stretches of the last half of the run.

    Row i of the past is that of time i·stride; between two rows log η is a straight line.
    """
    t, last, stride = float(counts[T]), counts[POINTS] - 1, float(counts[STRIDE])
    net, squares, before = 0.0, 0.0, 0.0
    for k in range(STRETCHES + 1):
        at = 0.5 * t + 0.5 * t * k / STRETCHES
        i = min(int(at / stride), last)
        end, until = (past[i + 1, 1], stride) if i < last else (log_eta, t - i * stride)
        share = (at - i * stride) / until if until > 0.0 else 1.0
        now = past[i, 1] + share * (end - past[i, 1])
        if k > 0:
            net += now - before
            squares += (now - before) * (now - before)
        before = now
    return net, squares


def _fixed(config: Config) -> EtaStatus:
    if not config.of_algorithm.uses_eta0:
        return EtaStatus("fixed", f"{config.algorithm} has no step size: eta means nothing here")
    return EtaStatus("fixed", "eta stays as given; an algorithm with a rate, as sg/ag, learns it")


def _is_lost(log_eta: float, start: float) -> bool:
    return log_eta <= FLOOR or log_eta < start - LOST


def _vanished(change: float) -> EtaStatus:
    said = f"eta fell to nothing, {_times(change)} from eta0, and theta no longer moves"
    return EtaStatus("vanished", f"{said}: start again from a smaller eta0, or with a rate as ag")


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
