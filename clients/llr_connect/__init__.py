"""`llr connect`: streams of others into sessions, one module a source.

A message goes source → `feed.py` → `lane.py` → the service, and back to the source once it is on
disk. To add a source, write a module with a function that makes it of its options, and give it a
line at the end.
"""

from collections.abc import Callable

import typer

from llr_connect.command import command
from llr_connect.mqtt import from_mqtt
from llr_connect.redis import from_redis
from llr_connect.source import Source
from llr_connect.stdin import from_stdin

app = typer.Typer(
    help="Learn from a stream, each message once: MQTT, Redis streams, stdin.\n\n"
    "Example: llr connect mqtt 'plant/+/load' --session load --model linear --seq n",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)

SOURCES: dict[str, Callable[..., Source]] = {
    "mqtt": from_mqtt,
    "redis": from_redis,
    "stdin": from_stdin,
}
for _name, _source in SOURCES.items():
    app.command(_name)(command(_source))
