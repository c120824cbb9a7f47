"""The store engines, by the scheme of their URL.

To add one, write its file and give it a line in `ENGINES`: the contract suite picks it up.
"""

import re
from collections.abc import Callable

from llr_service.stores import postgres
from llr_service.stores.memory import Memory
from llr_service.stores.sqlite import SQLite
from llr_service.stores.store import Store, StoreError

_BETWEEN = re.compile(r",(?=[a-z]+:)")


def open_store(url: str) -> Store:
    """Open the store that a URL names.

    >>> open_store("memory:").count()
    0
    """
    if len(split_urls(url)) > 1:
        raise StoreError(
            "a store is one database, and this names several:"
            " move them into one with `llr migrate-store`"
        )
    scheme, colon, _ = url.partition(":")
    if not colon or scheme not in ENGINES:
        known = ", ".join(f"{name}:" for name in ENGINES)
        raise StoreError(f"{scheme!a}: no such store, there are {known}")
    return ENGINES[scheme](url)


def split_urls(urls: str) -> list[str]:
    """Split URLs with commas between them; a comma between hosts belongs to its URL.

    >>> split_urls("postgresql://a,b/llr,postgresql://c/llr")
    ['postgresql://a,b/llr', 'postgresql://c/llr']
    """
    return _BETWEEN.split(urls)


ENGINES: dict[str, Callable[[str], Store]] = {
    "memory": Memory.at,
    "postgresql": postgres.at,
    "sqlite": SQLite.at,
}
