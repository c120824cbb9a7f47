"""`POST /v1/sessions/{name}/samples`: learn. From the socket to the disk, in one read.

Plain ASGI, called by the front: the hottest route. JSON and npy bodies are taken whole or not at
all; NDJSON is learnt and acknowledged in blocks as it arrives.
"""

import asyncio
import contextlib
import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from pydantic_core import from_json, to_json
from starlette.types import Receive, Scope, Send

from service import answers
from service.codec import Block, LineSplitter, Samples, decode_json, decode_ndjson, decode_npy
from service.context import Context
from service.limits import read_body, stream_body
from service.problems import Problem
from service.replies import send_body
from service.sessions.actor import (
    MOST_SAMPLES,
    PRODUCER,
    Learnt,
    Pending,
    Session,
    Ticket,
    in_thread_if_long,
)

JSON, NDJSON, NPY = "application/json", "application/x-ndjson", "application/x-npy"
DECODERS: dict[str, Callable[[bytes, bool], Samples]] = {JSON: decode_json, NPY: decode_npy}
SOON, ENOUGH = 0.002, 256 * 1024
"""Seconds to wait for another chunk of a stream, and bytes that are not waited upon."""
AHEAD = 8
"""Blocks of a stream that are learnt before the first of them is durable."""


class Asked(NamedTuple):
    """What the query and the headers of a request ask for."""

    ticket: Ticket | None = None
    if_match: int | None = None
    theta: bool = True
    predictions: bool = False
    admitted: bool = False


