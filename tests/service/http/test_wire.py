"""Rows 13 and 18 over a real socket: bodies without end, lengths that lie, hostile names."""

from collections.abc import Iterator
from socket import create_connection

import pytest
from stress.hostile import JSON, NDJSON, NPY
from stress.hostile_bodies import (
    LENGTHS,
    check_cut,
    check_endless,
    check_largest,
    check_length,
    check_too_large,
)
from stress.hostile_names import HEADERS, NAMES, VALUES, check_header, check_log, check_name
from stress.raw import head, listening
from support.serving import Server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The service that logs all there is to log."""
    with listening(tmp_path_factory.mktemp("wire"), "debug") as server:
        yield server


@pytest.mark.parametrize("kind", [JSON, NDJSON, NPY])
def test_a_body_without_end_is_413_and_memory_stays_bounded(server: Server, kind: str) -> None:
    check_endless(server, kind)


@pytest.mark.parametrize("kind", [JSON, NPY])
def test_a_body_that_says_it_is_too_large_is_not_even_read(server: Server, kind: str) -> None:
    check_too_large(server, kind)


def test_the_largest_body_of_the_worst_kind_costs_a_bounded_amount(server: Server) -> None:
    check_largest(server)


@pytest.mark.parametrize("headers", LENGTHS)
def test_a_length_that_is_none_is_4xx_and_nothing_is_learnt(
    server: Server, headers: list[bytes]
) -> None:
    check_length(server, headers)


def test_a_body_shorter_than_it_says_is_not_learnt_from(server: Server) -> None:
    check_cut(server)


@pytest.mark.parametrize("name", NAMES)
def test_a_hostile_name_is_refused_or_harmless(server: Server, name: bytes) -> None:
    check_name(server, name)


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("header", HEADERS)
def test_a_hostile_header_is_refused_or_harmless(server: Server, header: str, value: bytes) -> None:
    check_header(server, header, value)


def test_what_is_not_http_is_refused(server: Server) -> None:
    status, _, _ = server.say(b"GET /livez HTTP/1.1\r\nhost: x\r\nbad header\r\n\r\n")
    assert status == 400


def test_a_refused_stream_leaves_no_error_in_the_log(server: Server) -> None:
    said = head(NDJSON, b"transfer-encoding: chunked") + b'8\r\n{"y":x}\n\r\n'
    with create_connection(("127.0.0.1", server.port), timeout=20) as connection:
        connection.sendall(said)
        assert connection.recv(1000).startswith(b"HTTP/1.1 400")
    server.ask("GET", b"/livez")
    errors = [line for line in server.log.read_text().splitlines() if "never retrieved" in line]
    assert errors == []


def test_every_line_of_the_log_is_one_json_object(server: Server) -> None:
    check_log(server)
