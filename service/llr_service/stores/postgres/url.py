"""Where a database is and how it is to be used, from a URL.

The URL is Postgres's own, `postgresql://user:password@host:port/database?option=value`; the options
below are ours, all others the driver's.
"""

import re
from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from llr_service.stores.store import StoreError

PREFIX = "postgresql://"
_SCHEMA = re.compile(r"[a-z_][a-z0-9_]{0,62}")
_ANSWERS = {"true": True, "false": False}


class Address(NamedTuple):
    """A database.

    Attributes:
        dsn: the connection string of the driver.
        shown: the same for people, without a password.
        schema: where in the database the tables are.
        migrate: whether to make or change the tables if they are not of this version.
        alone: whether the store must not be in use by another process.
        timeout: seconds an answer may take.
    """

    dsn: str
    shown: str
    schema: str = "llr"
    migrate: bool = False
    alone: bool = False
    timeout: float = 10.0


def display_url(url: str) -> str:
    """A URL for messages: without user, password and options.

    >>> display_url("postgresql://me:secret@db:5432/llr?timeout=2")
    'postgresql://db:5432/llr'
    """
    scheme, slashes, rest = url.partition("://")
    return scheme + slashes + rest.partition("?")[0].rpartition("@")[2]


def address(url: str) -> Address:
    """The address a URL says.

    >>> address("postgresql://me:secret@db:5432/llr?timeout=2").timeout
    2.0
    """
    parts, shown = urlsplit(url), display_url(url)
    given = parse_qsl(parts.query, keep_blank_values=True)
    try:
        ours = {name: _OPTIONS[name](value) for name, value in given if name in _OPTIONS}
    except (KeyError, ValueError):
        known = ", ".join(_OPTIONS)
        raise StoreError(f"{shown}: an option of the URL is wrong, ours are {known}") from None
    theirs = urlencode([(name, value) for name, value in given if name not in _OPTIONS])
    dsn = urlunsplit(parts._replace(query=theirs))
    if not url.startswith(PREFIX):
        raise StoreError(f"{shown}: the URL of a database is {PREFIX}user@host:port/database")
    return Address(dsn, shown, **ours)


def with_option(url: str, option: str) -> str:
    """The same URL with an option set to true; as it is if it is another engine's."""
    if not url.startswith(PREFIX):
        return url
    return f"{url}{'&' if urlsplit(url).query else '?'}{option}=true"


def _schema(value: str) -> str:
    if not _SCHEMA.fullmatch(value):
        raise ValueError(value)
    return value


def _timeout(value: str) -> float:
    seconds = float(value)
    if not 0.1 <= seconds <= 600:
        raise ValueError(value)
    return seconds


_OPTIONS: dict[str, Callable[[str], Any]] = {
    "schema": _schema,
    "migrate": _ANSWERS.__getitem__,
    "alone": _ANSWERS.__getitem__,
    "timeout": _timeout,
}
