"""`python -m llr_service.checkpoint`, which is `llr checkpoint`: fold all logs into snapshots.

Run it with the version that wrote the store, before a newer one opens it: the newer one reads
snapshots, and may refuse to learn again what another arithmetic learnt. States stay as they are.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing

from llr import StateError
from llr_service.problems import Problem
from llr_service.sessions.config import from_stored
from llr_service.sessions.session_log import Retention, folded, recover
from llr_service.settings import Settings
from llr_service.stores import open_store
from llr_service.stores.postgres.url import display_url
from llr_service.stores.store import Conflict, Damaged, Store, StoreError, WriteSnapshot

TOGETHER = 64
"""Sessions that are folded together."""
TRIES = 5
"""How often a session is read again that others changed meanwhile."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Fold all logs; returns the exit code."""
    parser = argparse.ArgumentParser(prog="llr checkpoint", description=__doc__)
    parser.add_argument("--store", help="the URL of the store; LLR_STORE if left out")
    given = parser.parse_args(arguments)
    try:
        settings = Settings.from_cli([], prog="llr checkpoint")
        url = given.store or settings.store
        with closing(open_store(url)) as store:
            done, failures = fold_all(store, settings.max_retained)
            sessions = store.count()
    except (StoreError, ValueError) as failure:
        sys.stderr.write(f"llr checkpoint: {failure}\n")
        return 1
    for wrong in failures:
        sys.stderr.write(f"llr checkpoint: {wrong}\n")
    sys.stdout.write(f"{display_url(url)}: {sessions} sessions, the logs of {done} were folded\n")
    return 1 if failures else 0


def fold_all(store: Store, max_retained: int) -> tuple[int, list[str]]:
    """Fold all logs; returns how many had samples, and what is wrong with the other sessions."""
    done, failures = 0, list[str]()
    for names in _pages(store):
        left = names
        for _ in range(TRIES):
            folds, refused = _folds(store, left, max_retained)
            failures += refused
            results = zip(folds, store.write([*folds.values()]), strict=True)
            left = [name for name, result in results if isinstance(result, Conflict)]
            done += len(folds) - len(left)
            if not left:
                break
        failures += [f"session {name} changes too fast: stop its services" for name in left]
    return done, failures


def _folds(
    store: Store, names: Sequence[str], max_retained: int
) -> tuple[dict[str, WriteSnapshot], list[str]]:
    """The changes that fold the logs of these sessions, and what is wrong with sessions."""
    folds, failures = dict[str, WriteSnapshot](), list[str]()
    for name in names:
        try:
            change = _fold(store, name, max_retained)
        except Problem as problem:
            failures.append(f"session {name}: {problem.detail}")
        except (Damaged, StateError, ValueError) as damage:
            failures.append(f"session {name}: {damage}")
        else:
            if change is not None:
                folds[name] = change
    return folds, failures


def _fold(store: Store, name: str, max_retained: int) -> WriteSnapshot | None:
    """The change that folds the log of a session; None if it has no samples."""
    stored = store.load(name)
    if stored is None or not stored.tail:
        return None
    config, _ = from_stored(stored.config)
    ensemble = recover(config, stored)
    if ensemble is None:
        return None
    return folded(stored, ensemble, Retention.of(stored, config.retain, max_retained).kept)


def _pages(store: Store) -> Iterator[list[str]]:
    """The names of all sessions, some at a time."""
    after = ""
    while rows := store.list(after, TOGETHER):
        yield [row.name for row in rows]
        after = rows[-1].name


if __name__ == "__main__":
    sys.exit(main())
