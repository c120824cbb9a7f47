"""Which place of which list a database is, kept in the database itself."""

from asyncpg import Connection

from llr_service.stores.places import LOOK, check_names, check_seat
from llr_service.stores.postgres.reading import listed
from llr_service.stores.store import Seat

FOUND = "SELECT at, places FROM place"
TAKE = """INSERT INTO place (at, places) VALUES ($1, $2) ON CONFLICT (one) DO UPDATE
    SET at = excluded.at, places = excluded.places WHERE NOT EXISTS (SELECT 1 FROM sessions)"""


async def take(connection: Connection, seat: Seat) -> None:
    """Be this place of a list from now on. Raises `StoreError` if its sessions are another's."""
    found = await _found(connection)
    if found == seat:
        return
    if found is None and seat.places > 1:
        check_names((row.name for row in await listed(connection, "", LOOK)), seat)
    await connection.execute(TAKE, *seat)
    check_seat(await _found(connection), seat)


async def _found(connection: Connection) -> Seat | None:
    row = await connection.fetchrow(FOUND)
    return None if row is None else Seat(*row)
