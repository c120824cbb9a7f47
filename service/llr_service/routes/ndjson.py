"""Samples as NDJSON: learnt and acknowledged in blocks, while later ones arrive."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator
from functools import partial
from typing import Any

import orjson

from llr_service import serializers
from llr_service.codec import Block, BlockDecoder, LineSplitter, Samples
from llr_service.http.bodies import stream_body
from llr_service.http.request import Request
from llr_service.http.responses import Response
from llr_service.problems import Problem
from llr_service.routes.learning import LearnParams, no_columns
from llr_service.sessions.batch import LearnResult, PendingCommit, SequenceId
from llr_service.sessions.consistency import (
    InFlight,
    OrderedPipeline,
    learn_durably,
    run_with_retry,
    was_learnt,
)
from llr_service.sessions.session import Session

NDJSON = b"application/x-ndjson"
SOON, ENOUGH = 0.002, 256 * 1024
"""Seconds to wait for another chunk of a stream, and bytes that are not waited upon."""
PIECE = 32 * 1024
"""Bytes of a block that are decoded at a time: a fraction of a millisecond."""
AHEAD = 8
"""Blocks of a stream that are learnt before the first of them is durable."""


async def learn_stream(request: Request, session: Session, params: LearnParams) -> Response | None:
    """Learn from an NDJSON body: one answer for all of it, or a line a block if the query asks."""
    return await _Stream(request).learn(session, params)


class _Stream:
    """One NDJSON body on its way into a session."""

    def __init__(self, request: Request) -> None:
        self._request, self._state = request, request.state
        self._numbered: bool | None = None
        """Whether the samples have numbers of their own; None before the first block."""

    async def learn(self, session: Session, params: LearnParams) -> Response | None:
        """Learn from the whole body, block by block."""
        if params.predictions:
            raise Problem("invalid", "predictions come with JSON and npy bodies only")
        if params.columns is not None:
            raise no_columns()
        progress, pipeline = _Progress(), OrderedPipeline(self._state.sessions, session)
        last: LearnResult | None = None
        flow = self._blocks(pipeline, params, progress)
        async with contextlib.aclosing(flow) as blocks:
            if NDJSON in self._request.headers.get(b"accept", b""):
                await self._acknowledge(session, blocks, params.theta)
                return None
            async for learnt in blocks:
                last = learnt
        if last is None:
            empty = partial(learn_durably, partial(_submit_nothing, params))
            last = await run_with_retry(self._state.sessions, session, empty, was_learnt)
        again = progress.accepted == 0 and progress.duplicates > 0
        whole = last._replace(accepted=progress.accepted, duplicate=again)
        return serializers.learn_reply(session, whole, params.theta)

    async def _acknowledge(
        self, session: Session, blocks: AsyncIterator[LearnResult], theta: bool
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
            line = orjson.dumps(problem.body()) + b"\n"
            await send({"type": "http.response.body", "body": line, "more_body": True})
        if not started:
            await send(head)
        await send({"type": "http.response.body", "body": b""})

    async def _blocks(
        self,
        pipeline: OrderedPipeline,
        params: LearnParams,
        progress: "_Progress",
    ) -> AsyncGenerator[LearnResult, None]:
        """Blocks as they become durable, while later ones are read. A problem says how far."""
        ahead: asyncio.Queue[InFlight | None] = asyncio.Queue(AHEAD)
        async with pipeline:
            reader = asyncio.create_task(self._read(pipeline, params, ahead))
            try:
                while (in_flight := await ahead.get()) is not None:
                    learnt = await in_flight.result()
                    progress.accepted += learnt.accepted
                    progress.duplicates += learnt.duplicate
                    yield learnt
                await reader
            except Problem as problem:
                problem.extra |= {"accepted": progress.accepted, "t": pipeline.session.t}
                raise
            finally:
                await _call_off(reader)

    async def _read(
        self,
        pipeline: OrderedPipeline,
        params: LearnParams,
        ahead: "asyncio.Queue[InFlight | None]",
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
                        params = await self._begin(pipeline, block, params, ahead)
            for block in splitter.flush():
                params = await self._begin(pipeline, block, params, ahead)
            if params.sequence is not None and params.sequence.next is not None:
                await ahead.put(await pipeline.submit(partial(_submit_nothing, params)))
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
        pipeline: OrderedPipeline,
        block: Block,
        params: LearnParams,
        ahead: "asyncio.Queue[InFlight | None]",
    ) -> LearnParams:
        """Learn from one block; returns what the next one has to ask for."""
        self._state.keys.check(self._request.caller)
        registry, decode = self._state.sessions, partial(_decoded, block)
        samples = await run_with_retry(registry, pipeline.session, decode, lambda _: True)
        if samples.n == 0:
            return params
        if self._numbered not in (None, samples.numbers is not None):
            detail = "some samples have seq, others do not"
            error = {"line": block.first_line, "pointer": "/seq", "detail": detail}
            raise Problem("invalid", f"line {block.first_line}: {detail}", [error])
        self._numbered = samples.numbers is not None
        in_flight = await pipeline.submit(partial(_submit, samples, block, params))
        await ahead.put(in_flight)
        self._state.record_accepted(in_flight.session, samples.n, in_flight.pending.learnt.accepted)
        sequence = params.sequence
        if sequence is not None:
            after = sequence._replace(next=None).end(samples)
            sequence = SequenceId(sequence.producer, after, sequence.next)
        return params._replace(sequence=sequence, if_match=None, admitted=True)


async def _submit(
    samples: Samples, block: Block, params: LearnParams, session: Session
) -> PendingCommit:
    """Learn from a block ahead of the store, on one copy of the session."""
    sequence = params.sequence and params.sequence._replace(next=None)  # next is of the whole body
    try:
        return await session.submit(samples, sequence, params.if_match, admitted=params.admitted)
    except Problem as problem:
        raise _by_line(problem, block) from None


async def _submit_nothing(params: LearnParams, session: Session) -> PendingCommit:
    """What comes of a body without samples, or of its end: a producer's number may move."""
    sequence, admitted = params.sequence, params.admitted
    return await session.submit(Samples.none(), sequence, params.if_match, admitted=admitted)


async def _decoded(block: Block, session: Session) -> Samples:
    """The samples of a block, read piece by piece: others are served in between."""
    decoder = BlockDecoder(block, session.features, PIECE, session.classes)
    for _ in decoder:
        await asyncio.sleep(0)
    return decoder.samples


class _Progress:
    """How far an NDJSON body was taken."""

    def __init__(self) -> None:
        self.accepted = self.duplicates = 0


async def _call_off(reading: "asyncio.Future[Any]") -> None:
    """Cancel a pending read and ignore its outcome."""
    if not reading.done():
        reading.cancel()
        await asyncio.wait([reading])
    if not reading.cancelled():
        reading.exception()


def _by_line(problem: Problem, block: Block) -> Problem:
    """Places within a block as lines of the body. Blank lines count, so they are looked up."""
    lines = [i for i, line in enumerate(block.lines.split(b"\n")) if line.strip()]
    for error in problem.errors:
        _, index, *rest = error.get("pointer", "/").split("/")
        if index.isdigit():
            error["line"] = block.first_line + lines[int(index)]
            error["pointer"] = "/" + "/".join(rest)
    return problem
