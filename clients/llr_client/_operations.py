"""The operations of a service and of a session, without I/O.

Each method returns an `Operation` (`_protocol.py`), which a driver runs.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import httpx

from llr_client._events import EventStream
from llr_client._frames import frame_rows, is_frame
from llr_client._protocol import Emit, Endpoint, Operation, Reply, to_json
from llr_client._samples import Batch, SequenceNumbers, no_samples
from llr_client.answers import Answer, History, Listed, Prediction, State, parse
from llr_client.errors import (
    Invalid,
    LLRError,
    Problem,
    ProducerShared,
    SequenceGap,
    SessionExists,
    SessionNotFound,
    ShadowNotFound,
    StateRegressed,
    UnexpectedAnswer,
)
from llr_client.syntax import NAME


class SessionOperations:
    """The operations on one session by one producer."""

    def __init__(self, endpoint: Endpoint, name: str, producer: str | None = None) -> None:
        if not NAME.fullmatch(name):
            raise ValueError(
                f"{name!r} is no session's name: that has 1 to 128 letters, digits, dots, _ and -,"
                " and starts with a letter or a digit"
            )
        self.name, self.path = name, f"/v1/sessions/{name}"
        self.numbers = SequenceNumbers(producer)
        self._endpoint = endpoint

    def learn(
        self, batch: Batch, theta: bool = True, predictions: bool = False
    ) -> Operation[Answer]:
        """Send a batch until it is learnt, exactly once."""
        number = self.numbers.number_for(batch)
        if number is None:
            number = yield from self.acked()
        request = self._samples(batch, number, theta, predictions)
        again = self.numbers.mark_sent(batch, number)
        try:
            reply = yield from self._endpoint.call(request)
        except Problem as problem:
            if problem.status < 500 and not (problem.retried or again):
                self.numbers.mark_answered(number)  # nothing of it was learnt
            if isinstance(problem, SequenceGap):
                raise self._regression_error(problem, number) from None
            raise
        answer = parse(Answer, reply.json())
        if answer.accepted < batch.fresh(number) and not (reply.retried or again):
            self.numbers.mark_answered(None)
            shared = self._shared_error()
            shared.learnt = answer.accepted
            raise shared
        self.numbers.mark_answered(batch.end(number))
        return answer

    def learn_all(
        self,
        batches: Iterator[Batch],
        theta: bool,
        predictions: bool,
        progress: Callable[[Answer], None] | None,
        framed: bool = False,
    ) -> Operation[Answer]:
        """Send batches in order; returns the last answer, with the counts of all batches.

        `framed` says that they come from a frame, for the message if names are refused.
        """
        total: Answer | None = None
        learnt = 0
        for batch in batches:
            with annotate_progress(learnt):
                try:
                    answer = yield from self.learn(batch, theta, predictions)
                except Invalid as refused:
                    raise (yield from self._frame_error(refused, framed)) from None
            learnt += batch.n
            total = answer if total is None else _merged(total, answer)
            if progress is not None:
                progress(total)
        assert total is not None  # noqa: S101 - there is at least one batch
        return total

    def acked(self) -> Operation[int]:
        """The number of this producer's samples that the service has."""
        query = {"producer": self.numbers.producer}
        members = (yield from self._call("GET", "", query)).members()
        if not isinstance(members.get("next_seq"), int):
            raise UnexpectedAnswer("the service does not say where this producer is: it is too old")
        self.numbers.mark_answered(members["next_seq"])
        return int(members["next_seq"])

    def skip_to(self, number: int) -> Operation[int]:
        """Move the producer's next number to this one, unless it is there already."""
        acked = self.numbers.number_for(no_samples(number))
        if acked is None:
            acked = yield from self.acked()
        if acked < number:
            yield from self.learn(no_samples(number), theta=False)
        return max(acked, number)

    def predict(
        self,
        x: Any,
        id: str | Sequence[str] | None,  # noqa: A002
        interval: float | None,
    ) -> Operation[Any]:
        """Predict for one row, for several rows, or for a model without features."""
        members = {} if x is None else {"x": frame_rows(x) if is_frame(x) else x}
        if id is not None:
            members |= {"id": id} if isinstance(id, str) else {"ids": list(id)}
        body = to_json(members) if members else b""
        query = None if interval is None else {"interval": interval}
        try:
            reply = yield from self._call("POST", "/predict", query, body)
        except Invalid as refused:
            raise (yield from self._frame_error(refused, is_frame(x))) from None
        found = reply.members("predictions")
        return found["predictions"] if interval is None else parse(Prediction, found)

    def label(
        self,
        id: str | Sequence[str],  # noqa: A002
        y: Any,
        w: Any,
        theta: bool,
        predictions: bool,
    ) -> Operation[Answer]:
        """Send labels until they are learnt, exactly once: their ids make retries safe."""
        columns = {"id": id, "y": y} | ({} if w is None else {"w": w})
        body: Any = columns
        if not isinstance(id, str):
            if w is not None and not hasattr(w, "__len__"):
                columns["w"] = [w] * len(id)
            rows = zip(*columns.values(), strict=True)
            body = [dict(zip(columns, row, strict=True)) for row in rows]
        query = self._answer_query(theta, predictions)
        return parse(
            Answer, (yield from self._call("POST", "/labels", query, to_json(body))).json()
        )

    def state(self) -> Operation[State]:
        """The session's state."""
        return parse(State, (yield from self._call("GET", "")).json())

    def history(self, points: int, theta: Sequence[int | str] | None) -> Operation[History]:
        """The session's history."""
        query: dict[str, Any] = {"points": points}
        if theta is not None:
            names = any(isinstance(one, str) for one in theta)
            query["theta"] = to_json(list(theta)).decode() if names else ",".join(map(str, theta))
        return parse(History, (yield from self._call("GET", "/history", query)).json())

    def events(self) -> Operation[None]:
        """Emit the state now and after every change."""
        return EventStream(self._endpoint, f"{self.path}/events").operation()

    def snapshot(self) -> Operation[dict[str, Any]]:
        """The session's snapshot."""
        return (yield from self._call("GET", "/snapshot")).members()

    def fork(
        self, name: str, producer: str | None, **changes: Any
    ) -> Operation["SessionOperations"]:
        """Copy the session under another name; `changes` override its config."""
        twin = SessionOperations(self._endpoint, name, producer)
        given = {member: value for member, value in changes.items() if value is not None}
        yield from self._call("POST", "/fork", body=to_json({"name": name} | given))
        return twin

    def add_shadow(self, name: str, **config: Any) -> Operation[State]:
        """Add another algorithm that learns the same samples from now on."""
        given = {member: value for member, value in config.items() if value is not None}
        reply = yield from self._call("PUT", _shadow(name), body=to_json(given))
        return parse(State, reply.json())

    def remove_shadow(self, name: str) -> Operation[None]:
        """Delete a shadow. If it is gone after a lost answer, the retry succeeded."""
        try:
            yield from self._call("DELETE", _shadow(name))
        except ShadowNotFound as gone:
            if not gone.retried:
                raise

    def promote(self, name: str) -> Operation[State]:
        """Make a shadow the champion; idempotent."""
        reply = yield from self._call("POST", "/promote", body=to_json({"name": name}))
        return parse(State, reply.json())

    def delete(self, if_t: int | None) -> Operation[None]:
        """Delete the session. If it is gone after a lost answer, the retry succeeded."""
        headers = None if if_t is None else {"if-match": f'"{if_t}"'}
        try:
            yield from self._call("DELETE", "", headers=headers)
        except SessionNotFound as gone:
            if not gone.retried:
                raise

    def _samples(self, batch: Batch, number: int, theta: bool, predictions: bool) -> httpx.Request:
        covered = number if batch.seq is None else min(number, batch.seq[0])
        query: dict[str, Any] = {"producer": self.numbers.producer, "seq": covered}
        query |= self._answer_query(theta, predictions)
        query |= {} if batch.columns is None else {"columns": batch.columns}
        query |= {} if batch.next is None else {"next": batch.next}
        return self._endpoint.request("POST", f"{self.path}/samples", query, batch.body, batch.kind)

    @staticmethod
    def _answer_query(theta: bool, predictions: bool) -> dict[str, Any]:
        """The query parameters that choose the answer's members."""
        without: dict[str, Any] = {} if theta else {"theta": "false"}
        return without | ({"predictions": "true"} if predictions else {})

    def _call(
        self,
        method: str,
        path: str,
        query: dict[str, Any] | None = None,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Operation[Reply]:
        request = self._endpoint.request(method, self.path + path, query, body, headers=headers)
        return self._endpoint.call(request)

    def _frame_error(self, refused: Invalid, framed: bool) -> Operation[Problem]:
        """The error for a refused frame, with advice if the session's features have no names."""
        if not framed:
            return refused
        state = yield from self.state()
        if state.features is not None or state.t == 0:
            return refused
        return refused.as_type(
            Invalid,
            f"{self.name} has learnt features by position, and a frame gives them by name: send"
            " frame.to_numpy(), with the columns in the order in which they were learnt",
        )

    def _regression_error(self, gap: SequenceGap, number: int) -> Problem:
        self.numbers.mark_answered(None)
        return gap.as_type(
            StateRegressed,
            f"the service has {gap.extra.get('expected')} samples of {self.numbers.producer!r},"
            f" though it acknowledged {number}: the session was replaced, or its store restored to"
            " an older state",
        )

    def _shared_error(self) -> ProducerShared:
        return ProducerShared(
            f"the service already had samples from {self.numbers.producer!r} with the numbers of"
            " these, which were not learnt: another sender uses that name, give each its own"
        )


def _shadow(name: str) -> str:
    if not NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no shadow's name: letters, digits, dots, _ and -")
    return f"/shadows/{name}"


def _merged(before: Answer, answer: Answer) -> Answer:
    """The later of two answers, with the counts of both."""
    return replace(
        answer,
        accepted=before.accepted + answer.accepted,
        duplicate=before.duplicate and answer.duplicate,
        predictions=_both(before.predictions, answer.predictions),
        probabilities=_both(before.probabilities, answer.probabilities),
    )


def _both(before: list[Any] | None, after: list[Any] | None) -> list[Any] | None:
    return None if before is None or after is None else [*before, *after]


@contextmanager
def annotate_progress(learnt: int) -> Iterator[None]:
    """Set `learnt` of an error raised in this block: samples of the call learnt before it."""
    try:
        yield
    except LLRError as error:
        error.learnt += learnt
        raise


PAGE_SIZE = 500


class ServiceOperations:
    """The operations on a service that are not about one existing session."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint

    def open(self, operations: SessionOperations, **config: Any) -> Operation[None]:
        """Create a session unless it exists with the same config. Without config send nothing."""
        given = {name: value for name, value in config.items() if value is not None}
        if not given:
            return
        if "model" not in given:
            raise TypeError(f"{', '.join(given)} without a model: to create a session, name one")
        yield from self._endpoint.call(
            self._endpoint.request("PUT", operations.path, body=to_json(given))
        )

    def restore(
        self, operations: SessionOperations, snapshot: Mapping[str, Any]
    ) -> Operation[None]:
        """Create a session from a snapshot.

        After a lost answer the name may be taken by this restore itself; then it succeeded.
        """
        request = self._endpoint.request(
            "PUT", f"{operations.path}/snapshot", body=to_json(snapshot)
        )
        try:
            yield from self._endpoint.call(request)
        except SessionExists as taken:
            if not taken.retried:
                raise
            there = yield from operations.snapshot()
            if {**there, "name": ""} != {**snapshot, "name": ""}:
                raise

    def sessions(self) -> Operation[None]:
        """Emit every session, page after page."""
        query: dict[str, Any] = {"limit": PAGE_SIZE}
        while True:
            request = self._endpoint.request("GET", "/v1/sessions", query)
            page = (yield from self._endpoint.call(request)).members("sessions", "next")
            for row in page["sessions"]:
                yield Emit(parse(Listed, row))
            if page["next"] is None:
                return
            query["cursor"] = page["next"]

    def get(self, path: str, *needed: str) -> Operation[dict[str, Any]]:
        """The JSON object at a path, which must have at least these members."""
        return (yield from self._endpoint.call(self._endpoint.request("GET", path))).members(
            *needed
        )
