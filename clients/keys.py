"""`llr keys`: a new API key, and what the service is told of it."""

import hashlib
import json
import re
import secrets
from enum import StrEnum
from typing import Annotated

import typer

from clients.connection import AsJson


class Role(StrEnum):
    """What a key may do; each role includes those before it."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"


def _owner(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9._-]{1,64}", name):
        raise typer.BadParameter("1 to 64 letters, digits, dots, _ or -")
    return name


def keys(
    name: Annotated[str, typer.Argument(metavar="NAME", callback=_owner, help="Whose key it is.")],
    role: Annotated[Role, typer.Option(help="What it may do.")] = Role.WRITE,
    as_json: AsJson = False,
) -> None:
    """Make an API key. It is shown once; the service is told its SHA-256 only.

    Example: llr keys sensor-7 --role write
    """
    key = "llr_" + secrets.token_urlsafe(32)
    entry = f"{name}:{role}:{hashlib.sha256(key.encode()).hexdigest()}"
    if as_json:
        typer.echo(json.dumps({"name": name, "role": role, "key": key, "entry": entry}, indent=2))
        return
    typer.echo(f"key, for its owner:  {key}")
    typer.echo(f"for LLR_API_KEYS:    {entry}")
