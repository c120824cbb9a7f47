"""The audit log: a line for every change that is not a sample, and for every 401 and 403.

A line has the name of the key, never the key itself. It is written when the answer was sent, with
its status: a change that failed is worth a line too.
"""

import logging

from starlette.types import Scope

from llr_service import logs
from llr_service.http.auth import ApiKey
from llr_service.metrics import UNMATCHED

_log = logging.getLogger(logs.AUDIT)

REFUSED = frozenset({401, 403})
"""The statuses of requests whose key is missing, unknown or not enough."""
_READS = frozenset({"GET", "HEAD", "OPTIONS"})


def is_change(method: str, route: str, status: int) -> bool:
    """Whether a request to a route that takes no samples asked for a change.

    >>> is_change("DELETE", "/v1/sessions/{name}", 404), is_change("DELETE", "unmatched", 404)
    (True, False)
    """
    return method not in _READS and route != UNMATCHED and status != 405


def record(scope: Scope, method: str, route: str, status: int, key: ApiKey | None) -> None:
    """Write the line of a request or of a handshake that changed something or was refused.

    Args:
        scope: its ASGI scope.
        method: its method.
        route: the path template, as metrics have it.
        status: the status that was answered.
        key: the key that it came with; None if it had none, or an unknown one.
    """
    refused = status in REFUSED
    if not refused and not is_change(method, route, status):
        return
    client = scope.get("client")
    told = {
        "key": key and key.name,
        "role": key and str(key.role),
        "method": method,
        "path": scope["path"],
        "route": route,
        "status": status,
        "client": client[0] if client else None,
    }
    _log.info("refused" if refused else "change", extra=told)
