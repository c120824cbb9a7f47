"""Row 11, in its short form. The same requests at every run."""

from pathlib import Path

from stress import fuzz


def test_no_request_gets_an_answer_that_is_not_documented(tmp_path: Path) -> None:
    verdict = fuzz.run(tmp_path, 1, 500, lambda: None)
    assert verdict.faults == []
