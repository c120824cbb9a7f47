"""Which place of which list a file is, kept in the file itself."""

from itertools import islice

from llr_service.stores.places import LOOK, check_names, check_seat
from llr_service.stores.sqlite.connection import Connection
from llr_service.stores.sqlite.reading import listed
from llr_service.stores.store import Seat

TAKE = "INSERT OR REPLACE INTO place (one, at, places) VALUES (1, ?, ?)"


def to_take(db: Connection, seat: Seat) -> bool:
    """Whether a place is yet to be taken. Raises `StoreError` if the sessions are another's."""
    rows = db.execute("SELECT at, places FROM place").fetchall()
    found = Seat(*rows[0]) if rows else None
    if found == seat:
        return False
    if found is None and seat.places > 1:
        check_names((row.name for row in islice(listed(db, ""), LOOK)), seat)
    elif found is not None and db.execute("SELECT 1 FROM sessions LIMIT 1").fetchall():
        check_seat(found, seat)
    return True
