"""Tenants: what there is for a key with a prefix, and nothing else.

A name in the path is checked before anything is looked up: the answer to another tenant's name is
that of a session that does not exist, whether it does or not, and takes the same time. A route that
names no session is closed to tenants unless it declares itself shared. A name inside a body is its
route's to check: `claim` what is made, `reach` what is looked at.
"""

from llr_service.http.auth import Access, ApiKey
from llr_service.problems import Problem
from llr_service.sessions.loading import not_found


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
