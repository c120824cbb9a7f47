"""`llr serve`: start the service in place of this process."""

import os
import sys

import typer


def serve(context: typer.Context) -> None:
    """Start the service; `llr serve --help` lists its settings."""
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-m", "llr_service", *context.args])  # noqa: S606
