"""Row 7 finds what it looks for, and damages logs as well as snapshots."""

from pathlib import Path

import httpx
import pytest
from llr_service.stores.sqlite import SQLite

from stress.corruption import allowed_after, build, sort_of

RIGHT = {"state": {"t": 4}, "after": {"t": 5}}


@pytest.mark.parametrize(
    ("sample", "after", "sort"),
    [
        (200, 5, "right"),
        (200, 4, "wrong"),
        (500, 4, "right"),
        (500, 5, "wrong"),
        (503, 4, "right"),
        (503, 5, "right"),
        (503, 3, "wrong"),
    ],
)
def test_a_session_says_what_the_answer_to_its_sample_promised(
    sample: int, after: int, sort: str
) -> None:
    wanted = allowed_after(httpx.Response(sample), RIGHT)
    assert sort_of(httpx.Response(200, json={"t": after}), wanted) == sort


def test_one_image_has_its_samples_in_snapshots_and_another_in_logs(tmp_path: Path) -> None:
    build(tmp_path, 1)
    tails = {}
    for image in ("closed", "unfolded"):
        store = SQLite(tmp_path / image / "llr.db")
        stored = store.load("s3")
        store.close()
        assert stored
        tails[image] = bool(stored.tail)
    assert tails == {"closed": False, "unfolded": True}
