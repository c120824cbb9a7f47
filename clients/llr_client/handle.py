"""A session as one producer sees it: what is sent, under which number, and what is made of it."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import httpx

from llr_client.answers import Answer, History, State, read
from llr_client.errors import (
    LLRError,
    Problem,
    ProducerShared,
    SequenceGap,
    SessionNotFound,
    ShadowNotFound,
    StateRegressed,
    UnexpectedAnswer,
)
from llr_client.events import Watch
from llr_client.numbering import Numbering
from llr_client.samples import Batch
from llr_client.wire import Reply, Talk, Wire, to_json

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


class Handle:
    """One session and one producer's place in it. All methods are talks."""

    def __init__(self, wire: Wire, name: str, producer: str | None = None) -> None:
        if not NAME.fullmatch(name):
            raise ValueError(
                f"{name!r} is no session's name: that has 1 to 128 letters, digits, dots, _ and -,"
                " and starts with a letter or a digit"
            )
        self.name, self.path = name, f"/v1/sessions/{name}"
        self.numbering = Numbering(producer)
        self._wire = wire

    def learn(self, batch: Batch, theta: bool = True, predictions: bool = False) -> Talk[Answer]:
        """Send a batch until it is learnt, once."""
        number = self.numbering.known(batch)
        if number is None:
            number = yield from self.acked()
        request = self._samples(batch, number, theta, predictions)
        again = self.numbering.sending(batch, number)
        try:
            reply = yield from self._wire.ask(request)
        except Problem as problem:
            if problem.status < 500 and not (problem.retried or again):
                self.numbering.answered(number)  # nothing of it was learnt
            if isinstance(problem, SequenceGap):
                raise self._regressed(problem, number) from None
            raise
        answer = read(Answer, reply.json())
        if answer.accepted < batch.n and not (reply.retried or again):
            self.numbering.answered(None)
            raise self._shared()
        self.numbering.answered(number + batch.n)
        return answer

    def learn_all(
        self,
        batches: Iterator[Batch],
        theta: bool,
        predictions: bool,
        progress: Callable[[Answer], None] | None,
    ) -> Talk[Answer]:
        """Send batches one after the other; the last answer, for all of them."""
        total: Answer | None = None
        learnt = 0
        for batch in batches:
            with telling(learnt):
                answer = yield from self.learn(batch, theta, predictions)
            learnt += batch.n
            total = answer if total is None else _joined(total, answer)
            if progress is not None:
                progress(total)
        assert total is not None  # noqa: S101 - there is at least one batch
        return total

    def acked(self) -> Talk[int]:
        """How many of this producer's samples the service has."""
        query = {"producer": self.numbering.producer}
        members = (yield from self._ask("GET", "", query)).members()
        if not isinstance(members.get("next_seq"), int):
            raise UnexpectedAnswer("the service does not say where this producer is: it is too old")
        self.numbering.answered(members["next_seq"])
        return int(members["next_seq"])

    def predict(self, x: Any, id: str | Sequence[str] | None) -> Talk[Any]:  # noqa: A002
        """Predictions for a row, for rows, or for a model without features."""
        members = {} if x is None else {"x": x}
        if id is not None:
            members |= {"id": id} if isinstance(id, str) else {"ids": list(id)}
        body = to_json(members) if members else b""
        reply = yield from self._ask("POST", "/predict", body=body)
        return reply.members("predictions")["predictions"]

    def label(
        self,
        id: str | Sequence[str],  # noqa: A002
        y: Any,
        theta: bool,
        predictions: bool,
    ) -> Talk[Answer]:
        """Send labels until they are learnt, once: their ids make trying again harmless."""
        body: Any = {"id": id, "y": y}
        if not isinstance(id, str):
            body = [{"id": one, "y": label} for one, label in zip(id, y, strict=True)]
        query = self._wanted(theta, predictions)
        return read(Answer, (yield from self._ask("POST", "/labels", query, to_json(body))).json())

    def state(self) -> Talk[State]:
        """All of the session."""
        return read(State, (yield from self._ask("GET", "")).json())

    def history(self, points: int, theta: Sequence[int | str] | None) -> Talk[History]:
        """The past."""
        query: dict[str, Any] = {"points": points}
        if theta is not None:
            names = any(isinstance(one, str) for one in theta)
            query["theta"] = to_json(list(theta)).decode() if names else ",".join(map(str, theta))
        return read(History, (yield from self._ask("GET", "/history", query)).json())

    def events(self) -> Talk[None]:
        """Give the state now and whenever it moves."""
        return Watch(self._wire, f"{self.path}/events").talk()

    def snapshot(self) -> Talk[dict[str, Any]]:
        """Everything needed to go on elsewhere."""
        return (yield from self._ask("GET", "/snapshot")).members()

    def fork(self, name: str, producer: str | None, **changes: Any) -> Talk["Handle"]:
        """A copy under another name; what is given of its config differs."""
        twin = Handle(self._wire, name, producer)
        given = {member: value for member, value in changes.items() if value is not None}
        yield from self._ask("POST", "/fork", body=to_json({"name": name} | given))
        return twin

    def add_shadow(self, name: str, **config: Any) -> Talk[State]:
        """Let another algorithm learn beside the session's from now on."""
        given = {member: value for member, value in config.items() if value is not None}
        reply = yield from self._ask("PUT", _shadow(name), body=to_json(given))
        return read(State, reply.json())

    def remove_shadow(self, name: str) -> Talk[None]:
        """Remove a shadow. That it is gone after a lost answer is what was asked for."""
        try:
            yield from self._ask("DELETE", _shadow(name))
        except ShadowNotFound as gone:
            if not gone.retried:
                raise

    def promote(self, name: str) -> Talk[State]:
        """Make a shadow the champion; twice is the same as once."""
        reply = yield from self._ask("POST", "/promote", body=to_json({"name": name}))
        return read(State, reply.json())

    def delete(self) -> Talk[None]:
        """Delete the session. That it is gone after a lost answer is what was asked for."""
        try:
            yield from self._ask("DELETE", "")
        except SessionNotFound as gone:
            if not gone.retried:
                raise

    def _samples(self, batch: Batch, number: int, theta: bool, predictions: bool) -> httpx.Request:
        query: dict[str, Any] = {"producer": self.numbering.producer, "seq": number}
        query |= self._wanted(theta, predictions)
        return self._wire.request("POST", f"{self.path}/samples", query, batch.body, batch.kind)

    @staticmethod
    def _wanted(theta: bool, predictions: bool) -> dict[str, Any]:
        """What the query says about the answer."""
        without: dict[str, Any] = {} if theta else {"theta": "false"}
        return without | ({"predictions": "true"} if predictions else {})

    def _ask(
        self,
        method: str,
        path: str,
        query: dict[str, Any] | None = None,
        body: bytes | None = None,
    ) -> Talk[Reply]:
        return self._wire.ask(self._wire.request(method, self.path + path, query, body))

    def _regressed(self, gap: SequenceGap, number: int) -> Problem:
        self.numbering.answered(None)
        return gap.turned_into(
            StateRegressed,
            f"the service has {gap.extra.get('expected')} samples of {self.numbering.producer!r},"
            f" though it acknowledged {number}: the session was replaced, or its store restored to"
            " an older state",
        )

    def _shared(self) -> ProducerShared:
        return ProducerShared(
            f"the service already had samples from {self.numbering.producer!r} with the numbers of"
            " these, which were not learnt: another sender uses that name, give each its own"
        )


class Seat:
    """What every session has, however it is talked to."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, producer={self.producer!r})"

    @property
    def name(self) -> str:
        """Its name."""
        return self._handle.name

    @property
    def producer(self) -> str:
        """Under which name its samples are numbered."""
        return self._handle.numbering.producer


def _shadow(name: str) -> str:
    if not NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no shadow's name: letters, digits, dots, _ and -")
    return f"/shadows/{name}"


def _joined(before: Answer, answer: Answer) -> Answer:
    """The last of two answers, for the samples of both."""
    known = before.predictions is not None and answer.predictions is not None
    return replace(
        answer,
        accepted=before.accepted + answer.accepted,
        duplicate=before.duplicate and answer.duplicate,
        predictions=[*before.predictions, *answer.predictions] if known else None,  # type: ignore[misc]
    )


@contextmanager
def telling(learnt: int) -> Iterator[None]:
    """An error raised in here says how many samples of the call were learnt before."""
    try:
        yield
    except LLRError as error:
        error.learnt = learnt
        raise
