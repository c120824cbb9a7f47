"""Sessions to look at on the dashboard."""

from typing import Any

import httpx

MOVED = "document.querySelector('[data-chart=%s] .lines path')?.getAttribute('d')"
"""The path of a chart's first line, None before it is drawn."""


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
