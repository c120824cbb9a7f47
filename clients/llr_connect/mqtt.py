"""`llr connect mqtt`: what can be told to it; `topics.py` does it."""

import hashlib
from pathlib import Path
from typing import Annotated

import typer
from llr_cli.connection import BadData

from llr_connect.journal import Journal, data_folder
from llr_connect.message import session_name
from llr_connect.options import Options
from llr_connect.source import Source


def from_mqtt(
    options: Options,
    topics: Annotated[
        list[str], typer.Argument(metavar="TOPIC...", help="May have + and # as usual.")
    ],
    broker: Annotated[
        str, typer.Option(envvar="LLR_MQTT", help="Where the broker is; mqtts:// with TLS.")
    ] = "mqtt://127.0.0.1:1883",
    seq: Annotated[
        str | None,
        typer.Option(help="The member or user property of a message that is its number."),
    ] = None,
    sender: Annotated[
        str | None,
        typer.Option(help="The one that names who numbers them. (Default: one sender a topic.)"),
    ] = None,
    client_id: Annotated[
        str | None,
        typer.Option(help="Under which name the broker knows us. (Default: made of all this.)"),
    ] = None,
    journal: Annotated[
        Path | None, typer.Option(help="Where what is left out is kept. (Default: see the docs.)")
    ] = None,
) -> Source:
    """Learn from messages of MQTT topics, each once if they have numbers.

    The same command goes on where it stopped, be it after Ctrl-C, a kill or the end of the broker
    or of the service: a message is acknowledged when it is learnt, not before.

    Example: llr connect mqtt 'plant/+/load' --session load-{topic} --model linear --seq n
    """
    try:
        from llr_connect.topics import Topics  # noqa: PLC0415 - not everybody has aiomqtt
    except ImportError:
        raise BadData("mqtt needs aiomqtt: pip install 'llr[connect]'") from None
    known_as = client_id or _client_id(options.session, topics)
    kept = Journal(journal or data_folder() / session_name("mqtt-{topic}.ndjson", known_as))
    return Topics(
        broker, topics, known_as, seq, sender, options.chosen, batch=options.batch, journal=kept
    )


def _client_id(session: str, topics: list[str]) -> str:
    """The same for the same command."""
    told = hashlib.sha256("\n".join([session, *sorted(topics)]).encode()).hexdigest()[:12]
    return f"llr-{session_name(session, 'topic')[:64]}-{told}"
