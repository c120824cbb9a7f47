"""`llr push --bad`: bad rows are skipped or kept, and the numbers of the others stay."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest
from llr_client import Client
from pyarrow import parquet
from support.commands import one_line, run

from llr import Learner

GOOD = [([1.0, 2.0], 3.0), ([2.0, 1.0], 0.5), ([0.5, 0.5], 1.0), ([3.0, 1.0], 2.0)]


def learnt(samples: Any = GOOD) -> list[float]:
    learner = Learner("linear", 2, regret="exact")
    assert learner.learn([x for x, _ in samples], [y for _, y in samples])
    theta: list[float] = learner.theta.tolist()
    return theta


def csv_with_bad_rows() -> bytes:
    """Six rows of which two are bad, the last of a block and one in the middle, and two more."""
    lines = [b"a,b,y", b"1,2,3", b"2,one,4", b"2,1,.5", b".5,.5,1", b"\xff,1,1", b"3,1,2", b"1,1"]
    return b"\n".join(lines) + b"\n"


@pytest.mark.parametrize("block", ["2", "100"])
def test_bad_rows_are_skipped_and_written_to_a_file(
    client: Client, address: str, tmp_path: Path, block: str
) -> None:
    (tmp_path / "a.csv").write_bytes(csv_with_bad_rows())
    options = ("--model", "linear", "--bad", str(tmp_path / "bad.ndjson"), "--block", block)
    result = run("push", str(tmp_path / "a.csv"), *options, url=address)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("a: 4 samples sent, 3 bad rows skipped, see ")
    assert "skipped line 3: 'one' is not a finite number" in result.stderr
    assert client.session("a").state().theta == learnt()
    rows = [json.loads(line) for line in (tmp_path / "bad.ndjson").read_text().splitlines()]
    assert [(row["line"], row["content"]) for row in rows] == [
        (3, "2,one,4"),
        (6, "\udcff,1,1"),
        (8, "1,1"),
    ]
    assert [row["error"] for row in rows[1:]] == ["not UTF-8", "2 cells, where the first has 3"]
    again = run("push", str(tmp_path / "a.csv"), *options, "--json", url=address)
    told = json.loads(again.stdout)
    assert (told["sent"], told["before"], told["bad"], told["t"]) == (0, 7, 0, 4)


def test_a_file_with_skipped_rows_goes_on_where_it_grew(
    client: Client, address: str, tmp_path: Path
) -> None:
    file = tmp_path / "a.csv"
    rows = csv_with_bad_rows().splitlines(keepends=True)
    for lines in (4, 8):
        file.write_bytes(b"".join(rows[:lines]))
        options = ("--model", "linear", "--bad", "skip", "--producer", "a")
        assert run("push", str(file), *options, url=address).exit_code == 0
    assert client.session("a").state().theta == learnt()
    assert client.session("a", producer="a").acked() == 7


@pytest.mark.parametrize("kind", ["ndjson", "npy", "parquet"])
def test_rows_that_the_service_refuses_are_skipped_too(
    client: Client, address: str, tmp_path: Path, kind: str
) -> None:
    file = tmp_path / f"a.{kind}"
    table: Any = [[*x, y] for x, y in GOOD]
    if kind == "ndjson":
        lines = [json.dumps({"x": x, "y": y}) for x, y in GOOD]
        bad = ['{"x": [1], "y": 1}', "nonsense", '{"x": [1, 1], "y": null}']
        file.write_text("\n".join([*lines[:2], bad[0], lines[2], *bad[1:], lines[3]]))
    elif kind == "npy":
        np.save(file, np.array([table[0], [np.nan, 1, 1], *table[1:], [1, 1, np.inf]]))
    else:
        rows = [*table[:3], [None, 1.0, 1.0], [1.0, 1.0, float("inf")], table[3]]
        columns = dict(zip("aby", zip(*rows, strict=True), strict=True))
        parquet.write_table(pyarrow.table({k: list(v) for k, v in columns.items()}), file)
    kept = tmp_path / "bad.ndjson"
    result = run("push", str(file), "--model", "linear", "--bad", str(kept), url=address)
    assert result.exit_code == 0, result.output
    assert client.session("a").state().theta == learnt()
    found = [json.loads(line) for line in kept.read_text().splitlines()]
    unit = "line" if kind == "ndjson" else "row"
    places = {"ndjson": {3, 5, 6}, "npy": {1, 5}, "parquet": {3, 4}}[kind]
    assert {row[unit] for row in found} == places
    assert all(row["error"] and row["content"] for row in found)
    again = run("push", str(file), "--model", "linear", "--bad", "skip", "--json", url=address)
    assert (json.loads(again.stdout)["sent"], json.loads(again.stdout)["t"]) == (0, 4)


def test_a_file_without_one_good_row_is_an_error_and_leaves_no_session(
    client: Client, address: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a.csv"
    file.write_text("a,y\none,1\ntwo,2\n")
    for options in (["--bad", "skip"], []):
        result = run("push", str(file), "--model", "linear", *options, url=address)
        assert result.exit_code == 1
        assert "line 2: 'one' is not a finite number; --named sends" in one_line(result)
        assert "session created" not in capfd.readouterr().err
        assert list(client.sessions()) == []
    file = tmp_path / "b.ndjson"
    file.write_text('{"x": "one", "y": 1}\n{"x": "two", "y": 2}\n')
    result = run("push", str(file), "--model", "linear", "--bad", "skip", url=address)
    assert result.exit_code == 1
    assert "no row of the first 2 is a sample" in result.stderr
    assert list(client.sessions()) == []


def test_a_refused_push_leaves_no_session_and_the_next_one_works(
    client: Client, address: str, tmp_path: Path
) -> None:
    file = tmp_path / "towns.ndjson"
    file.write_text('{"x": [1], "y": 1}\n{"x": [1, 2], "y": 1}\n')
    refused = run("push", str(file), "--model", "linear", url=address)
    assert (refused.exit_code, "line 2" in one_line(refused)) == (1, True)
    assert list(client.sessions()) == []
    file.write_text("\n")
    empty = run("push", str(file), "--model", "linear", url=address)
    assert (empty.exit_code, "has no samples" in one_line(empty)) == (1, True)
    assert list(client.sessions()) == []
    client.session("towns", "linear")
    assert run("push", str(file), url=address).exit_code == 0  # a session that was there stays
    file.write_text('{"x": [1], "y": null}\n')
    assert run("push", str(file), url=address).exit_code == 1
    assert [row.name for row in client.sessions()] == ["towns"]


@pytest.mark.parametrize("kind", ["csv", "ndjson", "parquet"])
def test_labels_that_are_text_say_what_to_do_and_then_work(
    client: Client, address: str, tmp_path: Path, kind: str
) -> None:
    rows = [(1.0, "spam"), (2.0, "ham"), (0.5, "spam")]
    file = tmp_path / f"mail.{kind}"
    if kind == "csv":
        file.write_text("a,y\n" + "".join(f"{a},{y}\n" for a, y in rows))
    elif kind == "ndjson":
        file.write_text("".join(json.dumps({"x": [a], "y": y}) + "\n" for a, y in rows))
    else:
        columns = {"a": [a for a, _ in rows], "y": [y for _, y in rows]}
        parquet.write_table(pyarrow.table(columns), file)
    refused = run("push", str(file), "--model", "linear", url=address)
    assert refused.exit_code == 1
    hint = "to learn names, create the session with --model logistic --classes ham,spam"
    assert one_line(refused).endswith(hint)
    options = hint.partition(" with ")[2].split()
    done = run("push", str(file), *options, url=address)
    assert done.stdout.startswith("mail: 3 samples sent"), done.output
    learner = Learner("logistic", 1)
    assert learner.learn([[a] for a, _ in rows], [float(y == "spam") for _, y in rows])
    assert client.session("mail").state().theta == learner.theta.tolist()


def test_one_wrong_label_among_numbers_is_no_reason_to_name_classes(
    client: Client, address: str, tmp_path: Path
) -> None:
    file = tmp_path / "a.csv"
    file.write_text("a,y\n1,2\n1,three\n1,4\n")
    told = one_line(run("push", str(file), "--model", "linear", url=address))
    assert told == "llr: line 3: 'three' is not a finite number"


@pytest.mark.parametrize("bad", ["no/such/folder/bad.ndjson", "."])
def test_a_file_for_bad_rows_that_cannot_be_is_a_wrong_use(tmp_path: Path, bad: str) -> None:
    (tmp_path / "a.csv").write_text("1,2\n")
    result = run("push", str(tmp_path / "a.csv"), "--model", "linear", "--bad", bad)
    assert (result.exit_code, result.stdout) == (2, "")