class Ingest:
    """The endpoint. One per app."""

    def __init__(self, context: Context) -> None:
        self._context = context

    async def __call__(self, name: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Learn from the body of a request."""
        headers: dict[bytes, bytes] = dict(scope["headers"])
        kind = (
            headers.get(b"content-type", b"").partition(b";")[0].strip().lower().decode("latin-1")
        )
        asked = _asked(scope["query_string"], headers)
        hub, settings = self._context.sessions, self._context.settings
        session = hub.at_hand(name) or await hub.get(name)
        scope["llr.session"] = session
        if kind == NDJSON:
            await self._stream(session, asked, headers, scope, receive, send)
            return
        decode = DECODERS.get(kind)
        if decode is None:
            raise Problem("unsupported-type", f"send {JSON}, {NDJSON} or {NPY}")
        limits = (settings.max_body, settings.body_timeout, settings.min_rate)
        with self._context.room_for(receive) as counted:
            body = await read_body(counted, scope["headers"], *limits)
            session, samples = await self._decoded(session, decode, body)
            try:
                learnt = await session.learn(
                    samples, asked.ticket, asked.if_match, asked.predictions
                )
            except Problem as problem:
                raise _by_pointer(problem, body, kind) from None
        self._note(session, samples, learnt)
        answer = answers.of_learning(session, learnt, asked.theta)
        await send_body(send, 200, answer, _headers(JSON, learnt))

    async def _decoded(
        self, session: Session, decode: Callable[[bytes, bool], Samples], body: bytes
    ) -> tuple[Session, Samples]:
        """The samples of a body, and the session, loaded again if it left memory meanwhile."""
        while True:
            features = session.config.features
            samples = await in_thread_if_long(body, decode, body, features)
            if session.gone:
                session = await self._context.sessions.get(session.name)
            if session.config.features == features:
                return session, samples

    async def _stream(
        self,
        session: Session,
        asked: Asked,
        headers: dict[bytes, bytes],
        scope: Scope,
        receive: Receive,
        send: Send,
    ) -> None:
        """NDJSON: one answer for all of it, or a line for each block if the client accepts that."""
        if asked.predictions:
            raise Problem("invalid", "predictions come with JSON and npy bodies only")
        progress = _Progress()
        blocks = self._blocks(session, asked, scope, receive, progress)
        if NDJSON.encode() in headers.get(b"accept", b""):
            await self._acknowledge(session, blocks, asked.theta, send)
            return
        last: Learnt | None = None
        async for learnt in blocks:
            last = learnt
        if last is None:
            last = await session.learn(Samples.none(), if_match=asked.if_match)
        whole = Learnt(last.learner, progress.accepted, progress.accepted == 0 < progress.blocks)
        answer = answers.of_learning(session, whole, asked.theta)
        await send_body(send, 200, answer, _headers(JSON, whole))

    async def _acknowledge(
        self, session: Session, blocks: AsyncIterator[Learnt], theta: bool, send: Send
    ) -> None:
        """A line for each block as it is committed; a problem ends the answer as its last line."""
        kind = [(b"content-type", NDJSON.encode())]
        head = {"type": "http.response.start", "status": 200, "headers": kind}
        started = False
        try:
            async for learnt in blocks:
                if not started:
                    started = True
                    await send(head)
                line = answers.of_learning(session, learnt, theta) + b"\n"
                await send({"type": "http.response.body", "body": line, "more_body": True})
        except Problem as problem:
            if not started:
                raise
            line = to_json(problem.body()) + b"\n"
            await send({"type": "http.response.body", "body": line, "more_body": True})
        if not started:
            await send(head)
        await send({"type": "http.response.body", "body": b""})

    async def _blocks(
        self, session: Session, asked: Asked, scope: Scope, receive: Receive, progress: "_Progress"
    ) -> AsyncIterator[Learnt]:
        """Blocks as they become durable, while later ones are read. A problem says how far."""
        ahead: asyncio.Queue[Pending | None] = asyncio.Queue(AHEAD)
        session.watchers += 1  # a session with an open stream stays in memory
        reader = asyncio.create_task(self._read(session, asked, scope, receive, ahead))
        try:
            while (pending := await ahead.get()) is not None:
                learnt = await session.finish(pending)
                progress.accepted += learnt.accepted
                progress.blocks += 1
                yield learnt
            await reader
        except Problem as problem:
            problem.extra |= {"accepted": progress.accepted, "t": session.t}
            raise
        finally:
            session.watchers -= 1
            reader.cancel()
            while not ahead.empty():
                if (left := ahead.get_nowait()) is not None:
                    with contextlib.suppress(Problem):
                        await session.finish(left)

    async def _read(
        self,
        session: Session,
        asked: Asked,
        scope: Scope,
        receive: Receive,
        ahead: "asyncio.Queue[Pending | None]",
    ) -> None:
        """Read blocks and learn from them ahead of the store, a bounded number of them."""
        settings = self._context.settings
        limits = (None, settings.body_timeout, settings.min_rate)
        try:
            most = max(settings.block_bytes, settings.max_line)
            splitter = LineSplitter(most, settings.max_line)
            body = stream_body(receive, scope["headers"], *limits)
            async with contextlib.aclosing(self._gathered(body)) as chunks:
                async for chunk in chunks:
                    for block in splitter.feed(chunk):
                        asked = await self._begin(session, block, asked, ahead)
            for block in splitter.flush():
                asked = await self._begin(session, block, asked, ahead)
        except asyncio.CancelledError:
            raise
        except BaseException:
            await ahead.put(None)
            raise
        await ahead.put(None)

    async def _gathered(self, chunks: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
        """Chunks joined while they come thick and fast: fewer commits, and larger ones."""
        gathered = bytearray()
        ended = False
        while not ended:
            waiting = asyncio.ensure_future(anext(chunks, None))
            try:
                if gathered:
                    await asyncio.wait([waiting], timeout=SOON)
                    if len(gathered) >= ENOUGH or not waiting.done():
                        yield bytes(gathered)
                        gathered.clear()
                chunk = await self._context.unless_draining(waiting)
            finally:
                await _call_off(waiting)
            ended = chunk is None
            gathered += chunk or b""
        if gathered:
            yield bytes(gathered)

    async def _begin(
        self, session: Session, block: Block, asked: Asked, ahead: "asyncio.Queue[Pending | None]"
    ) -> Asked:
        """Learn from one block; returns what the next one has to ask for."""
        samples = decode_ndjson(block.lines, block.first_line, session.config.features)
        if samples.n == 0:
            return asked
        try:
            pending = await session.begin(
                samples, asked.ticket, asked.if_match, admitted=asked.admitted
            )
        except Problem as problem:
            raise _by_line(problem, block) from None
        await ahead.put(pending)
        self._note(session, samples, pending.learnt)
        ticket = asked.ticket
        following = Ticket(ticket.producer, ticket.seq + samples.n) if ticket else None
        return asked._replace(ticket=following, if_match=None, admitted=True)

    def _note(self, session: Session, samples: Samples, learnt: Learnt) -> None:
        self._context.sessions.touched(session)
        if learnt.accepted < samples.n:
            self._context.metrics.duplicate(samples.n - learnt.accepted)


class _Progress:
    """How far an NDJSON body was taken."""

    def __init__(self) -> None:
        self.accepted = self.blocks = 0


async def _call_off(reading: "asyncio.Future[Any]") -> None:
    """End a read that nobody waits for any more, whatever came of it."""
    if not reading.done():
        reading.cancel()
        await asyncio.wait([reading])
    if not reading.cancelled():
        reading.exception()


def _by_pointer(problem: Problem, body: bytes, kind: str) -> Problem:
    """Places among the samples as pointers into the body they came in."""
    sent: Any = from_json(body) if kind == JSON else []
    for error in problem.errors:
        _, index, *rest = error.get("pointer", "").split("/")
        if isinstance(sent, dict) and index.isdigit():
            single = not isinstance(sent.get("y"), list)
            error["pointer"] = "/".join(["", *rest] if single else ["", *rest, index])
    return problem


def _by_line(problem: Problem, block: Block) -> Problem:
    """Places within a block as lines of the body. Blank lines count, so they are looked up."""
    lines = [i for i, line in enumerate(block.lines.split(b"\n")) if line.strip()]
    for error in problem.errors:
        _, index, *rest = error.get("pointer", "").split("/")
        if index.isdigit():
            error["line"] = block.first_line + lines[int(index)]
            error["pointer"] = "/" + "/".join(rest)
    return problem


def _headers(kind: str, learnt: Learnt) -> dict[str, str]:
    return {"content-type": kind, "etag": f'"{learnt.learner.t}"'}


def _asked(query: bytes, headers: dict[bytes, bytes]) -> Asked:
    """The query and If-Match, checked."""
    match = headers.get(b"if-match")
    if not query and match is None:
        return Asked()
    given = dict(parse_qsl(query.decode("latin-1"), keep_blank_values=True))
    return Asked(
        _ticket(given),
        _matched(match) if match is not None else None,
        _truth(given, "theta", True),
        _truth(given, "predictions", False),
    )


def _ticket(given: dict[str, str]) -> Ticket | None:
    producer, seq = given.get("producer"), given.get("seq")
    if producer is None and seq is None:
        return None
    if producer is None or seq is None:
        raise _wrong("seq" if seq is None else "producer", "producer and seq come together")
    if not PRODUCER.fullmatch(producer):
        raise _wrong("producer", "1 to 128 visible ASCII characters")
    if not (seq.isascii() and seq.isdigit() and len(seq) <= 16 and int(seq) < MOST_SAMPLES):
        raise _wrong("seq", "a whole number from 0")
    return Ticket(producer, int(seq))


def _matched(value: bytes) -> int | None:
    if value.strip() == b"*":
        return None
    found = re.fullmatch(rb'\s*"(\d{1,16})"\s*', value)
    if not found:
        raise _wrong("If-Match", 'write If-Match: "<t>"')
    return int(found[1])


def _truth(given: dict[str, str], name: str, default: bool) -> bool:
    value = given.get(name)
    if value not in (None, "true", "false"):
        raise _wrong(name, "true or false")
    return default if value is None else value == "true"


def _wrong(parameter: str, detail: str) -> Problem:
    return Problem(
        "invalid", f"{parameter}: {detail}", [{"parameter": parameter, "detail": detail}]
    )
