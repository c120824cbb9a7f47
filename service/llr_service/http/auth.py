"""API keys: who may do what, and to which sessions.

A key is known to the service by its SHA-256 only, configured as `name:role:sha256hex`. Each role
may do all that the roles before it may: read < write < admin. `name:role:prefix:sha256hex` is the
key of a tenant: for it there are the sessions whose names begin with the prefix, and no others.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, NamedTuple, TypeVar

from llr_service.problems import Problem

_NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")
_PREFIX = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}[._-]")
_DIGEST = re.compile(r"[0-9A-Fa-f]{64}")
CHALLENGE = {"WWW-Authenticate": "Bearer"}
"""The header of every 401."""

KEY = "llr.key"
"""The scope's entry with the caller's key; missing if the service has no keys."""


class Role(IntEnum):
    """What a key may do: look, learn, or everything. A greater role includes the lesser ones."""

    READ = 1
    WRITE = 2
    ADMIN = 3

    def __str__(self) -> str:
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key that is accepted.

    Attributes:
        name: whose it is.
        role: what it may do.
        digest: the SHA-256 of it, which is never shown.
        prefix: what the names of a tenant's sessions begin with; empty if all sessions are its.
    """

    name: str
    role: Role
    digest: bytes = field(repr=False)
    prefix: str = ""

    def reaches(self, name: str) -> bool:
        """Whether a session of this name would be this key's. The prefix alone is no name of its.

        >>> [ApiKey("a", Role.READ, b"", "acme-").reaches(n) for n in ("acme-1", "acme-", "b-1")]
        [True, False, False]
        """
        return not self.prefix or (name.startswith(self.prefix) and name != self.prefix)


class Access(NamedTuple):
    """What a route asks of a key.

    Attributes:
        role: the least role; None if the route is open, with a key or without.
        shared: whether keys of tenants may use a route that names no session.
    """

    role: Role | None
    shared: bool = False


PUBLIC = Access(None)
F = TypeVar("F", bound=Callable[..., Any])


def requires(access: Access | Role) -> Callable[[F], F]:
    """Declare what an endpoint asks of a key. Every route has such a declaration."""

    def declare(endpoint: F) -> F:
        endpoint.access = Access(access) if isinstance(access, Role) else access  # type: ignore[attr-defined]
        return endpoint

    return declare


ANYBODY = ApiKey("anybody", Role.ADMIN, b"")
"""Who asks where there are no keys."""


def hash_key(key: str) -> str:
    """The form in which the service knows a key: its SHA-256 in hexadecimal.

    >>> hash_key("llr_example")[:12]
    'e707cea16c8c'
    """
    return hashlib.sha256(key.encode()).hexdigest()


def parse_keys(text: str) -> tuple[ApiKey, ...]:
    """The keys written as `name:role:sha256hex` or `name:role:prefix:sha256hex`, between commas.

    Raises:
        ValueError: saying which entry is wrong and why, without repeating what it holds.
    """
    entries = [entry.strip() for entry in text.split(",")]
    keys = tuple(_parse(f"entry {n}", entry) for n, entry in enumerate(entries, 1) if entry)
    check_distinct(keys)
    return keys


def parse_key_file(text: str) -> tuple[ApiKey, ...]:
    """The keys written one a line, in the same form; blank lines and what follows # are skipped.

    Raises:
        ValueError: saying which line is wrong and why, without repeating what it holds.
    """
    lines = [line.partition("#")[0].strip() for line in text.splitlines()]
    keys = tuple(_parse(f"line {n}", line) for n, line in enumerate(lines, 1) if line)
    check_distinct(keys)
    return keys


def check_distinct(keys: Sequence[ApiKey]) -> None:
    """Raise a ValueError if two keys have a name or a digest in common."""
    if len({key.name for key in keys}) < len(keys):
        raise ValueError("two keys have the same name")
    if len({key.digest for key in keys}) < len(keys):
        raise ValueError("the same key is there twice")


def _parse(place: str, entry: str) -> ApiKey:
    parts = entry.split(":")
    if len(parts) not in (3, 4):
        raise ValueError(f"{place} is not name:role:sha256hex or name:role:prefix:sha256hex")
    name, role, *prefix, digest = parts
    if not _NAME.fullmatch(name):
        raise ValueError(f"{place}: a name is 1 to 64 letters, digits, dots, _ or -")
    if role not in map(str, Role):
        raise ValueError(f"{place}: the role is one of {', '.join(map(str, Role))}")
    if not all(map(_PREFIX.fullmatch, prefix)):
        raise ValueError(
            f"{place}: a prefix begins a session's name and ends with a dot, _ or -;"
            " it has 2 to 64 characters"
        )
    if not _DIGEST.fullmatch(digest):
        raise ValueError(f"{place}: give the key's SHA-256, 64 hexadecimal digits")
    return ApiKey(name, Role[role.upper()], bytes.fromhex(digest), *prefix)


def by_digest(keys: Iterable[ApiKey]) -> dict[bytes, ApiKey]:
    """The keys by their SHA-256, as `authenticate` takes them."""
    return {key.digest: key for key in keys}


def authenticate(headers: Iterable[tuple[bytes, bytes]], keys: Mapping[bytes, ApiKey]) -> ApiKey:
    """The key that these headers hold; `ANYBODY` where no keys are configured.

    A key comes as `Authorization: Bearer <key>` or as `X-API-Key: <key>`. Its digest is looked up:
    the time that takes depends on the digest, which tells nothing about the key.

    Args:
        headers: the headers as ASGI has them, names in lower case.
        keys: the keys that are accepted, by their digest.

    Raises:
        Problem: `unauthenticated` if there is no key, an unknown one, or two different ones.
    """
    if not keys:
        return ANYBODY
    found = keys.get(hashlib.sha256(_given(headers)).digest())
    if found is None:
        raise Problem("unauthenticated", "This key is not known here.", headers=CHALLENGE)
    return found


def _given(headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    """The one key among the headers."""
    given = b""
    for name, value in headers:
        if name == b"authorization" and value[:7].lower() == b"bearer ":
            key = value[7:].strip()
        elif name == b"x-api-key":
            key = value.strip()
        else:
            continue
        if given and key != given:
            raise Problem("unauthenticated", "Send one key, not several.", headers=CHALLENGE)
        given = key
    if not given:
        raise Problem(
            "unauthenticated",
            "Send a key as `Authorization: Bearer <key>` or as `X-API-Key: <key>`.",
            headers=CHALLENGE,
        )
    return given


def require(role: Role, needed: Role | None) -> None:
    """Raise `forbidden` unless the role includes what is needed."""
    if needed is not None and role < needed:
        raise Problem("forbidden", f"This needs a key with the role {needed}; yours has {role}.")
