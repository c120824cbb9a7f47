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
    """

    fence: str = "stamp"
    dedupe: bool = True
    ack: str = "after"
    publish: str = "after"
    read: str = "waited"


@dataclass(frozen=True)
class Bounds:
    """How much can happen in one history: replicas, samples of each producer, sends of a sample."""

    replicas: int = 2
    samples: tuple[int, ...] = (1, 1)
    sends: int = 2
    crashes: int = 1
    breaks: int = 1


MUTANTS: dict[str, Rules] = {
    "no fence": Rules(fence="nothing"),
    "t as the fence": Rules(fence="t"),
    "no numbers": Rules(dedupe=False),
    "an answer before the commit": Rules(ack="before"),
    "a state shown before the commit": Rules(publish="before"),
    "reads of any copy": Rules(read="nothing"),
    "reads that do not wait for what is stored": Rules(read="compared"),
}
"""The protocol without one of its precautions."""
