"""Responses as values, and the one form in which problems are answered."""

from typing import NamedTuple

from pydantic_core import to_json

from llr_service.problems import MEDIA_TYPE, Problem

Header = tuple[bytes, bytes]
JSON: Header = (b"content-type", b"application/json")
_LENGTHS: list[Header] = [(b"content-length", b"%d" % size) for size in range(4096)]


class Response(NamedTuple):
    """Status, headers and body of a response that is sent whole."""

    status: int
    headers: list[Header]
    body: bytes


def content_length(size: int) -> Header:
    """The header that tells the length of a body."""
    return _LENGTHS[size] if size < len(_LENGTHS) else (b"content-length", b"%d" % size)


def error_response(problem: Problem) -> Response:
    """The response that tells a problem."""
    headers = {"content-type": MEDIA_TYPE} | problem.headers
    raw = [(name.lower().encode(), value.encode("latin-1")) for name, value in headers.items()]
    return Response(problem.kind.status, raw, to_json(problem.body(), inf_nan_mode="null"))
