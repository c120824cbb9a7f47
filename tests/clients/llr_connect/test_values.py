"""Values of Kafka messages."""

from typing import Any

import pytest
from llr_cli.formats import Columns
from llr_cli.options import BadData
from llr_connect.values import Format, add_headers, csv_record, decoder_of, flat_columns


def decoder(kind: Format, **given: Any) -> object:
    options: Any = {"header": [], "delimiter": ",", "registry": None, "message": ""} | given
    return decoder_of(kind, **options)


def test_csv_without_names_is_counted_and_ends_with_its_label() -> None:
    assert csv_record(b"1,2.5,x\r\n", []) == {"0": 1, "1": 2.5, "2": "x"}
    assert flat_columns(Columns(), Format.CSV, []).label == "-1"
    assert flat_columns(Columns(), Format.CSV, ["y", "a"]).label == "y"
    assert flat_columns(Columns(), Format.JSON, []).label is None


@pytest.mark.parametrize("value", [b"1,2", b"1,2,3,4", b"\xff,1,2", b"1\n2,3,4"])
def test_a_row_that_is_not_one_is_refused(value: bytes) -> None:
    with pytest.raises(BadData):
        csv_record(value, ["a", "b", "y"])


def test_headers_become_features() -> None:
    assert add_headers({"x": {"a": 1}, "y": 2}, ["town"], {"town": "Rome"})["x"] == {
        "a": 1,
        "town": "Rome",
    }
    with pytest.raises(BadData, match="no header 'b'"):
        add_headers({"x": [1]}, ["b"], {})
    with pytest.raises(BadData, match="not a number"):
        add_headers({"x": [1]}, ["b"], {"b": "Rome"})


@pytest.mark.parametrize("kind", [Format.AVRO, Format.PROTOBUF])
def test_schemas_need_a_registry(kind: Format) -> None:
    with pytest.raises(BadData, match="--registry"):
        decoder(kind)
