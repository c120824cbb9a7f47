"""From the bytes of a body to a pending commit: one way in for JSON, npy and WebSockets."""

from collections.abc import Callable
from typing import Any

from pydantic_core import from_json

from llr_service.codec import Samples, decode_json, decode_npy
from llr_service.problems import Problem
from llr_service.routes.params import LearnParams
from llr_service.sessions.actor import Session
from llr_service.sessions.batch import Pending
from llr_service.sessions.waiting import SHORT, in_thread_if_long

JSON, NDJSON, NPY = "application/json", "application/x-ndjson", "application/x-npy"
Decoder = Callable[[bytes, bool], Samples]
DECODERS: dict[str, Decoder] = {JSON: decode_json, NPY: decode_npy}


async def submit(
    session: Session, kind: str, body: bytes, params: LearnParams
) -> tuple[Pending, int]:
    """Learn from a whole body ahead of the store; with how many samples it had.

    `Session.finish` has to follow. What is wrong with a sample is told by its place in the body.
    """
    decode = DECODERS[kind]
    if len(body) < SHORT:
        samples = decode(body, session.features)
    else:
        samples = await in_thread_if_long(body, decode, body, session.features)
    try:
        pending = await session.submit(
            samples, params.ticket, params.if_match, params.predictions, params.admitted
        )
    except Problem as problem:
        raise by_pointer(problem, body, kind) from None
    return pending, samples.n


def by_pointer(problem: Problem, body: bytes, kind: str) -> Problem:
    """Places among the samples as pointers into the body they came in."""
    sent: Any = from_json(body) if kind == JSON else []
    for error in problem.errors:
        _, index, *rest = error.get("pointer", "").split("/")
        if isinstance(sent, dict) and index.isdigit():
            single = not isinstance(sent.get("y"), list)
            error["pointer"] = "/".join(["", *rest] if single else ["", *rest, index])
    return problem
