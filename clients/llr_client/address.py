"""Where a service is, as it is used and as it may be shown."""

import httpx


def address(url: str) -> str:
    """The address of a service as it is prepended to paths.

    >>> address("localhost:8080"), address("https://example.org/llr/")
    ('http://localhost:8080', 'https://example.org/llr')
    """
    whole = url.strip() if "://" in url else f"http://{url.strip()}"
    try:
        parsed = httpx.URL(whole)
    except httpx.InvalidURL as wrong:
        raise ValueError(f"{shown(url)!r} is not an address: {wrong}") from None
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise ValueError(f"{shown(url)!r} is not an address such as http://127.0.0.1:8080")
    return whole.rstrip("/")


def shown(url: object) -> str:
    """An address for people and logs: without the name and the password it may hold.

    >>> shown("redis://me:secret@example.org:6379/0"), shown("localhost:8080")
    ('redis://example.org:6379/0', 'localhost:8080')
    """
    scheme, separator, rest = str(url).rpartition("://")
    place, slash, path = rest.partition("/")
    return f"{scheme}{separator}{place.rpartition('@')[2]}{slash}{path}"
