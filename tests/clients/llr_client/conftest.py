"""An app in this process, behind a transport that loses what it is told to."""

from collections.abc import Iterator

import pytest
from llr_service.app import App
from llr_service.settings import Settings
from starlette.testclient import TestClient
from support.flaky import Flaky, InProcess


@pytest.fixture(scope="module")
def app() -> Iterator[TestClient]:
    with TestClient(App(Settings(store="memory:")), raise_server_exceptions=False) as started:
        yield started


@pytest.fixture
def flaky(app: TestClient) -> Flaky:
    return Flaky(InProcess(app))
