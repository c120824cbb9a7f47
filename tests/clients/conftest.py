"""A real service, and a client of it."""

from collections.abc import Iterator

import pytest
from llr_client import Client
from support.serving import serving


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(f"sqlite:///{tmp_path_factory.mktemp('store') / 'llr.db'}") as address:
        yield address


@pytest.fixture
def client(address: str) -> Iterator[Client]:
    """A client of the service; its sessions are deleted afterwards."""
    with Client(address) as client:
        yield client
        for row in client.sessions():
            client.session(row.name).delete()
