"""The command `llr`: the table of its subcommands."""

import sys
from typing import Annotated

import typer

from llr_cli.exits import quiet

with quiet():  # these imports take a second
    from llr_connect import app as connect

    import llr
    from llr_cli.admin import (
        backup,
        checkpoint,
        doctor,
        keys,
        migrate,
        migrate_store,
        restore,
        serve,
    )
    from llr_cli.catalog import catalog
    from llr_cli.demo import demo
    from llr_cli.installation import mixed
    from llr_cli.predict import label, predict
    from llr_cli.push import push
    from llr_cli.replay.command import figures, replay
    from llr_cli.sessions import app as sessions
    from llr_cli.watch import watch

app = typer.Typer(
    name="llr",
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"llr {llr.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show it and exit.")
    ] = False,
) -> None:
    """Online learners that tune their own step size."""


# the service parses the arguments of `serve` itself, because its help lists its settings
_pass_on = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}
app.command(context_settings=_pass_on)(serve)
app.command()(demo)
app.command()(replay)
app.command()(figures)
app.command()(push)
app.add_typer(connect, name="connect")
app.command()(predict)
app.command()(label)
app.command()(watch)
app.add_typer(sessions, name="sessions")
app.command()(catalog)
app.command()(doctor)
app.command()(backup)
app.command()(restore)
app.command()(migrate)
app.command()(checkpoint)
app.command()(migrate_store)
app.command()(keys)


def main() -> None:
    """Run the command line; `exits.py` lists the exit codes."""
    if warning := mixed():
        sys.stderr.write(f"llr: {warning}\n")
    app(prog_name="llr")
