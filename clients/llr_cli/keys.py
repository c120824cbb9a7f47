"""`llr keys`: a new API key, and what the service is told of it."""

import hashlib
import json
import re
import secrets
from enum import StrEnum
from typing import Annotated

import typer

from llr_cli.connection import AsJson


class Role(StrEnum):
    """What a key may do; each role includes those before it."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"


def _owner(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9._-]{1,64}", name):
        raise typer.BadParameter("1 to 64 letters, digits, dots, _ or -")
    return name


def _prefix(prefix: str) -> str:
    if prefix and not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}[._-]", prefix):
        raise typer.BadParameter("2 to 64 letters, digits, dots, _ or -, the last a dot, _ or -")
    return prefix


def keys(
    name: Annotated[str, typer.Argument(metavar="NAME", callback=_owner, help="Whose key it is.")],
    role: Annotated[Role, typer.Option(help="What it may do.")] = Role.WRITE,
    prefix: Annotated[
        str,
        typer.Option(
            callback=_prefix, help="For a tenant: it reaches sessions whose names begin so."
        ),
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Make an API key. It is shown once; the service is told its SHA-256 only.

    Example: llr keys sensor-7 --role write

    Example: llr keys acme --role admin --prefix acme-
    """
    key = "llr_" + secrets.token_urlsafe(32)
    digest = hashlib.sha256(key.encode()).hexdigest()
    entry = ":".join(filter(None, (name, role, prefix, digest)))
    if as_json:
        told = {"name": name, "role": role, "prefix": prefix, "key": key, "entry": entry}
        typer.echo(json.dumps(told, indent=2))
        return
    typer.echo(f"key, for its owner:  {key}")
    typer.echo(f"for LLR_API_KEYS:    {entry}")
