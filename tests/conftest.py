"""Plugins and fixtures of all tests; `support/kinds.py` says how tests get their markers."""

import gc
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from llr_service.settings import Settings
    from starlette.testclient import TestClient

# bench and scripts are not installed; last, so that it hides no other copy of what is. Before any
# import of llr: the folder tests/llr would be taken for it.
sys.path.append(str(Path(__file__).parent.parent))

# programs that tests run: importing one, in search of doctests, would run it
collect_ignore = ["stress/clients"]

pytest_plugins = ["support.kinds", "support.missing_programs"]

# what clients of tests call the service where there is no address to call it by
os.environ["LLR_ALLOWED_HOSTS"] = "testserver,here"


def pytest_collection_finish() -> None:
    """Take what was imported and collected out of the garbage collector: it stays until the end."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def settings(tmp_path: Path) -> "Settings":
    """Settings of an app on an embedded store in a folder of its own."""
    from llr_service.settings import Settings

    return Settings(store=f"sqlite:///{tmp_path / 'llr.db'}")


@pytest.fixture
def client(settings: "Settings") -> "Iterator[TestClient]":
    """An HTTP client of a started app."""
    from llr_service.app import App
    from starlette.testclient import TestClient

    with TestClient(App(settings), raise_server_exceptions=False) as started:
        yield started


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
