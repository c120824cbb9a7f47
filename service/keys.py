"""API keys: who may do what.

A key is known to the service by its SHA-256 only, configured as `name:role:sha256hex`. Each role
may do all that the roles before it may: read < write < admin.
"""

import hashlib
import hmac
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from service.problems import Problem

_NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")
_DIGEST = re.compile(r"[0-9A-Fa-f]{64}")
_CHALLENGE = {"WWW-Authenticate": "Bearer"}


ROLE = "llr.role"
"""Where a scope holds the role of who asks; nowhere if everybody may do everything."""


class Role(IntEnum):
    """What a key may do: look, learn, or everything. A greater role includes the lesser ones."""

    READ = 1
    WRITE = 2
    ADMIN = 3

    def __str__(self) -> str:
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key that is accepted: its name, its role, and the SHA-256 of it, which is never shown."""

    name: str
    role: Role
    digest: bytes = field(repr=False)


def hash_key(key: str) -> str:
    """What the service is told of a key: its SHA-256 in hexadecimal.

    >>> hash_key("llr_example")[:12]
    'e707cea16c8c'
    """
    return hashlib.sha256(key.encode()).hexdigest()


def parse_keys(text: str) -> tuple[ApiKey, ...]:
    """The keys written as `name:role:sha256hex`, separated by commas.

    Raises:
        ValueError: saying which entry is wrong and why, without repeating what it holds.
    """
    entries = [entry.strip() for entry in text.split(",")]
    keys = tuple(_parse(place, entry) for place, entry in enumerate(entries, 1) if entry)
    if len({key.name for key in keys}) < len(keys):
        raise ValueError("two keys have the same name")
    if len({key.digest for key in keys}) < len(keys):
        raise ValueError("the same key is there twice")
    return keys


def _parse(place: int, entry: str) -> ApiKey:
    if entry.count(":") != 2:
        raise ValueError(f"entry {place} is not name:role:sha256hex")
    name, role, digest = entry.split(":")
    if not _NAME.fullmatch(name):
        raise ValueError(f"entry {place}: a name is 1 to 64 letters, digits, dots, _ or -")
    if role not in map(str, Role):
        raise ValueError(f"entry {place}: the role is one of {', '.join(map(str, Role))}")
    if not _DIGEST.fullmatch(digest):
        raise ValueError(f"entry {place}: give the key's SHA-256, 64 hexadecimal digits")
    return ApiKey(name, Role[role.upper()], bytes.fromhex(digest))


def authenticate(headers: Iterable[tuple[bytes, bytes]], keys: Sequence[ApiKey]) -> Role:
    """The role of whoever sent these headers; everybody is admin where there are no keys.

    A key comes as `Authorization: Bearer <key>` or as `X-API-Key: <key>`. It is compared with
    every key there is, each in constant time, so that the time taken tells nothing.

    Args:
        headers: the headers as ASGI has them, names in lower case.
        keys: the keys that are accepted.

    Raises:
        Problem: `unauthenticated` if there is no key, an unknown one, or two different ones.
    """
    if not keys:
        return Role.ADMIN
    given = hashlib.sha256(_given(headers)).digest()
    role = None
    for key in keys:
        if hmac.compare_digest(key.digest, given):
            role = key.role
    if role is None:
        raise Problem("unauthenticated", "This key is not known here.", headers=_CHALLENGE)
    return role


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
            raise Problem("unauthenticated", "Send one key, not several.", headers=_CHALLENGE)
        given = key
    if not given:
        raise Problem(
            "unauthenticated",
            "Send a key as `Authorization: Bearer <key>` or as `X-API-Key: <key>`.",
            headers=_CHALLENGE,
        )
    return given


def require(role: Role, needed: Role) -> None:
    """Raise `forbidden` unless the role includes what is needed."""
    if role < needed:
        raise Problem("forbidden", f"This needs a key with the role {needed}; yours has {role}.")
