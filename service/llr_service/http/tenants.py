"""Tenants: what there is for a key with a prefix, and nothing else.

Paths are checked at the door, before anything is looked up: the answer to a name of somebody else
is that of a session that does not exist, whether it does or not, and takes the same time. What is
not listed here is not for tenants, so that a new address is closed to them until it is thought of.
A name inside a body is its route's to check: `claim` what is made, `reach` what is looked at.
"""

import re

from llr_service.http.auth import ApiKey
from llr_service.problems import Problem
from llr_service.sessions.loading import not_found

SHARED = {"/v1/sessions", "/v1/catalog", "/version"}
"""Addresses for tenants that name no session: they hold nothing of others."""
_SESSION = re.compile(r"/v1/sessions/([^/]*)(?:/.*)?", re.DOTALL)


def confine(key: ApiKey, method: str, path: str) -> None:
    """Raise the problem if an address is not for this key."""
    if not key.prefix or path in SHARED:
        return
    session = _SESSION.fullmatch(path)
    if session is None:
        raise Problem("forbidden", "This address is for keys that are of no tenant.")
    if method == "PUT":
        claim(key, session[1], parameter="name")
    else:
        reach(key, session[1])


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
