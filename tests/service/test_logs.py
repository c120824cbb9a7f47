import asyncio
import io
import json
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import copy_context
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import example, given, seed, settings
from hypothesis import strategies as st
from llr_service.logs import (
    JsonFormatter,
    TextFormatter,
    begin_request,
    configure,
    current_request,
    trace_id_of,
)

FORMATTER = JsonFormatter()
ANY_TEXT = st.text(st.characters(exclude_categories=()))  # lone surrogates too


@contextmanager
def configured() -> Iterator[io.StringIO]:
    """Logs configured into a buffer, and as they were afterwards."""
    names = [None, "uvicorn", "uvicorn.error", "uvicorn.access", "uvicorn.asgi"]
    loggers = [logging.getLogger(name) for name in names]
    before = [(log.handlers[:], log.level, log.propagate) for log in loggers]
    buffer = io.StringIO()
    configure("info", buffer)
    try:
        yield buffer
    finally:
        logging.captureWarnings(False)
        for log, (handlers, level, propagate) in zip(loggers, before, strict=True):
            log.handlers[:], log.propagate = handlers, propagate
            log.setLevel(level)


def begin(*headers: tuple[bytes, bytes]) -> str:
    """A request of its own."""
    return copy_context().run(begin_request, headers)


def line_of(message: object, *args: object, **extra: object) -> dict[str, Any]:
    record = logging.getLogger("llr_service").makeRecord(
        "llr_service", logging.INFO, "f.py", 1, message, args, None, extra=extra
    )
    return read(FORMATTER.format(record))


def read(line: str) -> dict[str, Any]:
    """The line as a strict reader takes it."""
    assert all(" " <= character <= "~" for character in line)

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    members: dict[str, Any] = json.loads(line, parse_constant=refuse)
    json.dumps(members, ensure_ascii=False).encode()  # no lone surrogates
    return members


def test_a_line_has_time_level_message_and_extras() -> None:
    before = datetime.now(UTC)
    line = line_of("learnt %d", 3, session="demo", t=120, status=200, ms=1.5)
    assert list(line) == ["ts", "level", "logger", "message", "session", "t", "status", "ms"]
    assert line["message"] == "learnt 3"
    assert line["level"] == "info"
    assert (line["session"], line["t"], line["ms"]) == ("demo", 120, 1.5)
    stamp = datetime.fromisoformat(line["ts"])
    assert stamp.utcoffset() is not None
    assert abs((stamp - before).total_seconds()) < 60


@settings(deadline=None)
@seed(1)
@given(message=ANY_TEXT, value=ANY_TEXT)
@example("\x1b[31mred\r\n\x00\x7f\x9b", "\ud800\u2028\u2029")
@example('{"level": "forged"}\n{}', "😀\ude00\ud83d")
@example("\\ud800 is text", "\\")
def test_no_text_breaks_its_line(message: str, value: str) -> None:
    line = line_of("%s", message, session=value)
    pairs = message.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if "\ufffd" not in pairs:
        assert line["message"] == pairs
    assert line["level"] == "info"
    assert set(line) == {"ts", "level", "logger", "message", "session"}


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT | st.binary(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner, max_size=3),
)


@settings(deadline=None)
@seed(1)
@given(value=VALUES)
def test_no_value_breaks_its_line(value: object) -> None:
    assert "value" in line_of("m", value=value)


@pytest.mark.slow
def test_values_that_cannot_be_written_are_described() -> None:
    class Broken:
        def __str__(self) -> str:
            raise RuntimeError

    loop: list[object] = []
    loop.append(loop)
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    assert line_of("m", value=Broken())["value"] == "<Broken: RuntimeError>"
    assert line_of("m", value=loop)["value"] == "[[...]]"
    assert line_of("m", value={(1, 2): 3})["value"] == "{(1, 2): 3}"
    assert line_of("m", value=float("nan"))["value"] == "nan"
    assert line_of("m", value=deep)["value"] == "<list: RecursionError>"


def test_a_message_that_does_not_fit_its_arguments_is_written_all_the_same() -> None:
    assert line_of("%d samples", "no")["message"] == "'%d samples'"


def test_extras_cannot_replace_what_every_line_has() -> None:
    line = line_of("m", ts="x", level="x", logger="x", color_message="\x1b[1m")
    assert line["level"] == "info"
    assert line["ts"] != "x"
    assert "color_message" not in line


def test_an_exception_is_a_member_not_more_lines() -> None:
    with configured() as stream:
        try:
            raise ValueError("a\nb")
        except ValueError:
            logging.getLogger("llr_service").exception("failed", stack_info=True)
    (text,) = stream.getvalue().splitlines()
    line = read(text)
    assert "ValueError: a\nb" in line["exception"]
    assert "test_logs.py" in line["stack"]


