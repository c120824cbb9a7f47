"""The engines: where sessions are kept.

To add one, write its file and give it a line in `ENGINES`: the tests of the contract pick it up.
"""

from collections.abc import Callable

from llr_service.stores import postgres
from llr_service.stores.memory import Memory
from llr_service.stores.places import in_place, urls
from llr_service.stores.sqlite import SQLite
from llr_service.stores.store import Store, StoreError


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


def open_stores(store: str) -> list[Store]:
    """The stores of a list of URLs, all open, each with the sessions whose place it is."""
    found: list[Store] = []
    named = urls(store)
    if len(set(named)) < len(named):
        raise StoreError("a database is in the list of databases twice")
    try:
        for at, url in enumerate(named):
            found.append(open_store(url))
            in_place(found[-1], at, len(named))
    except BaseException:
        for each in found:
            each.close()
        raise
    return found


ENGINES: dict[str, Callable[[str], Store]] = {
    "memory": Memory.at,
    "postgresql": postgres.at,
    "sqlite": SQLite.at,
}
