"""What a peer is to the league."""

from collections.abc import Callable
from typing import NamedTuple

from bench.league.stream import Stream
from llr.types import Vector


class Peer(NamedTuple):
    """Somebody else's learner.

    Attributes:
        name: as it stands in the tables.
        run: (stream, step size or None for its default) → the loss of each sample, predicted
            before it was learnt from.
        fast: whether it can be swept on every seed.
        swept: whether it takes part in sweeps.
        real: whether it runs on real data, as its users would run it there.
        synthetic: whether it runs on the synthetic streams.
        batch_1: whether it was made for one sample at a time.
        numeric: whether it is for squared loss alone.
    """

    name: str
    run: Callable[[Stream, float | None], Vector]
    fast: bool = False
    swept: bool = True
    real: bool = False
    synthetic: bool = True
    batch_1: bool = True
    numeric: bool = False
