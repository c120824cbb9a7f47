"""Stores that several processes share tell every change from every other one."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from llr_service.stores import open_store
from llr_service.stores.store import MultiWriter, Store
from support import postgres
from support.shared_contract import SHARED
from support.shared_memory import SharedMemory

STORES: dict[str, Callable[[], Store]] = {
    "memory": SharedMemory,
    "postgresql": lambda: open_store(postgres.place()),
}


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest) -> Iterator[Store]:
    """An empty store of each kind that may be shared."""
    made = STORES[request.param]()
    yield made
    made.close()


@pytest.mark.parametrize("promise", SHARED, ids=lambda promise: promise.__name__)
def test_a_shared_store_keeps_its_contract(store: Store, promise: Any) -> None:
    assert isinstance(store, MultiWriter)
    promise(store)
