"""The logs of deleted sessions, which go a part at a time.

To delete a row is to visit it. A log may have a million of them, and all who write would wait. So
what is long is noted in `discarded`, in the transaction that deletes the session, and goes later.
"""

from llr_service.stores.sqlite.connection import Connection

ROWS = 500
BYTES = 2**20
"""How much of a log goes at a time."""

SIZES = "SELECT t, length(blob) FROM log WHERE session = ? ORDER BY t LIMIT ?"
SHORTEN = "DELETE FROM log WHERE session = ? AND t <= ?"
LEFT = "SELECT 1 FROM log WHERE session = ? LIMIT 1"
NOTE = "INSERT OR IGNORE INTO discarded (session) VALUES (?)"
NOTED = """SELECT session, EXISTS (SELECT 1 FROM sessions WHERE id = session) FROM discarded
    ORDER BY session LIMIT 1"""
DONE = "DELETE FROM discarded WHERE session = ?"


def discard(db: Connection, session: int) -> None:
    """Delete the log of a session that is no more, or note that it is to go."""
    if _shortened(db, session):
        db.execute(NOTE, (session,))


def go_on(db: Connection) -> bool:
    """Delete a part of what was noted; whether there was anything."""
    for session, lives in db.execute(NOTED).fetchall():
        if lives or not _shortened(db, session):  # what lives was never noted: a flipped bit
            db.execute(DONE, (session,))
        return True
    return False


def _shortened(db: Connection, session: int) -> bool:
    """Delete a part of a log; whether there is more of it."""
    last, size = None, 0
    for t, nbytes in db.execute(SIZES, (session, ROWS)).fetchall():
        last, size = t, size + nbytes
        if size >= BYTES:
            break
    if last is None:
        return False
    db.execute(SHORTEN, (session, last))
    return bool(db.execute(LEFT, (session,)).fetchall())
