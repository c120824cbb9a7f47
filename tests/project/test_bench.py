"""The parts of the benchmarks that reckon rather than measure."""

import datetime
import itertools
from pathlib import Path

import numpy as np
import pytest
from support.root import ROOT

from bench import growth, learning, profile, report, side_by_side, workers
from bench.report import Machine, Section, Verdict


def test_a_report_tells_first_what_was_to_be_reached(tmp_path: Path) -> None:
    verdicts = [Verdict("speed", "≥ 2", "3", True), Verdict("size", "≤ 1", "4", False)]
    sections = [Section("First", ["text"], verdicts[:1]), Section("Second", [], verdicts[1:])]
    begun = datetime.datetime.now(datetime.UTC)
    report.write(tmp_path / "r.md", Machine(begun, 0.5), ["peer 1.0"], sections)
    written = (tmp_path / "r.md").read_text()
    assert written.index("| speed | ≥ 2 | 3 | yes |") < written.index("## First")
    assert "| size | ≤ 1 | 4 | **no** |" in written
    assert "peer 1.0" in written


def test_sparse_samples_name_every_feature_and_none_of_them_twice_in_a_row(tmp_path: Path) -> None:
    path, n = learning._sparse_samples(tmp_path, learning.QUICK, 0.05)
    with np.load(path) as arrays:
        rows = arrays["columns"].reshape(n, learning.PRESENT)
    assert all(len(set(row)) == learning.PRESENT for row in rows.tolist())
    assert np.unique(rows).size > 0.9 * learning.KNOWN


def test_a_profile_counts_the_function_at_the_end_of_each_stack() -> None:
    seen = profile._own("main (a.py:1);work (b.py:2) 3\nmain (a.py:1) 1\nx;work (b.py:2) 2\n")
    assert seen == {"work, b.py": 5, "main, a.py": 1}
    assert profile._own("main (a.py:1);main (a.py:9) 3\nmain (a.py:1) 1\n") == {"main, a.py": 4}
    assert profile._own("thread (7): MainThread 2\n") == {"outside of Python": 2}
    assert profile._short("work (/long/way/to/b.py:2)") == "work, to/b.py"


def test_a_curve_is_judged_by_its_last_cost_over_its_first() -> None:
    points = [growth.Point(10, 2.0, 0), growth.Point(100, 1.0, 0), growth.Point(1000, 3.0, 0)]
    curve = growth.Curve("things", "thing", points, 1.1)
    assert growth._verdict(curve) == Verdict(
        "cost a thing at 1,000 things by that at the start", "≤ 1.1", "1.50", False
    )


def test_sizes_grow_tenfold_up_to_the_last() -> None:
    sizes = growth._decades(100, 10**6)
    assert sizes[0] == 100
    assert sizes[-1] == 10**6
    assert all(9.9 < b / a < 10.1 for a, b in itertools.pairwise(sizes))


@pytest.mark.parametrize("question", side_by_side.QUESTIONS)
def test_a_question_is_a_file(question: str) -> None:
    assert (ROOT / "bench" / f"{question}.py").exists()


def test_questions_are_known_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        side_by_side.main(["htp"])
    assert "htp: the questions are learning, kernels, " in capsys.readouterr().err


def test_only_questions_beside_peers_make_their_environments() -> None:
    assert not side_by_side._environments(["kernels", "http"])
    assert side_by_side._environments(["kernels", "sockets"]) == workers.ALL
