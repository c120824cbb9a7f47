"""What a server has to be before anything is entrusted to it."""

from asyncpg import Connection

from llr_service.stores.postgres.address import Address
from llr_service.stores.postgres.schema import LOCKS, lock_of
from llr_service.stores.store import StoreError, StoreInUse, StoreUnavailable

OLDEST = 140000
ABOUT = """SELECT current_setting('server_version_num')::int AS version,
    pg_is_in_recovery() AS standby,
    current_setting('fsync') AS fsync,
    current_setting('full_page_writes') AS full_page_writes,
    current_setting('synchronous_commit') AS synchronous_commit"""
WHOLE_TABLES = ("enable_seqscan", "enable_hashjoin", "enable_mergejoin")
"""Ways to go through all of a table: plans are made while tables are small, and kept."""
IDLE = 1.0
"""Seconds a service may be silent within a transaction, whose locks others wait for."""
ALIVE = {"tcp_keepalives_idle": "5", "tcp_keepalives_interval": "2", "tcp_keepalives_count": "3"}
"""Seconds of silence after which the server asks for a sign of life, how often, and how many times.

A host that is gone without a word would else keep its lock for hours.
"""
STANDBY = "it is a standby or read-only: name the primary, reads come from there too"
SET = "SELECT set_config(name, value, false) FROM unnest($1::text[], $2::text[]) AS s(name, value)"
NEEDED = {
    "fsync": "a power cut of its machine would lose or spoil everything",
    "full_page_writes": "a power cut of its machine could leave torn pages",
    "synchronous_commit": "it acknowledges what is not on its disk",
}


def settings(address: Address) -> dict[str, str]:
    """How a connection is to be: what it may wait for, where the tables are."""
    most, idle = (f"{int(1000 * each)}ms" for each in (address.timeout, min(IDLE, address.timeout)))
    return {
        "search_path": address.schema,
        "statement_timeout": most,
        "lock_timeout": most,
        "idle_in_transaction_session_timeout": idle,
        "tcp_user_timeout": most,
        **ALIVE,
        "plan_cache_mode": "force_generic_plan",
        **dict.fromkeys(WHOLE_TABLES, "off"),
        "jit": "off",
    }


async def meet(connection: Connection, address: Address) -> None:
    """Say how the connection is to be, and see whom it is with."""
    await settle(connection, address)
    await trust(connection)


async def settle(connection: Connection, address: Address) -> None:
    """Set all that, by a statement: a pooler would not pass on what is asked at first."""
    wanted = settings(address)
    await connection.fetch(SET, [*wanted], [*wanted.values()])


async def trust(connection: Connection) -> None:
    """Refuse a server that does not keep what it acknowledges, and ask for the full promise."""
    [about] = await connection.fetch(ABOUT)
    if about["standby"]:
        raise StoreUnavailable(STANDBY)
    if about["version"] < OLDEST:
        raise StoreError(f"it is of version {about['version'] // 10000}, too old")
    for name, why in NEEDED.items():
        if about[name] == "off":
            raise StoreError(f"its setting {name} is off: {why}. Set {name} = on")
    if about["synchronous_commit"] != "remote_apply":
        await connection.execute("SET synchronous_commit = on")


async def take(connection: Connection, address: Address) -> None:
    """Have the store together with other services, or for oneself alone."""
    how = "pg_try_advisory_lock" + ("" if address.alone else "_shared")
    asked = f"SELECT {how}($1, $2)"
    if not await connection.fetchval(asked, LOCKS, lock_of(address.schema, "use")):
        who = "a service" if address.alone else "a move to or from it"
        raise StoreInUse(f"it is in use by {who}")
