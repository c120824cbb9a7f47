"""The judge of row 24 has teeth: it finds what uvicorn alone gets wrong."""

import asyncio
import random

import pytest
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from stress.http_streams import FORBIDDEN, expected, judged, without_socket

INNER = b"DELETE /forbidden HTTP/1.1\r\nhost: here\r\n\r\n"
OFFERED = b"POST /p0 HTTP/1.1\r\nhost: here\r\nconnection: upgrade\r\nupgrade: h2c\r\n"
WHOLE = OFFERED + b"content-length: %d\r\n\r\n" % len(INNER) + INNER


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_the_fault_of_stock_uvicorn_is_found() -> None:
    fault = asyncio.run(without_socket(random.Random(1), WHOLE, HttpToolsProtocol))
    assert "h11 sees" in fault or "served" in fault
    assert asyncio.run(without_socket(random.Random(1), WHOLE)) == ""


def test_a_body_that_is_served_is_found() -> None:
    seen, clean = expected(WHOLE)
    assert (seen, clean) == ([("POST", "/p0", INNER)], True)
    assert judged([("POST", "/p0", b""), ("DELETE", FORBIDDEN, b"")], seen, clean)
    assert judged([*seen, ("DELETE", FORBIDDEN, b"")], seen, clean)
    assert judged(seen, seen, clean) == ""
