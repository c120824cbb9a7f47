"""Which of several databases a session is in.

A list of URLs is one store: each name has its place in the list, by a hash. So the list keeps its
length and its order; `llr migrate-store` moves all sessions to another one. Any other list has most
names in other places, so that it is noticed.
"""

import re
from hashlib import blake2b

from service.stores.store import Store, StoreError, StoreUnavailable

_BETWEEN = re.compile(r",(?=[a-z]+:)")
LOOK = 1000
"""Sessions of each database that are looked at."""


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
    """See that the sessions of a store are where they should be, as far as it can be asked.

    Raises `StoreError` if the list they were stored by was another one.
    """
    try:
        some = store.list("", LOOK) if places > 1 else []
    except StoreUnavailable:
        return
    for name in (row.name for row in some if place(row.name, places) != at):
        raise StoreError(
            f"session {name} is in database {at + 1} of {places}, its place is"
            f" {place(name, places) + 1}: the list of databases is not the one it was stored by."
            " Put it back, or move all sessions to another list with `llr migrate-store`"
        )
