"""Fixtures of the sessions' tests."""

import pytest
from support.what_ifs import Gate


@pytest.fixture
async def gate(monkeypatch: pytest.MonkeyPatch) -> Gate:
    return Gate(monkeypatch)
