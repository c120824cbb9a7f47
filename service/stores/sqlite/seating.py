"""Which place of which list a file is, kept in the file itself."""

from service.stores.places import LOOK, check_names, check_seat
from service.stores.sqlite.connection import Connection
from service.stores.store import Seat

TAKE = "INSERT OR REPLACE INTO place (one, at, places) VALUES (1, ?, ?)"


def to_take(db: Connection, seat: Seat) -> bool:
    """Whether a place is yet to be taken. Raises `StoreError` if the sessions are another's."""
    rows = db.execute("SELECT at, places FROM place").fetchall()
    found = Seat(*rows[0]) if rows else None
    if found == seat:
        return False
    asked = "SELECT name FROM sessions ORDER BY name LIMIT ?"
    names = [str(name) for (name,) in db.execute(asked, (LOOK,)).fetchall()]
    if found is None:
        check_names(names, seat)
    elif names:
        check_seat(found, seat)
    return True
