"""`llr backup`: a copy of a running service's store."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import httpx
import typer
from llr_client.address import shown
from llr_client.refusals import refusal

from llr_cli.connection import LOCAL, REFUSED, UNREACHABLE, Key, Url, end

Destination = Annotated[
    Path, typer.Argument(metavar="DEST", help="The file it becomes; it must not be there yet.")
]


def backup(dest: Destination, url: Url = LOCAL, key: Key = None) -> None:
    """Copy the store of a running service, as it is at one moment, into a file of its own.

    The copy is there once it is whole and synced. With keys it takes one that may do everything.

    Example: llr backup llr-monday.db
    """
    if dest.exists():
        end(REFUSED, f"{dest} is there already")
    part = dest.with_name(dest.name + ".part")
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    try:
        with httpx.stream("POST", f"{url}/v1/backup", headers=headers, timeout=None) as answer:  # noqa: S113
            if not answer.is_success:
                answer.read()
                end(REFUSED, str(refusal(answer)))
            _write(answer, part)
        part.rename(dest)
    except httpx.HTTPError as error:
        end(UNREACHABLE, f"{shown(url)}: {error}")
    except OSError as error:
        end(REFUSED, f"{part}: {error.strerror}")
    finally:
        with suppress(OSError):  # what is not whole is no copy
            part.unlink()
    typer.echo(f"{dest}: {dest.stat().st_size} bytes")


def _write(answer: httpx.Response, part: Path) -> None:
    """All of an answer, on disk; it ends with an error if it is cut short."""
    with part.open("wb") as file:
        for some in answer.iter_raw():
            file.write(some)
        file.flush()
        os.fsync(file.fileno())
