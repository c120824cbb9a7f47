"""The tables, and how a file of an older version comes to have them.

Small columns that change often have tables of their own: an append touches one row of
`sessions`, one of `log`, one of `producers`, and no snapshot. `docs/store.md` says what each column
is for.
"""

from llr_service.stores.integrity import commit_count_crc
from llr_service.stores.sqlite.connection import Connection
from llr_service.stores.store import REPLAY_MARK, StoreError, StoreTooNew

IS_REPLAY = f"instr(config, x'{REPLAY_MARK.hex()}') > 0"
"""Whether a config has the mark. A query has to say it in the words of the index."""
MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE sessions (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            t INTEGER NOT NULL,
            t_crc INTEGER NOT NULL,
            snapshot_t INTEGER,
            producers INTEGER NOT NULL DEFAULT 0,
            name TEXT NOT NULL,
            hash INTEGER NOT NULL,
            config BLOB NOT NULL,
            crc INTEGER NOT NULL
        )""",
        "CREATE UNIQUE INDEX sessions_name ON sessions (name)",
        "CREATE INDEX sessions_hash ON sessions (hash)",
        """CREATE TABLE snapshots (
            session INTEGER PRIMARY KEY,
            t INTEGER NOT NULL,
            blob BLOB NOT NULL,
            crc INTEGER NOT NULL
        )""",
        """CREATE TABLE log (
            session INTEGER NOT NULL,
            t INTEGER NOT NULL,
            n INTEGER NOT NULL CHECK (n > 0),
            blob BLOB NOT NULL,
            crc INTEGER NOT NULL,
            PRIMARY KEY (session, t)
        ) WITHOUT ROWID""",
        """CREATE TABLE producers (
            session INTEGER NOT NULL,
            producer TEXT NOT NULL,
            next INTEGER NOT NULL CHECK (next >= 0),
            crc INTEGER NOT NULL,
            PRIMARY KEY (session, producer)
        ) WITHOUT ROWID""",
        """CREATE TRIGGER producers_counted AFTER INSERT ON producers BEGIN
            UPDATE sessions SET producers = producers + 1 WHERE id = new.session;
        END""",
        """CREATE TABLE groups (
            one INTEGER PRIMARY KEY CHECK (one = 1),
            written INTEGER NOT NULL,
            crc INTEGER NOT NULL
        )""",
        f"INSERT INTO groups (one, written, crc) VALUES (1, 0, {commit_count_crc(0)})",  # noqa: S608
    ),
    (
        """CREATE TABLE kept (
            session INTEGER NOT NULL,
            id TEXT NOT NULL,
            expires INTEGER NOT NULL CHECK (expires >= 0),
            learnt INTEGER NOT NULL CHECK (learnt IN (0, 1)),
            blob BLOB NOT NULL,
            crc INTEGER NOT NULL,
            PRIMARY KEY (session, id)
        ) WITHOUT ROWID""",
        "ALTER TABLE sessions ADD COLUMN kept INTEGER NOT NULL DEFAULT 0",
        """CREATE TRIGGER kept_counted AFTER INSERT ON kept BEGIN
            UPDATE sessions SET kept = kept + 1 WHERE id = new.session;
        END""",
        """CREATE TRIGGER kept_discounted AFTER DELETE ON kept BEGIN
            UPDATE sessions SET kept = kept - 1 WHERE id = old.session;
        END""",
    ),
    (
        "ALTER TABLE snapshots ADD COLUMN retained INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE snapshots ADD COLUMN retained_bytes INTEGER NOT NULL DEFAULT 0",
        "CREATE TABLE discarded (session INTEGER PRIMARY KEY)",
    ),
    (
        """CREATE TABLE place (
            one INTEGER PRIMARY KEY CHECK (one = 1),
            at INTEGER NOT NULL,
            places INTEGER NOT NULL
        )""",
    ),
    (f"CREATE INDEX sessions_marked ON sessions (name) WHERE {IS_REPLAY}",),
    (
        "ALTER TABLE sessions ADD COLUMN version INTEGER NOT NULL DEFAULT 0",
        "DROP TABLE place",
    ),
)
"""Statements that lead from each version to the next; version 0 is an empty file."""


def version(db: Connection) -> int:
    """The version of a file. Raises `StoreTooNew`, and `StoreError` if it is not a store at all."""
    [(found,)] = db.execute("PRAGMA user_version").fetchall()
    if found > len(MIGRATIONS):
        raise StoreTooNew(
            f"it is of version {found}, this service knows versions up to {len(MIGRATIONS)}"
        )
    if found == 0 and db.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchall():
        raise StoreError("it is a database of another program")
    return int(found)


def migrate(db: Connection) -> None:
    """Bring a file to the version of this service, one version and one transaction at a time."""
    for number in range(version(db), len(MIGRATIONS)):
        db.execute("BEGIN IMMEDIATE")
        for statement in MIGRATIONS[number]:
            db.execute(statement)
        db.execute(f"PRAGMA user_version = {number + 1}")
        db.execute("COMMIT")
