"""Which of several databases a session is in.

A list of URLs is one store: each name has its place in the list, by a hash. So the list keeps its
length and its order; `llr migrate-store` moves all sessions to another one. Each database remembers
which place it is, so that any other list is noticed.
"""

import re
from collections.abc import Iterable
from hashlib import blake2b

from llr_service.stores.store import Placed, Seat, Store, StoreError

_BETWEEN = re.compile(r",(?=[a-z]+:)")
LOOK = 1000
"""Sessions that are looked at of a database that knows no place."""
ANOTHER = (
    "the list of databases is not the one its sessions were stored by."
    " Put it back, or move all sessions to another list with `llr migrate-store`"
)


def urls(store: str) -> list[str]:
    """The URLs of a list with commas between them; a comma between hosts belongs to its URL.

    >>> urls("postgresql://a,b/llr,postgresql://c/llr")
    ['postgresql://a,b/llr', 'postgresql://c/llr']
    """
    return _BETWEEN.split(store)


def shown(url: str) -> str:
    """A URL for people: where it leads, without users, passwords and options.

    >>> shown("postgresql://me:secret@db:5432/llr?timeout=2")
    'postgresql://db:5432/llr'
    """
    scheme, slashes, rest = url.partition("://")
    return scheme + slashes + rest.partition("?")[0].rpartition("@")[2]


def place(name: str, places: int) -> int:
    """Where in a list of so many databases a name is.

    >>> [place("demo", places) for places in (1, 2, 3, 4)]
    [0, 0, 1, 0]
    """
    if places == 1:
        return 0
    digest = blake2b(name.encode(errors="surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest) % places


def in_place(store: Store, at: int, places: int) -> None:
    """See that a store is this place of a list, and will be whenever it is reached anew.

    Raises `StoreError` if the list its sessions were stored by was another one.
    """
    if isinstance(store, Placed):
        store.take_place(Seat(at, places))


def check_seat(found: Seat | None, seat: Seat) -> None:
    """Raise `StoreError` unless a store that has sessions is the place it was."""
    if found is not None and found != seat:
        was, now = (f"{each.at + 1} of {each.places}" for each in (found, seat))
        raise StoreError(f"it is database {was}, not {now}: {ANOTHER}")


def check_names(names: Iterable[str], seat: Seat) -> None:
    """Raise `StoreError` unless the sessions of a store that knows no place are in this one."""
    for name in names:
        there = place(name, seat.places)
        if there != seat.at:
            raise StoreError(
                f"session {name} is in database {seat.at + 1} of {seat.places}, its place is"
                f" {there + 1}: {ANOTHER}"
            )
