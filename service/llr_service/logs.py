"""Logs: one JSON object a line, whatever is in it, each with the id of its request.

Every line has `ts`, `level`, `logger` and `message`, then `request_id` where there is a request,
`trace_id` where it has a `traceparent` (W3C Trace Context), then what was given as `extra`:
session, t, route, status, ms. On a terminal a line is text: the time of day, the level unless it is
info, the message, and the extras as `name=value`.
"""

import json
import logging
import re
import secrets
import sys
from collections.abc import Iterable
from contextvars import ContextVar
from datetime import UTC, datetime
from itertools import count
from typing import Any, TextIO

_ids: ContextVar[tuple[str | None, str | None]] = ContextVar("ids", default=(None, None))
"""The ids of the running request and of the trace that it is part of."""
_TRACEPARENT = re.compile(
    rb"(?P<version>(?!ff)[0-9a-f]{2})-(?P<trace>(?!0{32})[0-9a-f]{32})-(?!0{16})[0-9a-f]{16}"
    rb"-[0-9a-f]{2}(?P<more>-.*)?"
)
_ACCEPTED = re.compile(rb"[A-Za-z0-9._-]{1,64}")
_PREFIX = secrets.token_hex(4)
_NUMBERS = count(1)
AUDIT = "llr_service.audit"
"""The logger of what keys did and of what was refused; it writes whatever the level of the logs."""
_OURS = ("ts", "level", "logger", "message")
_NOT_EXTRA = frozenset(vars(logging.makeLogRecord({}))) | {*_OURS, "asctime", "color_message"}


def begin_request(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """Give the running request its id, which all its log lines carry, and return it.

    X-Request-ID is taken if it is 1 to 64 letters, digits, dots, _ or -; else there is a new id.
    """
    found = {name: value for name, value in headers if name in (b"x-request-id", b"traceparent")}
    return set_request_id(found.get(b"x-request-id"), found.get(b"traceparent"))


def set_request_id(given: bytes | None, traceparent: bytes | None = None) -> str:
    """Give the running request the id it came with, or a new one, and the id of its trace."""
    if given is not None and _ACCEPTED.fullmatch(given):
        request_id = given.decode("ascii")
    else:
        request_id = f"{_PREFIX}-{next(_NUMBERS):x}"
    _ids.set((request_id, None if traceparent is None else trace_id_of(traceparent)))
    return request_id


def trace_id_of(traceparent: bytes) -> str | None:
    """The trace id in a `traceparent`; None if the header is not as W3C Trace Context has it.

    >>> trace_id_of(b"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
    '4bf92f3577b34da6a3ce929d0e0e4736'
    """
    found = _TRACEPARENT.fullmatch(traceparent)
    if found is None or (found["version"] == b"00" and found["more"]):
        return None
    return found["trace"].decode("ascii")


def current_request() -> str | None:
    """The id of the running request, None outside of one."""
    return _ids.get()[0]


def _current_ids() -> dict[str, str]:
    """What every line of the running request has."""
    named = zip(("request_id", "trace_id"), _ids.get(), strict=True)
    return {name: value for name, value in named if value is not None}


class JsonFormatter(logging.Formatter):
    """Writes a record as one line of ASCII that is one JSON object, and never fails."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as a line."""
        members: dict[str, Any] = {
            "ts": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": _message(record),
        }
        members |= _current_ids()
        members |= {name: value for name, value in vars(record).items() if name not in _NOT_EXTRA}
        if record.exc_info:
            members["exception"] = self.formatException(record.exc_info)
        if record.stack_info:
            members["stack"] = record.stack_info
        return _line(members)


class TextFormatter(logging.Formatter):
    """Writes a record as a line for people; control characters in it are escaped."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as a line; an exception follows on lines of its own."""
        shown = datetime.fromtimestamp(record.created).astimezone().strftime("%H:%M:%S")
        level = "" if record.levelno == logging.INFO else f"{record.levelname.lower()}: "
        extras = {name: value for name, value in vars(record).items() if name not in _NOT_EXTRA}
        extras = extras | _current_ids()
        shown_extras = "".join(f"  {name}={_text(value)}" for name, value in extras.items())
        lines = [f"{shown}  {level}{_message(record)}{shown_extras}"]
        if record.exc_info:
            lines += self.formatException(record.exc_info).split("\n")
        return "\n".join(map(_printable, lines))


def _printable(line: str) -> str:
    r"""The line with everything escaped that could move a terminal's cursor or end the line.

    >>> _printable("a\x1b[2Jb")
    'a\\x1b[2Jb'
    """
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in line)


def _message(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except Exception:  # a message that does not fit its arguments is still worth a line
        return repr(record.msg)


def _line(members: dict[str, Any]) -> str:
    """The members as JSON that every reader takes: no NaN, no lone surrogate, ASCII only."""
    try:
        line = _encode(members)
    except (TypeError, ValueError, RecursionError):
        line = json.dumps({name: _text(value) for name, value in members.items()})
    if "\\ud" in line:  # a pair stands for a character, a lone surrogate for nothing
        text = json.dumps(json.loads(line), ensure_ascii=False)
        line = json.dumps(json.loads(text.encode(errors="replace")))
    return line


def _text(value: object) -> str:
    try:
        return str(value)
    except Exception as error:
        return f"<{type(value).__name__}: {type(error).__name__}>"


_encode = json.JSONEncoder(default=_text, allow_nan=False).encode


def configure(level: str, stream: TextIO | None = None, form: str = "auto") -> None:
    """Send all logs of the process, uvicorn's and warnings too, to one stream, a line each.

    Start uvicorn with `log_config=None`, or it takes its loggers back. Its access log is off: the
    service writes its own.

    Args:
        level: the least that is written: debug, info, warning, error.
        stream: where to; standard error if omitted.
        form: json, text, or auto: text if the stream is a terminal.
    """
    stream = stream or sys.stderr
    text = form == "text" or (form == "auto" and stream.isatty())
    handler = logging.StreamHandler(stream)
    handler.setFormatter(TextFormatter() if text else JsonFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    logging.getLogger(AUDIT).setLevel(logging.INFO)
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access", "uvicorn.asgi"):
        logger = logging.getLogger(name)
        logger.handlers.clear()
        # the banner says what uvicorn's lines about its start would
        logger.setLevel(logging.WARNING if text and level == "info" else logging.NOTSET)
        logger.propagate = name != "uvicorn.access"
    logging.captureWarnings(True)
