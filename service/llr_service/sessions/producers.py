"""The producers of a session: the number of each one's next sample, and so what is new."""

import re

from llr_service.codec import Samples
from llr_service.problems import Problem
from llr_service.sessions.batch import Fresh, Ticket

PRODUCER = re.compile(r"[\x21-\x7e]{1,128}")
MOST_SAMPLES = 2**53


def new_of(
    samples: Samples, ticket: Ticket | None, producers: dict[str, int], most: int
) -> Fresh | None:
    """The samples that were not learnt before, None if there are none. A Problem at a gap."""
    n = samples.n
    if ticket is None:
        return Fresh(samples, range(n)) if n else None
    expected = producers.get(ticket.producer, 0)
    if ticket.seq > expected:
        raise Problem(
            "sequence-gap",
            f"producer {ticket.producer!r} is at {expected}: send from there",
            expected=expected,
        )
    if ticket.producer not in producers and len(producers) >= most:
        detail = f"this session knows {most} producers, its most: go on as one of those, number"
        raise Problem("producers-full", f"{detail} samples in another session, or send without")
    known = expected - ticket.seq
    if known >= n:
        return None
    return Fresh(samples.after(known), range(known, n), (ticket.producer, ticket.seq + n))
