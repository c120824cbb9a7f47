"""How a command reaches the service, and how it ends when that fails.

Exit codes: 0 done, 1 the service refused or the data is bad, 2 called wrongly, 3 the service cannot
be reached, 130 stopped with Ctrl-C. Whatever is wrong is one line on stderr.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, NoReturn

import typer
from llr_client import Client, LLRError, Unreachable
from llr_client.address import address
from llr_client.handle import NAME
from llr_client.retries import Clock
from llr_client.wire import KEY

from llr_cli.interruption import STOPPED

REFUSED, USAGE, UNREACHABLE = 1, 2, 3
LOCAL = "http://127.0.0.1:8080"
SHORT, LONG = 3.0, 300.0
"""Seconds of trying again: for those who look at their terminal, for those who send much."""


class BadData(Exception):
    """Samples that cannot be read, and where they are."""


def _address(url: str) -> str:
    try:
        return address(url)
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


Url = Annotated[
    str, typer.Option("--url", envvar="LLR_URL", callback=_address, help="Where the service is.")
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
Patience = Annotated[float, typer.Option(min=0, help="Seconds to wait for a service that is away.")]
AsJson = Annotated[bool, typer.Option("--json", help="As JSON, for programs.")]
Named = Annotated[str, typer.Argument(metavar="NAME", callback=_name, help="The session.")]
CopyNamed = Annotated[str, typer.Argument(metavar="COPY", callback=_name, help="The copy's name.")]
ShadowNamed = Annotated[
    str, typer.Argument(metavar="SHADOW", callback=_name, help="The shadow's name.")
]
ManyNamed = Annotated[
    list[str], typer.Argument(metavar="NAME...", callback=_names, help="The sessions.")
]
MaybeNamed = Annotated[
    str | None, typer.Option("--session", metavar="NAME", callback=_name, help="The session.")
]


@contextmanager
def service(
    url: str,
    key: str | None,
    patience: float | None = None,
    on_retry: Callable[[LLRError, float], None] | None = None,
    hint: Callable[[], str] = str,
    clock: Clock | None = None,
) -> Iterator[Client]:
    """A client for a command's block; its errors end the command as they should.

    Args:
        url: where the service is.
        key: an API key.
        patience: seconds of trying again; a few if left out.
        on_retry: told of each further try.
        hint: what else the line that says why is to say.
        clock: time and chance.
    """
    try:
        seconds = SHORT if patience is None else patience
        with Client(url, key, patience=seconds, on_retry=on_retry, clock=clock) as client:
            yield client
    except Unreachable as error:
        end(UNREACHABLE, f"{error}{hint()}")
    except (LLRError, BadData) as error:
        end(REFUSED, f"{error}{hint()}")
    except KeyboardInterrupt:
        end(STOPPED, f"stopped{hint()}")


def reach(url: str, key: str | None) -> None:
    """Tell at once of a wrong address; only a service that was there is waited for."""
    with service(url, key) as client:
        client.version()


def end(code: int, why: str) -> NoReturn:
    """Say why, in one line, and exit."""
    sys.stderr.write(f"llr: {' '.join(why.split())}\n")
    raise typer.Exit(code)
