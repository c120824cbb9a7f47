"""The keys that are accepted: those of the settings, and those of a file that is read again."""

import logging
from collections.abc import Iterable
from pathlib import Path

from llr_service.http.auth import (
    ANYBODY,
    CHALLENGE,
    ApiKey,
    by_digest,
    check_distinct,
    parse_key_file,
)
from llr_service.problems import Problem

log = logging.getLogger("llr_service")


def read_key_file(path: str) -> tuple[ApiKey, ...]:
    """The keys of a file.

    Raises:
        ValueError: saying what is wrong with it, without repeating what it holds.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as failure:
        raise ValueError(f"the file cannot be read: {failure.strerror}") from None
    except UnicodeDecodeError:
        raise ValueError("the file is not text in UTF-8") from None
    keys = parse_key_file(text)
    if not keys:
        raise ValueError("the file has no keys: the service would be open to everyone")
    return keys


class KeyRing:
    """The keys by their SHA-256, as they are now.

    Args:
        fixed: keys that stay as they are.
        path: the file with further keys; empty if there is none.

    Attributes:
        by_digest: the keys; empty if the service is open.
    """

    def __init__(self, fixed: Iterable[ApiKey], path: str = "") -> None:
        self._fixed, self._path = tuple(fixed), path
        self.by_digest = self._read()

    def reload(self) -> bool:
        """Read the file again; a file with an error changes nothing. Returns whether it was read.

        A key that is gone, or that may do something else now, ends the streams it has open.
        """
        try:
            keys = self._read()
        except ValueError as error:
            log.error("keys not reloaded: %s", error, extra={"file": self._path})
            return False
        old, self.by_digest = self.by_digest, keys
        names = {key.name for key in keys.values()}
        gone = sorted(key.name for key in old.values() if key.name not in names)
        log.info("keys reloaded", extra={"keys": len(keys), "removed": gone})
        return True

    def accepts(self, key: ApiKey) -> bool:
        """Whether a key that was accepted may still do what it might."""
        now = self.by_digest.get(key.digest)
        return now is key or now == key or key is ANYBODY

    def check(self, key: ApiKey) -> None:
        """Raise `unauthenticated` if a key that was accepted is so no more."""
        if not self.accepts(key):
            raise Problem("unauthenticated", "This key was changed or removed.", headers=CHALLENGE)

    def _read(self) -> dict[bytes, ApiKey]:
        keys = self._fixed + (read_key_file(self._path) if self._path else ())
        check_distinct(keys)
        return by_digest(keys)
