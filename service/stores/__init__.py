"""The engines: where sessions are kept.

To add one, write its file and give it a line in `ENGINES`: the tests of the contract pick it up.
"""

from collections.abc import Callable

from service.stores import postgres
from service.stores.memory import Memory
from service.stores.sqlite import SQLite
from service.stores.store import Store, StoreError


def open_store(url: str) -> Store:
    """The store a URL names, open.

    >>> open_store("memory:").count()
    0
    """
    scheme, colon, _ = url.partition(":")
    if not colon or scheme not in ENGINES:
        known = ", ".join(f"{name}:" for name in ENGINES)
        raise StoreError(f"{scheme!a}: no such store, there are {known}")
    return ENGINES[scheme](url)


ENGINES: dict[str, Callable[[str], Store]] = {
    "memory": Memory.at,
    "postgresql": postgres.at,
    "sqlite": SQLite.at,
}
