"""The judge of row 24 has teeth: it finds what uvicorn alone gets wrong, on every way."""

import asyncio
import random

import pytest
from support.http_talk import Served
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from stress.byte_streams import FORBIDDEN, Answer, Echo, Stream, answers_of, expected, judged, told
from stress.http_streams import without_socket
from stress.http_ways import Exchange, faults_of, through

TOKEN = f"{7:012x}"
INNER = f"DELETE {FORBIDDEN}{TOKEN} HTTP/1.1\r\nhost: here\r\n\r\n".encode()
OFFERED = f"POST /p0-{TOKEN} HTTP/1.1\r\nhost: here\r\nconnection: upgrade\r\n".encode()
WHOLE = OFFERED + b"upgrade: h2c\r\ncontent-length: %d\r\n\r\n" % len(INNER) + INNER


def _tick() -> None:
    """Nobody watches the progress."""


class Mixed(Echo):
    """Answers each request with what was meant for the one before, of whichever stream."""

    last = "GET /nothing 0"

    def answer(self, served: Served) -> str:
        self.last, answer = told(served), self.last
        return answer


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_the_fault_of_stock_uvicorn_is_found() -> None:
    fault = asyncio.run(without_socket(random.Random(1), WHOLE, HttpToolsProtocol))
    assert "h11 sees" in fault or "served" in fault
    assert asyncio.run(without_socket(random.Random(1), WHOLE)) == ""


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_the_fault_of_stock_uvicorn_is_found_on_every_way() -> None:
    came, faults = asyncio.run(through(random.Random(1), 64, _tick, HttpToolsProtocol))
    assert {fault.partition(":")[0] for fault in faults} == {"direct", "nginx", "caddy"}
    assert all(came[f"{way} judged"] > 32 for way in ("direct", "nginx", "caddy"))


def test_answers_of_other_requests_are_found_on_every_way() -> None:
    faults = asyncio.run(through(random.Random(2), 8, _tick, app=Mixed()))[1]
    assert {fault.partition(":")[0] for fault in faults} == {"direct", "nginx", "caddy"}
    swapped = asyncio.run(without_socket(random.Random(1), WHOLE, app=Mixed()))
    assert "were served, answers" in swapped


def test_a_body_that_is_served_is_found() -> None:
    about = expected(WHOLE)
    seen = about.seen
    assert about == ([("POST", f"/p0-{TOKEN}", INNER)], True)
    inner = ("DELETE", f"{FORBIDDEN}{TOKEN}", b"")
    assert judged([("POST", f"/p0-{TOKEN}", b""), inner], about)
    assert judged([*seen, inner], about)
    assert judged(seen, about) == ""
    answers = [Answer(200, told(one)) for one in seen]
    for way in ("direct", "nginx"):
        exchange = Exchange(way, Stream(TOKEN, WHOLE), about, answers)
        assert faults_of([exchange], seen) == []
        assert faults_of([exchange], [*seen, inner])
        assert faults_of([exchange], [])
        assert faults_of([exchange._replace(answers=[])], [])


def test_final_answers_are_read_in_every_form() -> None:
    said = (
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab"
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nc\r\n0\r\n\r\n"
        b"HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 400 Bad Request\r\ncontent-length: 1\r\n\r\nxHTTP"
    )
    assert answers_of(said)[0] == (200, "ab")
    assert [status for status, _ in answers_of(said)] == [200, 200, 204, 400]
