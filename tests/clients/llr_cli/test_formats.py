"""Files of samples: what is read from them, from where on, and what is refused where."""

import hashlib
import io
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest
from llr_cli.formats import FORMATS, STDIN, Batch, Columns, format_of, open_source
from llr_cli.options import BadData
from llr_cli.push import producer_names
from pyarrow import parquet
from support.sample_files import X, Y, write

PLAIN = Columns()


def read(
    file: Path, columns: Columns = PLAIN, skip: int = 0, block: int = 10, **options: Any
) -> list[Batch]:
    with open_source(file, format_of(file, None), columns, **options) as source:
        return list(source.batches(skip, block))


def arrays(batches: list[Batch]) -> tuple[Any, Any]:
    """X and y of parts, however they hold them; X is None without features."""
    if isinstance(batches[0].samples, list):
        samples = [sample for batch in batches for sample in batch.samples]
        labels = np.array([sample["y"] for sample in samples])
        return (np.array([s["x"] for s in samples]) if "x" in samples[0] else None), labels
    y = np.concatenate([batch.samples[-1] for batch in batches])
    features = [batch.samples[0] for batch in batches if len(batch.samples) == 2]
    return (np.concatenate(features) if features else None), y


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("skip", [0, 1, 9, 10, 24])
def test_every_format_gives_the_samples_after_those_that_are_there(
    tmp_path: Path, kind: str, skip: int
) -> None:
    batches = read(write(tmp_path, kind), skip=skip)
    got_x, got_y = arrays(batches)
    np.testing.assert_array_equal(got_x, X[skip:])
    np.testing.assert_array_equal(got_y, Y[skip:])
    assert all(batch.n <= 10 for batch in batches)


@pytest.mark.parametrize("kind", FORMATS)
def test_nothing_is_left_when_all_is_there(tmp_path: Path, kind: str) -> None:
    assert read(write(tmp_path, kind), skip=25) == []


@pytest.mark.parametrize("kind", FORMATS)
def test_progress_ends_at_the_total(tmp_path: Path, kind: str) -> None:
    file = write(tmp_path, kind)
    with open_source(file, kind, Columns()) as source:
        done = [batch.done for batch in source.batches(0, 10)]
        assert done == sorted(done)
        assert done[-1] == source.total


@pytest.mark.parametrize("kind", FORMATS)
def test_a_model_without_features_gets_labels_alone(tmp_path: Path, kind: str) -> None:
    got_x, got_y = arrays(read(write(tmp_path, kind), Columns(wanted=False)))
    assert got_x is None
    np.testing.assert_array_equal(got_y, Y)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_columns_are_chosen_by_name(tmp_path: Path, kind: str) -> None:
    got_x, got_y = arrays(read(write(tmp_path, kind), Columns("b", ("y", "a"))))
    np.testing.assert_array_equal(got_x, np.column_stack([Y, X[:, 0]]))
    np.testing.assert_array_equal(got_y, X[:, 1])


@pytest.mark.parametrize("kind", ["csv", "npy", "parquet"])
def test_columns_are_chosen_by_number(tmp_path: Path, kind: str) -> None:
    got_x, got_y = arrays(read(write(tmp_path, kind), Columns("0", ("-1",))))
    np.testing.assert_array_equal(got_x, Y[:, None])
    np.testing.assert_array_equal(got_y, X[:, 0])


@pytest.mark.parametrize("kind", ["csv", "npy", "parquet"])
def test_a_column_that_is_not_there_is_named(tmp_path: Path, kind: str) -> None:
    with pytest.raises(BadData, match="no column 'price'"):
        read(write(tmp_path, kind), Columns("price"))


def test_records_of_ndjson_have_columns(tmp_path: Path) -> None:
    file = tmp_path / "records.jsonl"
    file.write_text('{"a": 1, "price": 2, "b": 3}\n{"a": 4, "price": 5, "b": 6}\n')
    (batch,) = read(file, Columns("price"))
    assert batch.samples == [{"x": [1, 3], "y": 2}, {"x": [4, 6], "y": 5}]


MIXED = "rooms,city,lift,price\n3, Rome ,true,2.5\n,Oslo,,-1\n"
READ = [{"x": {"rooms": 3.0, "city": "Rome", "lift": "true"}, "y": 2.5}]
READ.append({"x": {"city": "Oslo"}, "y": -1.0})


