"""`llr doctor`: whether all of a store's file can be read."""

import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

from clients.connection import AsJson, end
from clients.interruption import STOPPED


def doctor(
    path: Annotated[
        Path | None,
        typer.Argument(metavar="PATH", help="The file. (Default: that of `llr serve`.)"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check a store's file while no service has it open.

    Exits 0 if all is well, 1 if something is damaged, 2 if there is nothing to check.

    Example: llr doctor llr.db
    """
    command = [sys.executable, "-m", "service.doctor"]
    command += [str(path)] if path is not None else []
    command += ["--json"] if as_json else []
    try:  # the child is no part of this terminal's group: Ctrl-C comes to us alone, and ends it
        done = subprocess.run(command, check=False, start_new_session=True)  # noqa: S603
    except KeyboardInterrupt:
        end(STOPPED, "stopped")
    raise typer.Exit(done.returncode)
