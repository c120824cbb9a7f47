"""SwiftTD: Javed, Sharifnassab & Sutton's TD(λ) with a step size for each feature and a bound.

With λ = 0 and γ = 0 a value is what the next reward will be, so TD is the LMS rule and SwiftTD is
IDBD with a bound on what a step may do. It predicts for the features of this step and is told their
reward at the next, so each label comes with the features after it. It knows squared loss alone. Its
constants are those of its documentation, and the first step size is swept.
"""

import numpy as np
import swifttd

from bench.league.peers.peer import Peer
from bench.league.stream import Stream, losses
from llr.types import Vector

ALPHA, EPSILON, ETA, DECAY, META, ETA_MIN = 1e-2, 1e-5, 0.1, 0.999, 1e-3, 1e-10


def run(stream: Stream, rate: float | None) -> Vector:
    """The loss of each sample, by the prediction before its label was told."""
    alpha = ALPHA if rate is None else rate
    given = (stream.X.shape[1], 0.0, alpha, 0.0, EPSILON, max(ETA, alpha), DECAY, META, ETA_MIN)
    learner = swifttd.SwiftTDNonSparse(*given)
    s, label = np.empty(len(stream.y)), 0.0
    for t, (x, y) in enumerate(zip(stream.X.tolist(), stream.y.tolist(), strict=True)):
        s[t] = learner.step(x, label)
        label = y
    return losses(stream, np.where(np.isfinite(s), s, np.inf))


PEERS = [Peer("SwiftTD", run, real=True, numeric=True)]
