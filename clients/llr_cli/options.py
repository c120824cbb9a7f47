"""Options that commands share, and a client whose errors end the command."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Annotated, Any

import typer
from llr_client import Client, LLRError, Unreachable
from llr_client.retries import Clock
from llr_client.syntax import KEY, NAME, parse_url

from llr_cli.exits import REFUSED, STOPPED, UNREACHABLE, fail

DEFAULT_URL = "http://127.0.0.1:8080"
SHORT_PATIENCE, LONG_PATIENCE = 3.0, 300.0
"""Seconds of retries in interactive commands, and in commands that send much data."""
COMPLETION = 1.0
"""Seconds that the shell's completion waits for the service."""


class BadData(Exception):
    """Samples that cannot be read; the message says where they are.

    Attributes:
        why: the message without the hint.
        hint: what to do about it; empty if that is unknown.
    """

    def __init__(self, why: str, hint: str = "") -> None:
        super().__init__(f"{why}; {hint}" if hint else why)
        self.why, self.hint = why, hint


def _url(url: str) -> str:
    try:
        return parse_url(url)
    except ValueError as wrong:
        raise typer.BadParameter(str(wrong)) from None


def _name(name: str | None) -> str | None:
    if name is not None:
        _names([name])
    return name


def _names(names: list[str]) -> list[str]:
    if not all(map(NAME.fullmatch, names)):
        raise typer.BadParameter(
            "a session's name has 1 to 128 letters, digits, dots, _ and -, and starts with a letter"
            " or a digit"
        )
    return names


def _key(key: str | None) -> str | None:
    if key is not None and not KEY.fullmatch(key):
        raise typer.BadParameter("a key has visible ASCII characters only, and at least one")
    return key


def complete_session(incomplete: str) -> list[str]:
    """The names of sessions that begin like this, for the shell's completion."""
    with suppress(LLRError, ValueError), Client(timeout=COMPLETION, patience=0.0) as client:
        return [row.name for row in client.sessions() if row.name.startswith(incomplete)]
    return []


Url = Annotated[
    str, typer.Option("--url", envvar="LLR_URL", callback=_url, help="The service's URL.")
]
Key = Annotated[
    str | None,
    typer.Option(
        "--key",
        envvar="LLR_KEY",
        callback=_key,
        show_default=False,
        help="An API key, if needed.",
    ),
]
Patience = Annotated[
    float, typer.Option(min=0, help="Seconds to retry when the service is unreachable.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
SessionName = Annotated[
    str,
    typer.Argument(
        metavar="NAME", callback=_name, autocompletion=complete_session, help="The session."
    ),
]
NewName = Annotated[str, typer.Argument(metavar="NAME", callback=_name, help="Its name.")]
CopyName = Annotated[str, typer.Argument(metavar="COPY", callback=_name, help="The copy's name.")]
ShadowName = Annotated[
    str, typer.Argument(metavar="SHADOW", callback=_name, help="The shadow's name.")
]
SessionNames = Annotated[
    list[str],
    typer.Argument(
        metavar="NAME...", callback=_names, autocompletion=complete_session, help="The sessions."
    ),
]
OptionalSession = Annotated[
    str | None,
    typer.Option(
        "--session",
        metavar="NAME",
        callback=_name,
        autocompletion=complete_session,
        help="The session.",
    ),
]
Dim = Annotated[int | None, typer.Option(min=1, help="Its number of features.")]
Algorithm = Annotated[str | None, typer.Option(help="Its algorithm.")]
Eta0 = Annotated[float | None, typer.Option(help="Its initial step size.")]
Options = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME=VALUE", help="An option of the model or algorithm; repeatable."),
]
Retain = Annotated[
    bool | None, typer.Option("--retain", help="Retain all samples, for forks with --relearn.")
]
Classes = Annotated[str | None, typer.Option(help="The names of the classes, comma-separated.")]


def options_of(given: list[str]) -> dict[str, Any] | None:
    """Parse `NAME=VALUE` pairs; values are parsed as JSON if possible."""
    found: dict[str, Any] = {}
    for pair in given:
        name, equals, value = pair.partition("=")
        if not equals:
            raise typer.BadParameter(f"--option {pair}: write it as NAME=VALUE")
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value
    return found or None


@contextmanager
def open_client(
    url: str,
    key: str | None,
    patience: float | None = None,
    on_retry: Callable[[LLRError, float], None] | None = None,
    hint: Callable[[], str] = str,
    clock: Clock | None = None,
) -> Iterator[Client]:
    """Open a client; its errors end the command with a line on stderr and an exit code.

    Args:
        url: the service's URL.
        key: an API key.
        patience: seconds of retries; SHORT_PATIENCE if omitted.
        on_retry: called before each retry.
        hint: returns text to append to the line.
        clock: time, sleep and random numbers.
    """
    try:
        seconds = SHORT_PATIENCE if patience is None else patience
        with Client(url, key, patience=seconds, on_retry=on_retry, clock=clock) as client:
            yield client
    except Unreachable as error:
        fail(UNREACHABLE, f"{error}{hint()}")
    except (LLRError, BadData) as error:
        fail(REFUSED, f"{error}{hint()}")
    except KeyboardInterrupt:
        fail(STOPPED, f"stopped{hint()}")


def check_reachable(url: str, key: str | None) -> None:
    """Fail soon at a wrong address, before a command retries for long."""
    with open_client(url, key) as client:
        client.version()
