"""Operators' commands: `serve`, `doctor`, `migrate`, `checkpoint`, `restore`, `backup` and `keys`.

The commands on a store run a program of the service in a child process.
"""

import hashlib
import json
import os
import re
import secrets
import subprocess
import sys
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import httpx
import typer
from llr_client.errors import error_from_response
from llr_client.syntax import redact_url

from llr_cli.exits import REFUSED, STOPPED, UNREACHABLE, fail
from llr_cli.options import DEFAULT_URL, AsJson, Key, Url
from llr_cli.service_program import service_command

Store = Annotated[
    str | None,
    typer.Argument(metavar="STORE", help="Its URL. (Default: that of `llr serve`.)"),
]


def doctor(store: Store = None, as_json: AsJson = False) -> None:
    """Check that all of a store can be read. Stop the service first if it is a file.

    Exits 0 if the store is sound, 1 if something is damaged, 2 if there is nothing to check.

    Example: llr doctor llr.db
    """
    _run("doctor", *([store] if store else []), *(["--json"] if as_json else []))


def migrate(store: Store = None) -> None:
    """Upgrade the store's schema to this version. Data is unchanged.

    Example: llr migrate postgresql://llr@db/llr
    """
    _run("migrate", *([store] if store else []))


def checkpoint(
    store: Annotated[
        str | None, typer.Option(help="Its URL. (Default: that of `llr serve`.)")
    ] = None,
) -> None:
    """Fold the logs of all sessions into snapshots. Run it before you upgrade.

    A newer version may refuse to replay a log. States do not change. Stop the service first if the
    store is a file.

    Example: llr checkpoint --store sqlite:///llr.db
    """
    _run("checkpoint", *(["--store", store] if store else []))


def migrate_store(
    stores: Annotated[
        list[str],
        typer.Argument(metavar="SOURCE... DESTINATION", help="URLs of the stores."),
    ],
) -> None:
    """Copy all sessions with all their data into another store.

    Stop the services that use the stores first. Sources are not changed. Run the command again if
    it was interrupted. Several sources become one store.

    Example: llr migrate-store sqlite:///llr.db postgresql://llr@db/llr
    """
    _run("migrate-store", *stores)


def restore(
    copy: Annotated[str, typer.Argument(metavar="COPY", help="A backup, an SQLite file.")],
    store: Annotated[
        str | None, typer.Option(help="Its URL. (Default: that of `llr serve`.)")
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Move the files of an existing store aside.")
    ] = False,
) -> None:
    """Check a backup and restore a store from it. Stop the service first.

    Example: llr restore llr-monday.db --store sqlite:///llr.db --replace
    """
    options = (["--store", store] if store else []) + (["--replace"] if replace else [])
    _run("restore", copy, *options)


def _run(tool: str, *arguments: str) -> None:
    command = service_command(tool, *arguments)
    try:  # in a process group of its own: Ctrl-C interrupts us, and ends the child
        done = subprocess.run(command, check=False, start_new_session=True)  # noqa: S603
    except KeyboardInterrupt:
        fail(STOPPED, "stopped")
    raise typer.Exit(done.returncode)


Destination = Annotated[
    Path, typer.Argument(metavar="DEST", help="The new file; it must not exist yet.")
]


def backup(dest: Destination, url: Url = DEFAULT_URL, key: Key = None) -> None:
    """Back up the store of a running service to a file.

    The copy is consistent. The file appears once it is complete and synced. Needs an admin key if
    the service has keys.

    Example: llr backup llr-monday.db
    """
    if dest.exists():
        fail(REFUSED, f"{dest} exists already")
    part = dest.with_name(dest.name + ".part")
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    try:
        with httpx.stream("POST", f"{url}/v1/backup", headers=headers, timeout=None) as answer:  # noqa: S113
            if not answer.is_success:
                answer.read()
                fail(REFUSED, str(error_from_response(answer)))
            _write(answer, part)
        part.rename(dest)
    except httpx.HTTPError as error:
        fail(UNREACHABLE, f"{redact_url(url)}: {error}")
    except OSError as error:
        fail(REFUSED, f"{part}: {error.strerror}")
    finally:
        with suppress(OSError):  # an incomplete copy is removed
            part.unlink()
    typer.echo(f"{dest}: {dest.stat().st_size} bytes")


def _write(answer: httpx.Response, part: Path) -> None:
    """Write and sync the response's body; httpx raises if it is cut short."""
    with part.open("wb") as file:
        for some in answer.iter_raw():
            file.write(some)
        file.flush()
        os.fsync(file.fileno())


class Role(StrEnum):
    """A key's role; each includes those before it."""

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
    name: Annotated[str, typer.Argument(metavar="NAME", callback=_owner, help="The key's owner.")],
    role: Annotated[Role, typer.Option(help="What the key allows.")] = Role.WRITE,
    prefix: Annotated[
        str,
        typer.Option(
            callback=_prefix, help="For a tenant: limits the key to names with this prefix."
        ),
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Create an API key. It is shown once; the service stores only its SHA-256.

    Example: llr keys sensor-7 --role write

    Example: llr keys acme --role admin --prefix acme-
    """
    key = "llr_" + secrets.token_urlsafe(32)
    digest = hashlib.sha256(key.encode()).hexdigest()
    entry = ":".join(filter(None, (name, role, prefix, digest)))
    if as_json:
        shown = {"name": name, "role": role, "prefix": prefix, "key": key, "entry": entry}
        typer.echo(json.dumps(shown, indent=2))
        return
    typer.echo(f"key, for its owner:  {key}")
    typer.echo(f"for LLR_API_KEYS:    {entry}")


def serve(context: typer.Context) -> None:
    """Start the service; `llr serve --help` lists its settings."""
    sys.stdout.flush()
    command = service_command(*context.args)
    os.execv(command[0], command)  # noqa: S606
