"""The store of many machines: a Postgres database that any number of services share.

A group is one statement, durable when it returns. `docs/store.md` tells what is promised and how it
is kept. The driver is an extra of the package, so nothing here imports it before it is needed.
"""

from importlib.util import find_spec

from llr_service.stores.integrity import SessionCheck
from llr_service.stores.store import MultiWriter, StoreError


def at(url: str) -> MultiWriter:
    """The store a URL names."""
    _need_driver()
    from llr_service.stores.postgres.engine import Postgres  # noqa: PLC0415

    return Postgres.at(url)


def check(url: str) -> list[SessionCheck]:
    """Load every session of a database."""
    _need_driver()
    from llr_service.stores.postgres.checks import check_all  # noqa: PLC0415

    return check_all(url)


def _need_driver() -> None:
    if find_spec("psycopg") is None:
        raise StoreError("a store in Postgres needs its driver: pip install 'llr[postgres]'")
