"""A look at every session of a database. Services may go on meanwhile."""

from collections.abc import Iterator
from contextlib import closing

from llr_service.stores.integrity import SessionCheck
from llr_service.stores.postgres.driver import TimedConnection
from llr_service.stores.postgres.engine import Postgres
from llr_service.stores.postgres.url import address
from llr_service.stores.store import Damaged

PAGE = 2**23
"""Bytes of a log that are read at a time."""
PATIENCE = 600.0
"""Seconds a statement may take."""
NAMES = "SELECT name FROM sessions ORDER BY name"
STRAYS = """SELECT 'log' AS name, count(*) FROM log WHERE session NOT IN (SELECT id FROM sessions)
        AND session NOT IN (SELECT session FROM discarded)
    UNION ALL SELECT 'snapshots', count(*) FROM snapshots
        WHERE session NOT IN (SELECT id FROM sessions)
    UNION ALL SELECT 'producers', count(*) FROM producers
        WHERE session NOT IN (SELECT id FROM sessions)
    UNION ALL SELECT 'kept', count(*) FROM kept WHERE session NOT IN (SELECT id FROM sessions)"""


def check_all(url: str) -> list[SessionCheck]:
    """Load every session of a database. Raises `StoreError` if it cannot be used at all."""
    with closing(Postgres(address(url)._replace(timeout=PATIENCE))) as store:
        names = [name.decode(errors="replace") for name in store.ask(_names)]
        sessions = [SessionCheck(name, _damage(store, name)) for name in names]
        return sessions + [SessionCheck("", stray) for stray in store.ask(_strays)]


def _names(connection: TimedConnection) -> list[bytes]:
    return [row["name"] for row in connection.rows(NAMES)]


def _strays(connection: TimedConnection) -> list[str]:
    rows = connection.rows(STRAYS)
    return [
        f"{row['count']} rows of {row['name']} are of no session" for row in rows if row["count"]
    ]


def _damage(store: Postgres, name: str) -> str | None:
    """What is wrong with a session, None if nothing is or it was deleted meanwhile."""
    try:
        for _ in _log(store, name):
            pass
    except Damaged as damage:
        return str(damage)
    return None


def _log(store: Postgres, name: str) -> Iterator[int]:
    """Go through all of a session, page by page."""
    stored = store.load(name)
    at, end = 0, stored.retained.samples if stored else 0
    while stored and at < end and (entries := store.read_log(stored.id, at, end, PAGE)):
        at = entries[-1].t + entries[-1].n
        yield at
