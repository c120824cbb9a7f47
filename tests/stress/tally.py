"""What came of all that producers sent."""

from collections import Counter
from dataclasses import dataclass, field

from .verdict import broken

UNHELPFUL = "503 without Retry-After"


@dataclass
class Tally:
    """What came of all the sending.

    Attributes:
        acks: answers of 200.
        retries: batches sent again because nobody had answered.
        refused: answers that asked to send again.
        lost: samples that were acknowledged and are not there.
        twice: samples that are there and were never sent, so another must be there twice.
        differing: states that are not the replay's to the last bit, and where.
        faults: answers nobody should get, in words.
        overlaps: acknowledgements of places in a shared session that were another's.
        replayed: samples of a shared session whose order was found, and gave its very bits.
        unordered: samples among which too many had no answer to find their order.
        refusals: the answers that asked to send again, by what they were.
    """

    acks: int = 0
    retries: int = 0
    refused: int = 0
    lost: int = 0
    twice: int = 0
    differing: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    overlaps: int = 0
    replayed: int = 0
    unordered: int = 0
    refusals: Counter[str] = field(default_factory=Counter)

    def refuse(self, status: int, when: str | None) -> None:
        """Note an answer that asks for the same again, with or without a word on when."""
        self.refused += 1
        self.refusals[f"{status} {'with' if when else 'without'} Retry-After"] += 1

    def counts(self) -> dict[str, int]:
        """For a table."""
        counts = {"acks": self.acks, "lost": self.lost, "applied twice": self.twice}
        counts |= {"states that differ": len(self.differing), "overlaps": self.overlaps}
        return counts | {"shared in order": self.replayed, "order not known": self.unordered}

    def broken(self) -> list[str]:
        """How the promise was broken."""
        return (self.faults[:3] + self.differing[:3]) + broken(
            nothing_acked_is_lost=self.lost == 0,
            nothing_is_applied_twice=self.twice == 0,
            states_equal_the_replay=not self.differing,
            no_place_is_told_twice=self.overlaps == 0,
            a_503_says_when_to_come_back=self.refusals[UNHELPFUL] == 0,
        )
