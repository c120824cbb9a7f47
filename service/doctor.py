"""`python -m service.doctor`, which is `llr doctor`: whether all of a store's file can be read."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from service.settings import Settings
from service.stores.sqlite.checking import Checked, check
from service.stores.store import (
    StoreError,
    StoreFull,
    StoreInUse,
    StoreTooNew,
    StoreUnavailable,
)

WELL, DAMAGED, NOTHING = 0, 1, 2
PASSING = (StoreFull, StoreInUse, StoreTooNew, StoreUnavailable)
"""What keeps a file from being checked, and says nothing about it."""

SQLITE = "sqlite:///"


def main(arguments: Sequence[str] | None = None) -> int:
    """Check a file; returns the exit code."""
    parser = argparse.ArgumentParser(prog="llr doctor", description=__doc__)
    parser.add_argument("path", nargs="?", help="the file; that of LLR_STORE if left out")
    parser.add_argument("--json", action="store_true", help="as JSON, for programs")
    given = parser.parse_args(arguments)
    try:
        path = Path(given.path or _stored())
        if not path.is_file():
            raise ValueError(f"there is no file {path}")
        found = check(path)
    except (ValueError, *PASSING) as nothing:
        sys.stderr.write(f"llr doctor: {nothing}\n")
        return NOTHING
    except StoreError as damage:
        found = [Checked("", str(damage))]
    report(path, found, given.json)
    return DAMAGED if any(each.damage for each in found) else WELL


def report(path: Path, found: list[Checked], as_json: bool) -> None:
    """Say what is wrong, and with what."""
    damaged = [each for each in found if each.damage]
    sessions = [each for each in found if each.name]
    if as_json:
        shown = {"file": str(path), "well": not damaged, "sessions": len(sessions)}
        listed = [{"session": each.name or None, "damage": each.damage} for each in damaged]
        sys.stdout.write(json.dumps(shown | {"damaged": listed}, indent=2) + "\n")
        return
    for each in damaged:
        sys.stdout.write(f"{each.name or 'the file'}: {each.damage}\n")
    bad = len({each.name for each in damaged if each.name})
    state = f"{bad} of {len(sessions)} sessions damaged" if damaged else "all is well"
    sys.stdout.write(f"{path}: {len(sessions)} sessions, {state}\n")


def _stored() -> str:
    """The file of the settings' store."""
    store = Settings.from_cli([], prog="llr doctor").store
    if not store.startswith(SQLITE):
        raise ValueError("LLR_STORE is not a file: name one")
    return store.removeprefix(SQLITE)


if __name__ == "__main__":
    sys.exit(main())
