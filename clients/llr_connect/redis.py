"""`llr connect redis`: what can be told to it; `streams.py` does it."""

from typing import Annotated

import typer
from llr_cli.connection import BadData

from llr_connect.options import Options
from llr_connect.source import Source


def from_redis(
    options: Options,
    streams: Annotated[list[str], typer.Argument(metavar="STREAM...", help="Their names.")],
    where: Annotated[
        str, typer.Option("--redis", envvar="LLR_REDIS", help="Where Redis is.")
    ] = "redis://127.0.0.1:6379/0",
    field: Annotated[
        str, typer.Option(help="The field of an entry that holds the sample as JSON.")
    ] = "sample",
    producer: Annotated[
        str | None, typer.Option(help="Number samples under this name. (Default: redis.)")
    ] = None,
) -> Source:
    """Learn from Redis streams, each entry once.

    The same command goes on where it stopped, be it after Ctrl-C, a kill or the end of Redis or of
    the service. Streams may be trimmed behind it; what is trimmed before it was learnt is told.

    Example: llr connect redis readings --session readings --model linear
    """
    try:
        from llr_connect.streams import RedisStreams  # noqa: PLC0415 - not everybody has redis
    except ImportError:
        raise BadData("redis needs redis-py: pip install 'llr[connect]'") from None
    return RedisStreams(where, list(dict.fromkeys(streams)), field, options.chosen, producer)
