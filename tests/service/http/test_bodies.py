"""Time is the loop's own clock, which jumps to whatever comes next: nothing sleeps."""

import asyncio
import selectors
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st
from llr_service.http.bodies import ClientGone, read_body, stream_body
from llr_service.problems import Problem
from starlette.types import Message, Receive

T = TypeVar("T")
Headers = list[tuple[bytes, bytes]]
GONE: Message = {"type": "http.disconnect"}


class Jump(selectors.SelectSelector):
    """Waits no time at all, but tells the clock how long it would have."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        assert timeout is not None, "nothing would ever happen"
        self.now += max(timeout, 0.0)
        return super().select(0)


class JumpLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self.jump = Jump()
        super().__init__(self.jump)

    def time(self) -> float:
        return self.jump.now


def run(work: Coroutine[Any, Any, T]) -> tuple[T, float]:
    """What came of it, and after how many seconds."""
    with asyncio.Runner(loop_factory=JumpLoop) as runner:
        result = runner.run(work)
        return result, runner.get_loop().time()


async def refused(work: Coroutine[Any, Any, object]) -> Problem:
    with pytest.raises(Problem) as caught:
        await work
    return caught.value


def sending(parts: Iterable[bytes | Message], every: float = 0.0, end: bool = True) -> Receive:
    """A client that sends these parts, one `every` seconds, and then ends the body or hangs."""
    messages = [_request(part) if isinstance(part, bytes) else part for part in parts]
    if end and messages:
        messages[-1]["more_body"] = False
    queue = iter(messages)

    async def receive() -> Message:
        if every:
            await asyncio.sleep(every)
        for message in queue:
            return message
        await asyncio.Event().wait()
        raise AssertionError

    return receive


def _request(part: bytes) -> Message:
    return {"type": "http.request", "body": part, "more_body": True}


async def streamed(receive: Receive, *bounds: Any, **rate: Any) -> bytes:
    return b"".join([part async for part in stream_body(receive, *bounds, **rate)])


def length(value: object) -> Headers:
    return [(b"host", b"h"), (b"content-length", str(value).encode())]


both = pytest.mark.parametrize("read", [read_body, streamed])


@both
@settings(deadline=None)
@seed(1)
@given(parts=st.lists(st.binary(max_size=20), min_size=1), room=st.integers(-3, 3))
def test_a_body_comes_whole_if_it_fits_and_else_is_refused(
    read: Any, parts: list[bytes], room: int
) -> None:
    body = b"".join(parts)
    limit = max(0, len(body) + room)
    for headers in ([], length(len(body))):
        if len(body) <= limit:
            assert run(read(sending(parts), headers, limit, 1))[0] == body
        else:
            problem, _ = run(refused(read(sending(parts), headers, limit, 1)))
            assert problem.kind.name == "too-large"
            assert problem.kind.status == 413
            assert problem.headers == {}, "closing early would lose the answer"
            assert problem.extra == {"limit": limit}


@both
def test_a_length_beyond_the_limit_is_refused_before_reading(read: Any) -> None:
    async def never() -> Message:
        raise AssertionError

    for value in (11, 10**17, "9" * 5000):
        problem, _ = run(refused(read(never, length(value), 10, 1)))
        assert problem.kind.name == "too-large"


@both
def test_an_endless_body_is_refused_at_the_limit(read: Any) -> None:
    taken = 0

    async def endless() -> Message:
        nonlocal taken
        taken += 1
        return _request(b"x" * 10)

    assert run(refused(read(endless, [], 1000, 1)))[0].kind.name == "too-large"
    assert taken == 101


@both
@pytest.mark.parametrize("value", ["", "-1", "+1", "1.0", "0x1", "1 ", "ten", "1, 1", "1_0", "²"])
def test_a_length_that_is_no_number_is_malformed(read: Any, value: str) -> None:
    problem, _ = run(refused(read(sending([b"x"]), length(value), 10, 1)))
    assert problem.kind.name == "malformed"


@both
def test_the_longer_of_two_lengths_counts(read: Any) -> None:
    problem, _ = run(refused(read(sending([b"x"]), length(1) + length(99), 10, 1)))
    assert problem.kind.name == "too-large"


@both
def test_silence_ends_at_the_deadline(read: Any) -> None:
    problem, after = run(refused(read(sending([]), [], 10, 30)))
    assert problem.kind.status == 408
    assert problem.headers == {"Connection": "close"}
    assert "30 seconds" in problem.detail
    assert after == pytest.approx(30, abs=0.01)


@both
def test_a_byte_a_second_ends_at_the_deadline(read: Any) -> None:
    problem, after = run(refused(read(sending([b"x"] * 1000, every=1), length(1000), 1000, 30)))
    assert problem.kind.name == "too-slow"
    assert 30 <= after < 31


@both
def test_empty_parts_buy_no_time(read: Any) -> None:
    problem, after = run(refused(read(sending([b""] * 1000, every=0.5), [], 1000, 30)))
    assert problem.kind.name == "too-slow"
    assert after == pytest.approx(30, abs=0.01)


@both
def test_a_large_body_over_a_slow_line_has_its_time(read: Any) -> None:
    parts = [b"x" * 1700] * 600
    body, after = run(read(sending(parts, every=1), [], 10**7, 30))
    assert len(body) == 600 * 1700
    assert after == pytest.approx(600)


@both
def test_the_rate_decides_how_slow_is_too_slow(read: Any) -> None:
    parts = [b"x"] * 100
    assert len(run(read(sending(parts, every=1), [], 1000, 30, rate=1))[0]) == 100
    problem, after = run(refused(read(sending(parts, every=1), [], 1000, 30, rate=2)))
    assert problem.kind.name == "too-slow"
    assert 58 <= after <= 60


def test_a_pause_of_a_stream_is_bounded_whatever_came_before() -> None:
    work = streamed(sending([b"x" * 10**6], end=False), [], None, 30)
    problem, after = run(refused(work))
    assert problem.kind.name == "too-slow"
    assert after == pytest.approx(30, abs=0.01)


def test_work_on_a_stream_is_not_held_against_the_client() -> None:
    async def work() -> int:
        seen = 0
        async for _ in stream_body(sending([b"x"] * 10, every=1), [], None, 30):
            await asyncio.sleep(60)
            seen += 1
        return seen

    seen, after = run(work())
    assert seen == 10
    assert after == pytest.approx(610)


def test_a_stream_may_have_no_limit_and_gives_no_empty_parts() -> None:
    async def work() -> list[bytes]:
        receive = sending([b"", b"ab", b"", b"c", b""])
        return [part async for part in stream_body(receive, length(10**30), None, 1)]

    assert run(work())[0] == [b"ab", b"c"]


def test_parts_come_as_they_arrive() -> None:
    async def work() -> bytes:
        return await anext(stream_body(sending([b"first"], end=False), [], None, 30))

    assert run(work()) == (b"first", 0.0)


@both
@pytest.mark.parametrize("before", [0, 1, 3])
def test_a_client_that_goes_away_is_no_problem_to_answer(read: Any, before: int) -> None:
    receive = sending([b"x"] * before + [GONE], end=False)
    with pytest.raises(ClientGone):
        run(read(receive, [], 10, 1))


@both
def test_a_message_without_a_body_is_an_empty_body(read: Any) -> None:
    assert run(read(sending([{"type": "http.request"}]), [], 0, 1))[0] == b""


@both
def test_a_cancelled_request_is_cancelled_and_not_too_slow(read: Any) -> None:
    async def work() -> None:
        task = asyncio.ensure_future(read(sending([b"x"], end=False), [], 10, 30))
        await asyncio.sleep(1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    assert run(work())[1] == pytest.approx(1)


def test_a_long_body_is_joined_in_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    joined = list[int]()

    async def noted(join: Any, parts: Any) -> bytes:
        joined.append(len(parts))
        found: bytes = join(parts)
        return found

    monkeypatch.setattr(asyncio, "to_thread", noted)
    for n in (10, 11):
        parts = [bytes([i]) * 10**5 for i in range(n)]
        assert run(read_body(sending(parts), [], 10**7, 30))[0] == b"".join(parts)
    assert joined == [11]
