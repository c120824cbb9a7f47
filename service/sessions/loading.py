"""A session as it comes from the store: its learner, or why there is none."""

import logging

from llr import Learner, StateError
from service.codec import unpack_samples
from service.problems import Problem
from service.sessions.config import SessionConfig
from service.stores.store import Stored

log = logging.getLogger("service")


def rebuild(config: SessionConfig, stored: Stored) -> Learner | None:
    """Snapshot, then the tail through the same kernel: the same state to the last bit."""
    learner = Learner.unpack(stored.snapshot) if stored.snapshot is not None else None
    for entry in stored.tail:
        samples = unpack_samples(entry.blob)
        if learner is None:
            learner = Learner.from_config(config.of_learner(samples.dim))
        outcome = learner.learn(*samples.arguments)
        if not outcome:
            raise StateError("the log cannot be learnt from")
    if (learner.t if learner else 0) != stored.t:
        raise StateError("the log and the state do not meet")
    return learner


def not_found(name: str) -> Problem:
    """What is said of a name that no session has."""
    return Problem("session-not-found", f"PUT /v1/sessions/{name} creates it")


def damaged(name: str, why: Exception) -> Problem:
    """There is one, and it cannot be read; that is logged."""
    log.error("session is damaged", extra={"session": name, "why": str(why)})
    return Problem("damaged", f"session {name} cannot be read from the store: {why}")