def test_columns_of_a_csv_are_sent_by_name_if_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "mixed.csv"
    file.write_text(MIXED)
    (batch,) = read(file, Columns(named=True))
    assert (batch.samples, batch.place(1)) == (READ, "line 3")
    (batch,) = read(file, Columns("price", ("city",), named=True), skip=1)
    assert batch.samples == [{"x": {"city": "Oslo"}, "y": -1.0}]
    (batch,) = read(file, Columns("price", wanted=False, named=True))
    assert batch.samples[0].tolist() == [2.5, -1.0]
    with pytest.raises(BadData, match=r"line 2: ' Rome ' is not a finite number; --named"):
        read(file)


def test_members_of_records_are_sent_by_name_if_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "records.jsonl"
    record, sample = '{"a": 1, "b": null, "c": "d", "e": true, "y": 2}', '{"x": {"f": 1}, "y": 3}'
    file.write_text(f"{record}\n{sample}\n")
    (batch,) = read(file, Columns(named=True))
    assert batch.samples == [{"x": {"a": 1, "c": "d", "e": True}, "y": 2}, json.loads(sample)]
    file.write_text(f'{record}\n{{"y": 3, "f": 1}}\n')
    (batch,) = read(file, Columns("y", ("c",), named=True))
    assert batch.samples == [{"x": {"c": "d"}, "y": 2}, {"x": {}, "y": 3}]
    file.write_text(record)
    with pytest.raises(BadData, match="line 1: 'c' is not a number; --named"):
        read(file, Columns("y", ("a", "c")))


def test_columns_of_parquet_are_sent_by_name_if_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "mixed.parquet"
    columns = {"rooms": [3, None], "city": ["Rome", "Oslo"], "lift": [True, None], "y": [2.5, -1]}
    parquet.write_table(pyarrow.table(columns), file)
    (batch,) = read(file, Columns(named=True))
    assert batch.samples[1] == {"x": {"city": "Oslo"}, "y": -1.0}
    assert batch.samples[0]["x"] == {"rooms": 3, "city": "Rome", "lift": True}
    with pytest.raises(BadData, match="--named"):
        read(file, Columns("y", ("city",)))
    parquet.write_table(pyarrow.table({"at": [[1], [2]], "y": [1.0, 2.0]}), file)
    with pytest.raises(BadData, match="'at' holds neither numbers nor text"):
        read(file, Columns(named=True))


def test_npy_has_no_names(tmp_path: Path) -> None:
    with pytest.raises(BadData, match="leave --named out"):
        read(write(tmp_path, "npy"), Columns(named=True))


def test_a_file_sent_by_names_is_another_one_and_one_without_keeps_its_name(tmp_path: Path) -> None:
    file = write(tmp_path, "csv")
    assert producer_names(file, "csv", Columns(named=True)) != producer_names(file, "csv", PLAIN)
    as_ever = b"Columns(label=None, features=None, wanted=True)"
    head = b"\n".join(line.rstrip() for line in file.read_bytes().splitlines()[:16])
    assert producer_names(file, "csv", PLAIN)[0].endswith(
        hashlib.sha256(as_ever + head).hexdigest()[:16]
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1,2\n3,4\n", [[1, 2], [3, 4]]),
        ("a;y\n1;2\n3;4\n", [[1, 2], [3, 4]]),
        ("a\ty\r\n1\t2\r\n\r\n3\t4", [[1, 2], [3, 4]]),
        ('"a","y"\n"1", 2 \n3,4\n\n', [[1, 2], [3, 4]]),
        ("\ufeffa,y\n1,2\n3,4\n", [[1, 2], [3, 4]]),
    ],
)
def test_a_csv_is_read_as_people_write_it(tmp_path: Path, text: str, expected: Any) -> None:
    file = tmp_path / "table.csv"
    file.write_bytes(text.encode())
    got_x, got_y = arrays(read(file))
    assert np.column_stack([got_x, got_y]).tolist() == expected


