"""A command line for each source: its own options, and those all connectors share."""

import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields
from typing import Any

from llr_connect.options import Options
from llr_connect.running import run
from llr_connect.source import Source


def command(source: Callable[..., Source]) -> Callable[..., None]:
    """A command line for a function that makes a source of its own options and the shared ones."""
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
