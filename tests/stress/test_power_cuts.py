"""What was acknowledged is there after a power cut, what failed is not, whatever fails and when."""

from pathlib import Path

from stress import io_errors, power


def test_no_power_cut_takes_what_was_acknowledged_and_without_syncs_it_does(tmp_path: Path) -> None:
    verdict = power.run(tmp_path, 1, 400, lambda: None)
    assert verdict.faults == [], verdict.counts


def test_an_error_at_any_call_leaves_a_group_stored_or_not(tmp_path: Path) -> None:
    verdict = io_errors.run(tmp_path, 1, 1, lambda: None)
    assert verdict.faults == []
    assert all(verdict.counts[f"calls with {way}"] > 100 for way in io_errors.WAYS)
