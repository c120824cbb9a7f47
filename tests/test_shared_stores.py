"""Stores that several processes share tell every change from every other one."""

from typing import Any

import pytest
from shared_contract import SHARED
from shared_memory import SharedMemory

from service.stores.store import Shared


@pytest.mark.parametrize("promise", SHARED, ids=lambda promise: promise.__name__)
def test_a_shared_store_keeps_its_contract(promise: Any) -> None:
    store = SharedMemory()
    assert isinstance(store, Shared)
    promise(store)
