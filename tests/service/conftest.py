"""Fixtures that tests of several parts of the service use."""

import pytest
from support.app import Stub


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Stub:
    stub = Stub()
    monkeypatch.setattr("llr_service.app.open_store", lambda _: stub)
    return stub
