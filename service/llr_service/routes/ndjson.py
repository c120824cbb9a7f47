"""Samples as NDJSON: learnt and acknowledged in blocks, while later ones arrive."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator
from functools import partial
from typing import Any

from pydantic_core import to_json

from llr_service import serializers
from llr_service.codec import Block, BlockDecoder, LineSplitter, Samples
from llr_service.http.bodies import stream_body
from llr_service.http.request import Request
from llr_service.http.responses import Response
from llr_service.problems import Problem
from llr_service.routes.params import LearnParams
from llr_service.sessions.actor import Session
from llr_service.sessions.batch import Learnt, Pending, Ticket
from llr_service.sessions.course import Begun, Course
from llr_service.sessions.present import upon

NDJSON = b"application/x-ndjson"
SOON, ENOUGH = 0.002, 256 * 1024
"""Seconds to wait for another chunk of a stream, and bytes that are not waited upon."""
PIECE = 32 * 1024
"""Bytes of a block that are decoded at a time: a fraction of a millisecond."""
AHEAD = 8
"""Blocks of a stream that are learnt before the first of them is durable."""


async def learn_stream(request: Request, session: Session, params: LearnParams) -> Response | None:
    """Learn from an NDJSON body: one answer for all of it, or a line a block if params for."""
    return await _Stream(request).learn(session, params)


class _Stream:
    """One NDJSON body on its way into a session."""

    def __init__(self, request: Request) -> None:
        self._request, self._state = request, request.state

    async def learn(self, session: Session, params: LearnParams) -> Response | None:
        """Learn from the whole body, block by block."""
        if params.predictions:
            raise Problem("invalid", "predictions come with JSON and npy bodies only")
        progress, course = _Progress(), Course(self._state.sessions, session)
        last: Learnt | None = None
        flow = self._blocks(course, params, progress)
        async with contextlib.aclosing(flow) as blocks:
            if NDJSON in self._request.headers.get(b"accept", b""):
                await self._acknowledge(session, blocks, params.theta)
                return None
            async for learnt in blocks:
                last = learnt
        if last is None:
            last = await course.finish(await course.begin(partial(_nothing, params)))
        again = progress.accepted == 0 < progress.blocks
        whole = last._replace(accepted=progress.accepted, duplicate=again)
        return serializers.learn_reply(session, whole, params.theta)

    async def _acknowledge(
        self, session: Session, blocks: AsyncIterator[Learnt], theta: bool
    ) -> None:
        """A line for each block as it is committed; a problem ends the answer as its last line."""
        kind, send = [(b"content-type", NDJSON)], self._request.send
        head = {"type": "http.response.start", "status": 200, "headers": kind}
        started = False
        try:
            async for learnt in blocks:
                if not started:
                    started = True
                    await send(head)
                line = serializers.learn_response(session, learnt, theta) + b"\n"
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
        self,
        course: Course,
        params: LearnParams,
        progress: "_Progress",
    ) -> AsyncGenerator[Learnt, None]:
        """Blocks as they become durable, while later ones are read. A problem says how far."""
        ahead: asyncio.Queue[Begun | None] = asyncio.Queue(AHEAD)
        with course:
            reader = asyncio.create_task(self._read(course, params, ahead))
            try:
                while (begun := await ahead.get()) is not None:
                    learnt = await course.finish(begun)
                    progress.accepted += learnt.accepted
                    progress.blocks += 1
                    yield learnt
                await reader
            except Problem as problem:
                problem.extra |= {"accepted": progress.accepted, "t": course.session.t}
                raise
            finally:
                await _call_off(reader)
                await _let_go(course, ahead)

    async def _read(
        self,
        course: Course,
        params: LearnParams,
        ahead: "asyncio.Queue[Begun | None]",
    ) -> None:
        """Read blocks and learn from them ahead of the store, a bounded number of them."""
        settings = self._state.settings
        limits = (None, settings.body_timeout, settings.min_rate)
        try:
            most = max(settings.block_bytes, settings.max_line)
            splitter = LineSplitter(most, settings.max_line)
            body = stream_body(self._request.receive, self._request.scope["headers"], *limits)
            async with contextlib.aclosing(self._gathered(body)) as chunks:
                async for chunk in chunks:
                    for block in splitter.feed(chunk):
                        params = await self._begin(course, block, params, ahead)
            for block in splitter.flush():
                params = await self._begin(course, block, params, ahead)
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
                chunk = await self._state.cancel_on_shutdown(waiting)
            finally:
                await _call_off(waiting)
            ended = chunk is None
            gathered += chunk or b""
        if gathered:
            yield bytes(gathered)

    async def _begin(
        self,
        course: Course,
        block: Block,
        params: LearnParams,
        ahead: "asyncio.Queue[Begun | None]",
    ) -> LearnParams:
        """Learn from one block; returns what the next one has to ask for."""
        hub, decode = self._state.sessions, partial(_decoded, block)
        samples = await upon(hub, course.session, decode, lambda _: True)
        if samples.n == 0:
            return params
        begun = await course.begin(partial(_learn, samples, block, params))
        try:
            await ahead.put(begun)
        except asyncio.CancelledError:
            with contextlib.suppress(Problem):  # nobody else knows of it
                await course.let_go(begun)
            raise
        self._state.record_accepted(begun.session, samples.n, begun.pending.learnt.accepted)
        ticket = params.ticket
        following = Ticket(ticket.producer, ticket.seq + samples.n) if ticket else None
        return params._replace(ticket=following, if_match=None, admitted=True)


async def _learn(samples: Samples, block: Block, params: LearnParams, session: Session) -> Pending:
    """Learn from a block ahead of the store, on one copy of the session."""
    try:
        return await session.submit(
            samples, params.ticket, params.if_match, admitted=params.admitted
        )
    except Problem as problem:
        raise _by_line(problem, block) from None


async def _nothing(params: LearnParams, session: Session) -> Pending:
    """What comes of a body without samples."""
    return await session.submit(Samples.none(), if_match=params.if_match)


async def _let_go(course: Course, ahead: "asyncio.Queue[Begun | None]") -> None:
    """Wait for blocks whose sender is told nothing any more."""
    while not ahead.empty():
        if (left := ahead.get_nowait()) is not None:
            with contextlib.suppress(Problem):
                await course.let_go(left)


async def _decoded(block: Block, session: Session) -> Samples:
    """The samples of a block, read piece by piece: others are served in between."""
    decoder = BlockDecoder(block, session.features, PIECE)
    for _ in decoder:
        await asyncio.sleep(0)
    return decoder.samples


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
