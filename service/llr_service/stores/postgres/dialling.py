"""Dialling: the hosts of a URL one after the other, until one of them takes writes.

Each has seconds of its own. The driver has one deadline for all of them together, so that a host
which is gone without a word would leave none to the next.
"""

from collections.abc import Iterator
from itertools import cycle
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import asyncpg
from asyncpg import Connection
from asyncpg import exceptions as pg
from asyncpg.connect_utils import SessionAttribute

from llr_service.stores.postgres.address import Address
from llr_service.stores.postgres.failures import ERRORS
from llr_service.stores.postgres.server import STANDBY
from llr_service.stores.store import StoreUnavailable

LONGEST = 5.0
"""Seconds a host has to answer, at most."""


async def dial(address: Address) -> Connection:
    """A connection to the first host that takes writes. Raises `StoreUnavailable`."""
    failures = []
    for dsn in each_host(address.dsn):
        try:
            return await asyncpg.connect(
                dsn,
                timeout=min(LONGEST, address.timeout),
                server_settings={"application_name": "llr"},
                target_session_attrs=SessionAttribute.read_write,
            )
        except pg.TargetServerAttributeNotMatched as error:
            failures.append(_failure(f"{address.shown}: {STANDBY}", error))
        except (*ERRORS, ValueError) as error:
            why = str(error) or "no answer in time"
            failures.append(_failure(f"{address.shown} cannot be reached: {why}", error))
    raise failures[-1]


def _failure(said: str, cause: Exception) -> StoreUnavailable:
    failure = StoreUnavailable(said)
    failure.__cause__ = cause
    return failure


def each_host(dsn: str) -> Iterator[str]:
    """The URL of each host of a URL.

    >>> [*each_host("postgresql://me@db1:1,db2/llr?sslmode=disable")]
    ['postgresql://me@db1:1/llr?sslmode=disable', 'postgresql://me@db2/llr?sslmode=disable']
    >>> [*each_host("postgresql://me@/llr?host=db1,db2&port=1,2")]
    ['postgresql://me@/llr?host=db1&port=1', 'postgresql://me@/llr?host=db2&port=2']
    """
    parts = urlsplit(dsn)
    who, at, hosts = parts.netloc.rpartition("@")
    if hosts:
        yield from (urlunsplit(parts._replace(netloc=who + at + one)) for one in hosts.split(","))
        return
    options = dict(parse_qsl(parts.query))
    ports = cycle(options.get("port", "").split(","))
    for host, port in zip(options.get("host", "").split(","), ports, strict=False):
        told = options | {name: one for name, one in (("host", host), ("port", port)) if one}
        yield urlunsplit(parts._replace(query=urlencode(told, safe="/")))
