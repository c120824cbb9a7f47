"""Which hosts, origins and tenants the service answers.

Hosts: a page may let its own name point to this machine and then call the service as if it were its
own (DNS rebinding). The browser still names the host that the page meant, in `Host`.

Tenants: a key with a prefix sees the sessions with that prefix only. A name in the path is checked
before anything is looked up: the answer to another tenant's name is that of a session that does not
exist, and takes the same time. A route that names no session is closed to tenants unless it
declares itself shared. A name inside a body is checked by its route: `claim` for a new session,
`reach` for an existing one.
"""

import re
from collections.abc import Iterable
from urllib.parse import urlsplit

from llr_service.http.auth import Access, ApiKey
from llr_service.problems import Problem
from llr_service.sessions.storage import not_found
from llr_service.settings import Settings, is_loopback

PROBES = {"/livez", "/readyz"}
"""Asked by whatever watches the service, under whatever host name; they tell nothing."""
_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::\d{0,5})?")
_MOST = 1000


class Hosts:
    """The names by which a service may be asked.

    They are checked if `allowed_hosts` are given, and on loopback if there are no keys. Those of
    loopback are always among them.
    """

    def __init__(self, settings: Settings) -> None:
        open_here = is_loopback(settings.host) and not settings.has_keys
        asked_for = "*" not in settings.allowed_hosts
        self._checked = asked_for and bool(settings.allowed_hosts or open_here)
        self._known = {host.lower() for host in settings.allowed_hosts}
        self._good: set[bytes] = set()

    def check(self, path: str, headers: Iterable[tuple[bytes, bytes]]) -> None:
        """Raise `misdirected` if the request was sent to a host that is not served here.

        Browsers always send `Host`; a client without it is not a web page.
        """
        if not self._checked or path in PROBES:
            return
        for name, value in headers:
            if name == b"host" and not self._is_served(value):
                raise Problem(
                    "misdirected",
                    "No such host is served here. Ask localhost, or add the name to allowed_hosts.",
                )

    def _is_served(self, host: bytes) -> bool:
        if host in self._good:
            return True
        name = name_of(host)
        served = name in self._known or is_loopback(name) or name.endswith(".localhost")
        if served and len(self._good) < _MOST:
            self._good.add(host)
        return served


def check_origin(headers: dict[bytes, bytes], settings: Settings) -> None:
    """Refuse web pages of another origin; programs send neither of the two headers."""
    origin = headers.get(b"origin", b"").decode("latin-1")
    if {"*", origin} & set(settings.cors_origins):
        return
    foreign = headers.get(b"sec-fetch-site") in (b"cross-site", b"same-site")
    if origin and urlsplit(origin).netloc != headers.get(b"host", b"").decode("latin-1"):
        foreign = True
    if foreign:
        raise Problem("forbidden", "pages of this origin may not: see the setting cors_origins")


def name_of(host: bytes) -> str:
    """The name or address in a `Host`, without its port; empty if there is none.

    >>> name_of(b"LocalHost:8080"), name_of(b"[::1]:80"), name_of(b"a b")
    ('localhost', '::1', '')
    """
    found = _HOST.fullmatch(host.decode("latin-1").strip())
    return found[1].strip("[]").rstrip(".").lower() if found else ""


def confine(key: ApiKey, access: Access, method: str, name: str | None) -> None:
    """Raise the problem if a route, with this session in its path, is not for this key."""
    if not key.prefix or access.shared:
        return
    if name is None:
        raise Problem("forbidden", "This address is for keys that are of no tenant.")
    if method == "PUT":
        claim(key, name, parameter="name")
    else:
        reach(key, name)


def reach(key: ApiKey, name: str) -> None:
    """Raise `session-not-found` unless a session of this name would be this key's."""
    if not key.reaches(name):
        raise not_found(name)


def claim(key: ApiKey, name: str, **place: str) -> None:
    """Raise `forbidden` unless this key may give this name to a session.

    Args:
        key: whose it would be.
        name: the name.
        place: where it stands, as `pointer` or `parameter`.
    """
    if not key.reaches(name):
        detail = f"the names of this key's sessions begin with {key.prefix}"
        raise Problem("forbidden", detail, [{**place, "detail": detail}])
