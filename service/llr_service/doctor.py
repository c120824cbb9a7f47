"""`python -m llr_service.doctor`, which is `llr doctor`: whether all of a store can be read."""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from llr_service.settings import Settings
from llr_service.stores import postgres
from llr_service.stores.integrity import SessionCheck
from llr_service.stores.postgres.url import display_url
from llr_service.stores.sqlite.checks import check_all
from llr_service.stores.store import (
    StoreError,
    StoreFull,
    StoreInUse,
    StoreTooNew,
    StoreUnavailable,
)

WELL, DAMAGED, NOTHING = 0, 1, 2
PASSING = (StoreFull, StoreInUse, StoreTooNew, StoreUnavailable)
"""What keeps a store from being checked, and says nothing about it."""

SQLITE = "sqlite:///"


def main(arguments: Sequence[str] | None = None) -> int:
    """Check a store; returns the exit code."""
    parser = argparse.ArgumentParser(prog="llr doctor", description=__doc__)
    parser.add_argument("store", nargs="?", help="a file or a URL; LLR_STORE if left out")
    parser.add_argument("--json", action="store_true", help="as JSON, for programs")
    given = parser.parse_args(arguments)
    try:
        wanted = given.store or Settings.from_cli([], prog="llr doctor").store
        found = _checked(wanted)
    except (ValueError, *PASSING) as nothing:
        sys.stderr.write(f"llr doctor: {nothing}\n")
        return NOTHING
    except StoreError as damage:
        found = [SessionCheck("", str(damage))]
    where = display_url(wanted).removeprefix(SQLITE)
    report(where, found, given.json)
    return DAMAGED if any(each.damage for each in found) else WELL


def report(where: str, found: list[SessionCheck], as_json: bool) -> None:
    """Say what is wrong, and with what."""
    damaged = [each for each in found if each.damage]
    sessions = [each for each in found if each.name]
    if as_json:
        summary = {"file": where, "well": not damaged, "sessions": len(sessions)}
        listed = [{"session": each.name or None, "damage": each.damage} for each in damaged]
        sys.stdout.write(json.dumps(summary | {"damaged": listed}, indent=2) + "\n")
        return
    for each in damaged:
        sys.stdout.write(f"{each.name or 'the store'}: {each.damage}\n")
    bad = len({each.name for each in damaged if each.name})
    state = f"{bad} of {len(sessions)} sessions damaged" if damaged else "all is well"
    sys.stdout.write(f"{where}: {len(sessions)} sessions, {state}\n")


def _checked(url: str) -> list[SessionCheck]:
    scheme, colon, _ = url.partition(":")
    if colon and scheme in CHECKS:
        return CHECKS[scheme](url)
    if url == "memory:":
        raise ValueError("memory: is gone with its service, there is nothing to check")
    return _file(url)


def _file(url: str) -> list[SessionCheck]:
    path = Path(url.removeprefix(SQLITE))
    if not path.is_file():
        raise ValueError(f"there is no file {path}")
    return check_all(path)


def _database(url: str) -> list[SessionCheck]:
    try:
        return postgres.check(url)
    except StoreError as refusal:  # it cannot be used, which is no damage
        raise ValueError(str(refusal)) from refusal


CHECKS: dict[str, Callable[[str], list[SessionCheck]]] = {"postgresql": _database, "sqlite": _file}


if __name__ == "__main__":
    sys.exit(main())
