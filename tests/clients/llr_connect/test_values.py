"""Values of Kafka messages."""

import sys
import warnings
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from llr_cli.formats import Columns
from llr_cli.options import BadData
from llr_connect.values import (
    Decoder,
    Format,
    RegistryAway,
    add_headers,
    csv_record,
    decoder_of,
    flat_columns,
)


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


SCHEMA = """{"type": "record", "name": "reading", "fields": [
    {"name": "load", "type": "double"}, {"name": "y", "type": "double"}]}"""


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A schema registry in this process, which every client sees."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what the client imports
        from confluent_kafka.schema_registry import SchemaRegistryClient

        client = SchemaRegistryClient.new_client({"url": "mock://registry"})
    monkeypatch.setattr(SchemaRegistryClient, "new_client", lambda _: client)
    return client


def encoded(serializer: Any, value: Any) -> bytes:
    from confluent_kafka.serialization import MessageField, SerializationContext

    found: bytes = serializer(value, SerializationContext("readings", MessageField.VALUE))
    return found


def avro(registry: Any) -> tuple[Decoder, bytes]:
    from confluent_kafka.schema_registry.avro import AvroSerializer

    value = encoded(AvroSerializer(registry, SCHEMA), {"load": 1.5, "y": 2.0})
    return decoder_of(Format.AVRO, header=[], delimiter=",", registry="mock://", message=""), value


def test_avro_is_read_through_its_registry(registry: Any) -> None:
    decode, value = avro(registry)
    assert decode("readings", value) == {"load": 1.5, "y": 2.0}


@pytest.mark.parametrize("cut", [0, 3, 8])
def test_a_value_that_is_not_of_its_schema_is_bad_data(registry: Any, cut: int) -> None:
    decode, value = avro(registry)
    with pytest.raises(BadData, match="not of its schema"):
        decode("readings", value[:cut])
    with pytest.raises(BadData, match="not of its schema"):
        decode("readings", b"\0\0\0\0\x63" + value[5:])  # no such schema


def test_a_value_that_is_no_record_is_bad_data(registry: Any) -> None:
    from confluent_kafka.schema_registry.avro import AvroSerializer

    decode, _ = avro(registry)
    with pytest.raises(BadData, match="not of its schema"):
        decode("readings", encoded(AvroSerializer(registry, '"double"'), 1.0))


def test_a_registry_that_is_away_is_no_bad_data(
    registry: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    decode, value = avro(registry)

    def away(*_: Any, **__: Any) -> None:
        raise httpx.ConnectError("refused")

    monkeypatch.setattr(registry, "get_schema", away)
    with pytest.raises(RegistryAway):
        decode("readings", value)


def test_protobuf_is_read_by_its_generated_class(
    registry: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from confluent_kafka.schema_registry.protobuf import ProtobufSerializer
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    file = descriptor_pb2.FileDescriptorProto(name="reading.proto", syntax="proto3")
    kind = file.message_type.add(name="Reading")
    for number, name in enumerate(("load", "y"), 1):
        kind.field.add(name=name, number=number, type="TYPE_DOUBLE", label="LABEL_OPTIONAL")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    reading: Any = message_factory.GetMessageClass(pool.FindMessageTypeByName("Reading"))
    monkeypatch.setitem(sys.modules, "reading_pb2", SimpleNamespace(Reading=reading))
    serializer = ProtobufSerializer(reading, registry, {"use.deprecated.format": False})
    value = encoded(serializer, reading(load=2.5))
    options: Any = {"header": [], "delimiter": ",", "registry": "mock://"}
    decode = decoder_of(Format.PROTOBUF, message="reading_pb2:Reading", **options)
    assert decode("readings", value) == {"load": 2.5, "y": 0.0}
    with pytest.raises(BadData, match="not of its schema"):
        decode("readings", value[:2])
