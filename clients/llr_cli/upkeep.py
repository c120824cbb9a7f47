"""Commands that look after a store: each is a program of the service, run to its end."""

import subprocess
import sys
from typing import Annotated

import typer

from llr_cli.connection import AsJson, end
from llr_cli.interruption import STOPPED

Store = Annotated[
    str | None,
    typer.Argument(metavar="STORE", help="Its URL. (Default: that of `llr serve`.)"),
]


def doctor(store: Store = None, as_json: AsJson = False) -> None:
    """Check whether all of a store can be read; of a file while no service has it open.

    Exits 0 if all is well, 1 if something is damaged, 2 if there is nothing to check.

    Example: llr doctor llr.db
    """
    _run("doctor", *([store] if store else []), *(["--json"] if as_json else []))


def migrate(store: Store = None) -> None:
    """Make a store's tables this version's; what is stored stays as it is.

    Example: llr migrate postgresql://llr@db/llr
    """
    _run("migrate", *([store] if store else []))


def migrate_store(
    stores: Annotated[
        list[str],
        typer.Argument(metavar="SOURCE... DESTINATION", help="Where the sessions are, and go."),
    ],
) -> None:
    """Copy all sessions into another store, with everything they have.

    No service may use the stores meanwhile. A source is not changed. Run the command again if it
    was stopped. Several sources become one store.

    Example: llr migrate-store sqlite:///llr.db postgresql://llr@db/llr
    """
    _run("migrate_store", *stores)


def restore(
    copy: Annotated[str, typer.Argument(metavar="COPY", help="A backup, an SQLite file.")],
    store: Annotated[
        str | None, typer.Option(help="Its URL. (Default: that of `llr serve`.)")
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Set aside the files of the store that is there.")
    ] = False,
) -> None:
    """Check a backup and put it in the place of a store. Stop the service first.

    Example: llr restore llr-monday.db --store sqlite:///llr.db --replace
    """
    options = (["--store", store] if store else []) + (["--replace"] if replace else [])
    _run("restore", copy, *options)


def _run(module: str, *arguments: str) -> None:
    command = [sys.executable, "-m", f"llr_service.{module}", *arguments]
    try:  # the child is no part of this terminal's group: Ctrl-C comes to us alone, and ends it
        done = subprocess.run(command, check=False, start_new_session=True)  # noqa: S603
    except KeyboardInterrupt:
        end(STOPPED, "stopped")
    raise typer.Exit(done.returncode)
