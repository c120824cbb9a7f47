"""Rows 28 and 30 find what they look for."""

from pathlib import Path
from typing import Any
from unittest.mock import patch

from stress import restores
from stress.store_errors import Named, tried

CHANGED = "llr_service.sessions"


async def _at_once(commit: Any) -> None:
    """Do not wait for the store."""


def test_an_answer_before_the_store_speaks_is_found(tmp_path: Path) -> None:
    named: Named = ("predict with an id", "disk full", "memory", False)
    with patch(f"{CHANGED}.delayed_labels.wait_durable", _at_once):
        assert any("although the store failed" in one for one in tried(named, tmp_path).faults)


def test_a_copy_that_stays_after_a_failure_is_found(tmp_path: Path) -> None:
    named: Named = ("learn", "unavailable before", "memory", False)
    with patch(f"{CHANGED}.session.Session.discard", lambda _: None):
        faults = tried(named, tmp_path / "mutated").faults
    assert faults
    assert tried(named, tmp_path / "plain").faults == []


def test_a_store_that_takes_a_foreign_log_is_found(tmp_path: Path) -> None:
    with patch("llr_service.stores.sqlite.commit_witness.refuse_foreign_files", lambda _: None):
        assert restores.run(tmp_path, 1, 20, lambda: None).faults