def test_columns_that_are_not_chosen_may_hold_anything(tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    file.write_text('note,a,y\n"hello\nthere, you",1,2\n,3,4\n')
    batches = read(file, Columns("y", ("a",)))
    assert np.column_stack(arrays(batches)).tolist() == [[1, 2], [3, 4]]
    assert batches[0].place(1) == "line 4"


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("a.csv", "a,y\n1,2\n3\n", "line 3: 1 cells, where the first has 2"),
        ("a.csv", "a,y\n1,2\n3,x\n", "line 3: 'x' is not a finite number"),
        ("a.csv", "a,y\n1,2\n\n,4\n", "line 4: '' is not a finite number"),
        ("a.csv", "a,y\n1,nan\n", "line 2: 'nan' is not a finite number"),
        ("a.csv", "a,y\n1,2\n\xff,4\n", "line 3: not UTF-8"),
        ("a.ndjson", '{"y": 1}\n\n{"y": }\n', "line 3: not JSON"),
        ("a.ndjson", "[1, 2]\n", "line 1: an object is needed"),
        ("a.npy", "no array", "not an npy file"),
        ("a.parquet", "no table", "not a parquet file"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(
    tmp_path: Path, name: str, text: str, why: str
) -> None:
    file = tmp_path / name
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(BadData, match=why):
        read(file)


def test_an_array_that_is_no_table_is_refused(tmp_path: Path) -> None:
    for array in (np.zeros((2, 2, 2)), np.array(["a"]), np.zeros(2, complex)):
        np.save(tmp_path / "a.npy", array)
        with pytest.raises(BadData):
            read(tmp_path / "a.npy")


def test_cells_of_parquet_without_a_number_are_refused(tmp_path: Path) -> None:
    for column in ([1.0, None], ["a", "b"]):
        parquet.write_table(pyarrow.table({"y": column}), tmp_path / "a.parquet")
        with pytest.raises(BadData, match="column 'y'"):
            read(tmp_path / "a.parquet")


def test_without_pyarrow_parquet_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write(tmp_path, "parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(BadData, match="pip install"):
        read(file)


def test_what_came_through_a_pipe_is_sent_before_the_rest_comes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Pipe(io.BytesIO):
        def read1(self, size: int | None = -1) -> bytes:
            return self.readline()

    pipe = Pipe(b'{"y": 1}\n{"y": 2}\n{"y": 3}')
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(pipe))
    with open_source(STDIN, format_of(STDIN, None), Columns()) as source:
        batches = source.batches(1, 10)
        assert next(batches).samples == [{"y": 2}]
        assert pipe.tell() == 18
        assert next(batches).samples == [{"y": 3}]


def test_the_format_is_the_names_unless_given() -> None:
    names = {"a.csv": "csv", "b.TSV": "csv", "c.jsonl": "ndjson", "d.npy": "npy", "-": "ndjson"}
    assert {name: format_of(Path(name), None) for name in names} == names
    assert format_of(Path("a.csv"), "ndjson") == "ndjson"
    with pytest.raises(BadData, match="--format"):
        format_of(Path("a.xlsx"), None)


@pytest.mark.parametrize("kind", ["csv", "ndjson"])
@pytest.mark.parametrize("n", [1, 2, 5, 14, 18])
def test_a_file_that_grew_has_the_name_it_had_among_its_names(
    tmp_path: Path, kind: str, n: int
) -> None:
    before = producer_names(write(tmp_path, kind, X[:n], Y[:n]), kind, PLAIN)
    assert before[0] in producer_names(write(tmp_path, kind), kind, PLAIN)


@pytest.mark.parametrize("kind", FORMATS)
def test_another_file_other_columns_and_another_name_share_no_name(
    tmp_path: Path, kind: str
) -> None:
    file = write(tmp_path, kind)
    found = [producer_names(file, kind, PLAIN), producer_names(file, kind, Columns("a"))]
    found.append(producer_names(file.rename(file.with_name("other")), kind, PLAIN))
    shared = 1 if kind == "csv" else 0  # the header is a line too, and alone tells nothing apart
    found.append(producer_names(write(tmp_path, kind, X + 1), kind, PLAIN)[: -shared or None])
    assert len({name for names in found for name in names}) == sum(map(len, found))
    assert producer_names(STDIN, kind, PLAIN) == []


def test_a_first_row_with_an_empty_cell_is_a_sample_without_a_value_not_a_header(
    tmp_path: Path,
) -> None:
    file = tmp_path / "a.csv"
    file.write_text("1,,3\n4,5,6\n")
    with pytest.raises(BadData, match=r"line 1: '' is not a finite number"):
        read(file)
    file.write_text(",a,y\n0,5,6\n")  # as tables with an unnamed index are written
    (batch,) = read(file, Columns("y", ("a",)))
    assert [batch.samples[0].tolist(), batch.samples[1].tolist()] == [[[5.0]], [6.0]]
