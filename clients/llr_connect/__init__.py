"""`llr connect`: feeds sessions from Kafka, MQTT, Redis streams and stdin.

A message goes from its source (`source.py`) through the pump (`pump.py`) and its producer's channel
(`channels.py`) to the service, and is acknowledged to the source once it is on disk. To add a
source, write a module with a function that builds it from its options, and add a line to SOURCES.
"""

import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields
from typing import Any

import typer

from llr_connect.kafka import from_kafka
from llr_connect.mqtt import from_mqtt
from llr_connect.options import Options
from llr_connect.redis import from_redis
from llr_connect.runner import run
from llr_connect.source import Source
from llr_connect.stdin import from_stdin


def command(source: Callable[..., Source]) -> Callable[..., None]:
    """Build the command line of a source: its own options, then those that all connectors share."""
    own = inspect.signature(source).parameters
    shared = [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
            annotation=field.type,
        )
        for field in fields(Options)
    ]

    def connect(**given: Any) -> None:
        options = Options(**{field.name: given.pop(field.name) for field in fields(Options)})
        run(lambda: source(options, **given), options)

    connect.__doc__ = source.__doc__
    mine = [p.replace(kind=p.KEYWORD_ONLY) for name, p in own.items() if name != "options"]
    connect.__signature__ = inspect.Signature([*mine, *shared])  # type: ignore[attr-defined]
    connect.__annotations__ = {p.name: p.annotation for p in (*mine, *shared)}
    return connect


app = typer.Typer(
    help="Learn from a stream, each message once: Kafka, MQTT, Redis streams, stdin.\n\n"
    "Example: llr connect mqtt 'plant/+/load' --session load --model linear --seq n",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)

SOURCES: dict[str, Callable[..., Source]] = {
    "kafka": from_kafka,
    "mqtt": from_mqtt,
    "redis": from_redis,
    "stdin": from_stdin,
}
for _name, _source in SOURCES.items():
    app.command(_name)(command(_source))
