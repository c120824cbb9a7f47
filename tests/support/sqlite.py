"""A store's file, changed behind its back."""

import sqlite3
from pathlib import Path


def tampered(path: Path, *statements: str) -> None:
    db = sqlite3.connect(path)
    with db:
        for statement in statements:
            db.execute(statement)
    db.close()
