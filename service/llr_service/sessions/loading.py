"""A session as it comes from the store: its team, or why there is none."""

import logging

from llr import StateError
from llr_service.codec import unpack_samples
from llr_service.problems import Problem
from llr_service.sessions.config import SessionConfig
from llr_service.sessions.packing import unpack
from llr_service.sessions.roster import new_team
from llr_service.sessions.team import Team
from llr_service.stores.store import StoredSession

log = logging.getLogger("llr_service")


def rebuild(config: SessionConfig, stored: StoredSession) -> Team | None:
    """Snapshot, then the tail through the same kernel: the same state to the last bit."""
    team = unpack(stored.snapshot, config.drift) if stored.snapshot is not None else None
    for entry in stored.tail:
        samples = unpack_samples(entry.blob)
        team = team or new_team(config, samples.dim)
        outcome = team.learn(*samples.arguments)
        if not outcome:
            raise StateError("the log cannot be learnt from")
    if (team.t if team else 0) != stored.t:
        raise StateError("the log and the state do not meet")
    return team


def not_found(name: str) -> Problem:
    """What is said of a name that no session has."""
    return Problem("session-not-found", f"PUT /v1/sessions/{name} creates it")


def damaged(name: str, why: Exception) -> Problem:
    """There is one, and it cannot be read; that is logged."""
    log.error("session is damaged", extra={"session": name, "why": str(why)})
    return Problem("damaged", f"session {name} cannot be read from the store: {why}")
