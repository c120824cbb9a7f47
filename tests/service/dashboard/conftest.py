"""The dashboard in a real Chromium, against a real service: fixtures."""

from collections.abc import Iterator

import httpx
import pytest
from support.browser import Browser, Page, chromium
from support.serving import serving


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with chromium(tmp_path_factory.mktemp("chromium")) as started:
        yield started


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page that must not have complained of anything: errors, or violations of the policy."""
    with browser.page() as opened:
        yield opened
        assert opened.complaints == []


@pytest.fixture(scope="module")
def service() -> Iterator[httpx.Client]:
    with serving("memory:") as address, httpx.Client(base_url=f"http://{address}") as http:
        yield http
