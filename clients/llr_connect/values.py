"""Values of Kafka messages: JSON, CSV, and Avro or Protobuf through a schema registry."""

import csv
import importlib
import json
from collections.abc import Callable, Sequence
from enum import StrEnum
from http import HTTPStatus
from typing import Any

import httpx
from llr_cli.formats import Columns
from llr_cli.options import BadData

from llr_connect.messages import record_of

Decoder = Callable[[str, bytes], dict[str, Any]]
"""Decodes the value of a message of a topic to a record."""


class RegistryAway(Exception):
    """The schema registry does not answer."""


class Format(StrEnum):
    """The format of a value."""

    JSON = "json"
    CSV = "csv"
    AVRO = "avro"
    PROTOBUF = "protobuf"


def decoder_of(
    kind: Format, *, header: Sequence[str], delimiter: str, registry: str | None, message: str
) -> Decoder:
    """The decoder of a format.

    Args:
        kind: the format.
        header: the names of the cells of a CSV row; their indexes if empty.
        delimiter: the delimiter of CSV.
        registry: the URL of the schema registry, for Avro and Protobuf.
        message: the generated class of a Protobuf message, as `module:Class`.
    """
    if kind is Format.JSON:
        return lambda _, value: record_of(value)
    if kind is Format.CSV:
        return lambda _, value: csv_record(value, header, delimiter)
    if registry is None:
        raise BadData(f"{kind} needs --registry, the URL of the schema registry")
    return _avro(registry) if kind is Format.AVRO else _protobuf(registry, message)


def csv_record(value: bytes, header: Sequence[str], delimiter: str = ",") -> dict[str, Any]:
    """Parse one CSV row; cells that are not numbers are text.

    >>> csv_record(b"3,Rome,2.5", ["rooms", "town", "y"])
    {'rooms': 3, 'town': 'Rome', 'y': 2.5}
    """
    try:
        (cells,) = csv.reader([value.decode().strip("\r\n")], delimiter=delimiter)
    except (ValueError, csv.Error) as error:
        raise BadData(f"not one row of CSV: {error}") from None
    names = header or [str(place) for place in range(len(cells))]
    if len(cells) != len(names):
        raise BadData(f"{len(cells)} cells, where --header names {len(names)}")
    return dict(zip(names, map(cell_value, cells), strict=True))


def cell_value(text: str) -> Any:
    """A number if the text is one in JSON's notation, else the text without blanks around it."""
    text = text.strip()
    try:
        found = json.loads(text)
    except ValueError:
        return text
    return found if type(found) in (int, float) else text


def flat_columns(columns: Columns, kind: Format, names: Sequence[str]) -> Columns:
    """The roles of a record's members; without --label-column a CSV row ends with its label."""
    if kind is not Format.CSV or columns.label is not None:
        return columns
    return columns._replace(label="y" if "y" in names else "-1")


def add_headers(
    sample: dict[str, Any], names: Sequence[str], headers: dict[str, Any]
) -> dict[str, Any]:
    """The sample with headers as further features, at the end of a list or by name.

    >>> add_headers({"x": [1.0], "y": 2.0}, ["load"], {"load": 3})
    {'x': [1.0, 3], 'y': 2.0}
    """
    if missing := [name for name in names if name not in headers]:
        raise BadData(f"it has no header {missing[0]!r}")
    x = sample.get("x", [])
    if isinstance(x, dict):
        return sample | {"x": x | {name: headers[name] for name in names}}
    if not isinstance(x, list):
        raise BadData("x is neither a list nor an object, so headers cannot be added")
    for name in names:
        if isinstance(headers[name], str):
            raise BadData(f"the header {name!r} is not a number, which a list of features needs")
    return sample | {"x": [*x, *(headers[name] for name in names)]}


def _registry_part(module: str) -> Any:
    try:
        return importlib.import_module(f"confluent_kafka.{module}")
    except ImportError as error:
        raise BadData(
            f"the schema registry's client is not complete ({error}):"
            " pip install 'confluent-kafka[avro,protobuf]'"
        ) from None


def _avro(registry: str) -> Decoder:
    avro = _registry_part("schema_registry.avro")
    client = _registry_part("schema_registry").SchemaRegistryClient.new_client({"url": registry})
    return _through(avro.AvroDeserializer(client), dict)


def _protobuf(registry: str, message: str) -> Decoder:
    protobuf = _registry_part("schema_registry.protobuf")
    client = _registry_part("schema_registry").SchemaRegistryClient.new_client({"url": registry})
    module, _, name = message.partition(":")
    try:
        generated = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError):
        raise BadData(
            "protobuf needs --message, the generated class as module:Class, found on PYTHONPATH"
        ) from None
    to_dict = importlib.import_module("google.protobuf.json_format").MessageToDict

    def record(found: Any) -> dict[str, Any]:
        return dict(
            to_dict(
                found, preserving_proto_field_name=True, always_print_fields_with_no_presence=True
            )
        )

    given = {"use.deprecated.format": False}
    return _through(protobuf.ProtobufDeserializer(generated, given, client), record)


def _through(deserializer: Any, record: Callable[[Any], dict[str, Any]]) -> Decoder:
    """A decoder that finds a value's schema in the registry."""
    serialization = _registry_part("serialization")

    def decode(topic: str, value: bytes) -> dict[str, Any]:
        context = serialization.SerializationContext(topic, serialization.MessageField.VALUE)
        try:
            return record(deserializer(value, context))
        except httpx.TransportError as error:
            raise RegistryAway(str(error)) from None
        except Exception as error:  # whatever a decoder raises for bytes that are not of its schema
            status = getattr(error, "http_status_code", 0)
            if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
                raise RegistryAway(f"the schema registry answers {status}") from None
            raise BadData(f"not of its schema: {error!r:.200}") from None

    return decode
