"""Samples as NDJSON: learnt and acknowledged in blocks, while later ones arrive."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any

from pydantic_core import to_json
from starlette.types import Receive, Scope

from service import answers
from service.codec import Block, LineSplitter, Samples, decode_ndjson
from service.context import Context
from service.limits import stream_body
from service.problems import Problem
from service.replies import Answer
from service.routes.asked import Asked
from service.sessions.actor import Session
from service.sessions.batch import Learnt, Pending, Ticket

NDJSON = b"application/x-ndjson"
SOON, ENOUGH = 0.002, 256 * 1024
"""Seconds to wait for another chunk of a stream, and bytes that are not waited upon."""
PIECE = 32 * 1024
"""Bytes of a block that are decoded at a time: a fraction of a millisecond."""
AHEAD = 8
"""Blocks of a stream that are learnt before the first of them is durable."""


class Streamed:
    """Learning from a stream: one answer for all of it, or a line for each block if asked for."""

    def __init__(self, context: Context) -> None:
        self._context = context

    async def __call__(
        self, session: Session, asked: Asked, scope: Scope, receive: Receive, answer: Answer
    ) -> None:
        """Learn from the body of a request."""
        if asked.predictions:
            raise Problem("invalid", "predictions come with JSON and npy bodies only")
        progress = _Progress()
        blocks = self._blocks(session, asked, scope, receive, progress)
        if any(name == b"accept" and NDJSON in value for name, value in scope["headers"]):
            await self._acknowledge(session, blocks, asked.theta, answer)
            return
        last: Learnt | None = None
        async for learnt in blocks:
            last = learnt
        if last is None:
            last = await session.learn(Samples.none(), if_match=asked.if_match)
        whole = Learnt(last.learner, progress.accepted, progress.accepted == 0 < progress.blocks)
        await answers.send(answer, session, whole, asked.theta)

    async def _acknowledge(
        self, session: Session, blocks: AsyncIterator[Learnt], theta: bool, send: Answer
    ) -> None:
        """A line for each block as it is committed; a problem ends the answer as its last line."""
        kind = [(b"content-type", NDJSON)]
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
        samples = await _decoded(block, session.features)
        if samples.n == 0:
            return asked
        try:
            pending = await session.begin(
                samples, asked.ticket, asked.if_match, admitted=asked.admitted
            )
        except Problem as problem:
            raise _by_line(problem, block) from None
        try:
            await ahead.put(pending)
        except asyncio.CancelledError:
            with contextlib.suppress(Problem):  # nobody else knows of it
                await session.finish(pending)
            raise
        self._context.noted(session, samples.n, pending.learnt.accepted)
        ticket = asked.ticket
        following = Ticket(ticket.producer, ticket.seq + samples.n) if ticket else None
        return asked._replace(ticket=following, if_match=None, admitted=True)


async def _decoded(block: Block, features: bool) -> Samples:
    """The samples of a block, read piece by piece: others are served in between."""
    parts: list[Samples] = []
    for piece in block.pieces(PIECE):
        if parts:
            await asyncio.sleep(0)
        parts.append(decode_ndjson(piece.lines, piece.first_line, features))
    try:
        return Samples.joined(parts)
    except ValueError:  # not of one width: the whole block tells which line is wrong
        return decode_ndjson(block.lines, block.first_line, features)


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


def _by_line(problem: Problem, block: Block) -> Problem:
    """Places within a block as lines of the body. Blank lines count, so they are looked up."""
    lines = [i for i, line in enumerate(block.lines.split(b"\n")) if line.strip()]
    for error in problem.errors:
        _, index, *rest = error.get("pointer", "").split("/")
        if index.isdigit():
            error["line"] = block.first_line + lines[int(index)]
            error["pointer"] = "/" + "/".join(rest)
    return problem
