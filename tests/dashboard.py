"""The dashboard in a real Chromium, against a real service: what its tests have in common."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from browser import Browser, Page, chromium
from serving import serving

MOVED = "document.querySelector('[data-chart=%s] .lines path')?.getAttribute('d')"
"""The path of a chart's first line, None before it is drawn."""


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


def made(http: httpx.Client, name: str, samples: int = 0, **config: Any) -> str:
    """A linear session of two features that has learnt some samples; returns its page."""
    http.put(f"/v1/sessions/{name}", json={"model": "linear"} | config).raise_for_status()
    if samples:
        learn(http, name, samples)
    return f"{http.base_url}#/s/{name}"


def learn(http: httpx.Client, name: str, samples: int) -> None:
    x = [[1 + k % 3, (k % 5) / 2] for k in range(samples)]
    body = {"x": x, "y": [a - b + 0.1 * (k % 2) for k, (a, b) in enumerate(x)]}
    http.post(f"/v1/sessions/{name}/samples", json=body).raise_for_status()
