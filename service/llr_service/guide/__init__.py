"""The documentation site, served at `/guide`: built files in `site/`, which `make docs` writes.

The wheels of `make dist` and the image contain them. In a clone `make demo`, `make serve` and
`make docs` write them.
"""

import hashlib
from functools import lru_cache
from pathlib import Path

from llr_service.dashboard import KINDS, Asset

SITE = Path(__file__).parent / "site"
TYPES = KINDS | {
    ".json": "application/json",
    ".png": "image/png",
    ".txt": "text/plain; charset=utf-8",
    ".xml": "application/xml",
}


def find(path: str, site: Path = SITE) -> Asset | None:
    """The file at a path of the site; of a folder its index.html. None if there is none."""
    asked = (site / path / "index.html") if path in ("",) or path.endswith("/") else site / path
    resolved = asked.resolve()
    if not resolved.is_relative_to(site.resolve()) or resolved.suffix not in TYPES:
        return None
    return _read(resolved, resolved.stat().st_mtime_ns) if resolved.is_file() else None


@lru_cache(maxsize=256)
def _read(path: Path, _modified: int) -> Asset:
    body = path.read_bytes()
    return Asset(body, TYPES[path.suffix], f'"{hashlib.sha256(body).hexdigest()[:20]}"')
