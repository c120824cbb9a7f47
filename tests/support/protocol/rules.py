"""What the model is asked: with which precautions, and how much may happen."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Rules:
    """The precautions of the protocol.

    Attributes:
        fence: what the store compares before it stores a change: stamp, t or nothing.
        dedupe: whether samples that were learnt are told by their number.
        ack: whether a producer is answered before or after its change is stored.
        publish: whether a state is shown before or after it is stored.
        read: whether a copy is compared with the store before it is shown, and what is stored but
            not known to be so is waited for: waited, compared or nothing.
        unique: whether a copy that is loaded again gives stamps that nobody gave before.
        told_apart: whether a session is told from the next one of its name.
        ahead: whether a copy goes if the store has an earlier change of its own than it heard of.
    """

    fence: str = "stamp"
    dedupe: bool = True
    ack: str = "after"
    publish: str = "after"
    read: str = "waited"
    unique: bool = True
    told_apart: bool = True
    ahead: bool = True


@dataclass(frozen=True)
class Bounds:
    """How much can happen in one history.

    Attributes:
        replicas: how many there are.
        samples: of each producer.
        sends: how often a sample is sent.
        crashes: of replicas; what they sent may arrive later.
        breaks: of lines to the store; what was on its way may arrive later.
        deletes: of the session, which may be created again.
        losses: how often the store goes back to what it was before.
    """

    replicas: int = 2
    samples: tuple[int, ...] = (1, 1)
    sends: int = 2
    crashes: int = 1
    breaks: int = 1
    deletes: int = 0
    losses: int = 0


SHORT = Bounds(crashes=0, breaks=0)
MUTANTS: dict[str, tuple[Rules, Bounds]] = {
    "no fence": (Rules(fence="nothing"), SHORT),
    "t as the fence": (Rules(fence="t"), SHORT),
    "no numbers": (Rules(dedupe=False), SHORT),
    "an answer before the commit": (Rules(ack="before"), SHORT),
    "a state shown before the commit": (Rules(publish="before"), SHORT),
    "reads of any copy": (Rules(read="nothing"), SHORT),
    "reads that do not wait for what is stored": (Rules(read="compared"), SHORT),
    "stamps that are given again": (Rules(unique=False), Bounds(crashes=0)),
    "a name as the session": (Rules(told_apart=False), Bounds(crashes=0, breaks=0, deletes=1)),
    "reads of a copy that is ahead": (Rules(ahead=False), Bounds(crashes=0, breaks=0, losses=1)),
}
"""The protocol without one of its precautions, and how much has to happen to find it out."""
