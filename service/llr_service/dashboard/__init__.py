"""The dashboard: a page and its modules, plain files beside this one, served as they are.

There is no build step. `index.html` loads `main.js`, which imports the rest.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path

PAGE = "index.html"
KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


@dataclass(frozen=True)
class Asset:
    """A file of the dashboard: its bytes, its content type, and a tag that changes with it."""

    body: bytes
    kind: str
    etag: str


def _read(path: Path) -> Asset:
    body = path.read_bytes()
    return Asset(body, KINDS[path.suffix], f'"{hashlib.sha256(body).hexdigest()[:20]}"')


ASSETS = {
    path.name: _read(path)
    for path in sorted(Path(__file__).parent.iterdir())
    if path.suffix in KINDS
}
"""Every file by its name."""
