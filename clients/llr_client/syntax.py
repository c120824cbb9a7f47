"""Syntax of session names, API keys and service URLs."""

import re

import httpx

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
"""Names of sessions and shadows."""

KEY = re.compile(r"[\x21-\x7e]+")
"""API keys."""


def parse_url(url: str) -> str:
    """Normalize a service's URL, so that paths can be appended.

    >>> parse_url("localhost:8080"), parse_url("https://example.org/llr/")
    ('http://localhost:8080', 'https://example.org/llr')
    """
    whole = url.strip() if "://" in url else f"http://{url.strip()}"
    try:
        parsed = httpx.URL(whole)
    except httpx.InvalidURL as wrong:
        raise ValueError(f"{redact_url(url)!r} is not an address: {wrong}") from None
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise ValueError(f"{redact_url(url)!r} is not an address such as http://127.0.0.1:8080")
    return whole.rstrip("/")


def redact_url(url: object) -> str:
    """Remove user and password from a URL, for messages and logs.

    >>> redact_url("redis://me:secret@example.org:6379/0"), redact_url("localhost:8080")
    ('redis://example.org:6379/0', 'localhost:8080')
    """
    scheme, separator, rest = str(url).rpartition("://")
    place, slash, path = rest.partition("/")
    return f"{scheme}{separator}{place.rpartition('@')[2]}{slash}{path}"