def test_uvicorn_and_warnings_are_taken_over() -> None:
    with configured() as stream, warnings.catch_warnings():
        for name in ("uvicorn", "uvicorn.access"):
            logging.getLogger(name).addHandler(logging.StreamHandler(stream))
        configure("info", stream)
        logging.getLogger("uvicorn.error").info("Started", extra={"color_message": "\x1b[1m"})
        logging.getLogger("uvicorn.access").info("GET /")
        assert not logging.getLogger("uvicorn.access").hasHandlers()
        logging.getLogger("llr_service").debug("not wanted")
        warnings.simplefilter("always")
        warnings.warn("old", stacklevel=1)
    started, warned = (read(line) for line in stream.getvalue().splitlines())
    assert started["logger"] == "uvicorn.error"
    assert warned["level"] == "warning"
    assert "old" in warned["message"]


def test_configuring_again_does_not_double_the_lines() -> None:
    with configured() as stream:
        configure("warning", stream)
        logging.getLogger("llr_service").warning("once")
        logging.getLogger("llr_service").info("never")
    assert len(stream.getvalue().splitlines()) == 1


@pytest.mark.parametrize("sent", [b"a", b"A-b_c.9", b"x" * 64])
def test_a_proper_request_id_is_kept(sent: bytes) -> None:
    assert begin((b"host", b"h"), (b"x-request-id", sent)) == sent.decode()


@pytest.mark.parametrize(
    "sent", [b"", b"x" * 65, b"a b", b"a\n", b"\x1b[0m", b"\xc3\xa9", b"a\x00"]
)
def test_any_other_request_id_is_replaced(sent: bytes) -> None:
    made = begin((b"x-request-id", sent))
    assert made != sent.decode()
    assert begin((b"x-request-id", made.encode())) == made


def test_new_ids_differ() -> None:
    assert len({begin() for _ in range(1000)}) == 1000


def test_each_request_logs_its_own_id_and_others_log_none() -> None:
    async def request(name: str) -> tuple[str, object]:
        given = begin_request([(b"x-request-id", name.encode())])
        await asyncio.sleep(0)
        assert current_request() == given
        return given, line_of("m")["request_id"]

    async def main() -> list[tuple[str, object]]:
        return await asyncio.gather(*(request(f"r{i}") for i in range(5)))

    assert asyncio.run(main()) == [(f"r{i}", f"r{i}") for i in range(5)]
    assert current_request() is None
    assert "request_id" not in line_of("m")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_on_a_terminal_lines_are_text_unless_json_is_asked_for() -> None:
    with configured():
        shown, asked = Terminal(), Terminal()
        configure("info", shown)
        logging.getLogger("llr_service").info("session created", extra={"session": "demo"})
        logging.getLogger("uvicorn.error").info("Started server process")
        logging.getLogger("uvicorn.error").warning("odd")
        configure("info", asked, "json")
        logging.getLogger("llr_service").info("m")
    first, second = shown.getvalue().splitlines()
    assert first[8:] == "  session created  session=demo"
    assert second[8:] == "  warning: odd"
    assert read(asked.getvalue().strip())["message"] == "m"


@settings(deadline=None)
@seed(1)
@given(message=ANY_TEXT, value=ANY_TEXT)
def test_no_text_reaches_a_terminal_as_a_control_character(message: str, value: str) -> None:
    record = logging.makeLogRecord({"msg": message, "levelno": 20, "session": value})
    assert TextFormatter().format(record).isprintable()


TRACE, PARENT = b"4bf92f3577b34da6a3ce929d0e0e4736", b"00f067aa0ba902b7"


@pytest.mark.parametrize(
    "given", [b"00-%b-%b-01", b"00-%b-%b-00", b"01-%b-%b-01", b"fe-%b-%b-ff-more"]
)
def test_a_traceparent_is_read_as_w3c_has_it(given: bytes) -> None:
    assert trace_id_of(given % (TRACE, PARENT)) == TRACE.decode()


@pytest.mark.parametrize(
    "given",
    [
        b"",
        b"00-%b" % TRACE,
        b"ff-%b-%b-01" % (TRACE, PARENT),
        b"00-%b-%b-01-more" % (TRACE, PARENT),
        b"00-%b-%b-01 " % (TRACE, PARENT),
        b"00-%b-%b-1" % (TRACE, PARENT),
        b"00-%b-%b-01" % (b"0" * 32, PARENT),
        b"00-%b-%b-01" % (TRACE, b"0" * 16),
        b"00-%b-%b-01" % (TRACE.upper(), PARENT),
        b"00-%b\n-%b-01" % (TRACE[:31], PARENT),
    ],
)
def test_any_other_traceparent_is_ignored(given: bytes) -> None:
    assert trace_id_of(given) is None


def test_both_forms_have_the_trace_of_their_request_and_the_next_request_has_none() -> None:
    def lines() -> list[str]:
        record = logging.makeLogRecord({"msg": "m", "levelno": 20})
        return [form.format(record) for form in (JsonFormatter(), TextFormatter())]

    def requests() -> tuple[list[str], list[str]]:
        begin_request([(b"traceparent", b"00-%b-%b-01" % (TRACE, PARENT))])
        first = lines()
        begin_request([(b"x-request-id", b"next")])
        return first, lines()

    first, second = copy_context().run(requests)
    assert read(first[0])["trace_id"] == TRACE.decode()
    assert f"trace_id={TRACE.decode()}" in first[1]
    assert "trace_id" not in second[0] + second[1]
