"""`llr sessions`: which there are, what they have learnt, and an end to them."""

import json
import sys
from dataclasses import asdict
from typing import Annotated, Any

import typer
from llr_client import Listed, State
from rich import box
from rich.console import Console
from rich.table import Table

from llr_cli.connection import (
    LOCAL,
    USAGE,
    AsJson,
    CopyNamed,
    Key,
    ManyNamed,
    Named,
    Url,
    end,
    service,
)
from llr_cli.largest import told
from llr_cli.relearning import Waiting
from llr_cli.shadows import add_shadow, promote, remove_shadow, shadows

app = typer.Typer(
    help="List sessions, show, fork, compare or delete them.\n\nExample: llr sessions",
    context_settings={"help_option_names": ["-h", "--help"]},
)
COLUMNS = ("session", "model", "algorithm", "dim", "t", "eta", "mean\nloss", "regret\nml")
WORDS = 3
LARGEST = 20
"""How many named features are shown."""


@app.callback(invoke_without_command=True)
def listed(
    context: typer.Context, as_json: AsJson = False, url: Url = LOCAL, key: Key = None
) -> None:
    """List the sessions. Numbers are shown of those the service has in memory.

    Example: llr sessions --json
    """
    if context.invoked_subcommand is not None:
        _check_order(context)
        return
    with service(url, key) as client:
        rows = list(client.sessions())
    if as_json:
        typer.echo(json.dumps([asdict(row) for row in rows], indent=2))
    elif not rows:
        typer.echo("there are no sessions")
    else:
        Console().print(_table(rows), highlight=False)


@app.command()
def show(name: Named, as_json: AsJson = False, url: Url = LOCAL, key: Key = None) -> None:
    """Show all of a session.

    Example: llr sessions show demo
    """
    with service(url, key) as client:
        state = asdict(client.session(name).state())
    if as_json:
        typer.echo(json.dumps(state, indent=2))
        return
    for member, value in state.items():
        named = member == "theta" and isinstance(value, dict)
        typer.echo(f"{member:<10} {told(value, LARGEST) if named else _told(value)}")


@app.command()
def fork(
    name: Named,
    copy: CopyNamed,
    algorithm: Annotated[str | None, typer.Option(help="Another algorithm.")] = None,
    eta0: Annotated[float | None, typer.Option(help="Another first step size.")] = None,
    relearn: Annotated[
        bool, typer.Option("--relearn", help="Learn all its samples anew, from the first one on.")
    ] = False,
    wait: Annotated[bool, typer.Option(help="Wait until all are learnt.")] = True,
    as_json: AsJson = False,
    url: Url = LOCAL,
    key: Key = None,
) -> None:
    """Copy a session. With another algorithm or step size the copy restarts from its theta.

    With --relearn it learns what the session has learnt, in that other way: what if? The session
    has to be one that keeps its samples, as `llr push --retain` creates it.

    Example: llr sessions fork demo rival --algorithm sg/ag --relearn
    """
    waiting = Waiting(copy)
    with service(url, key, hint=waiting.hint) as client:
        made = client.session(name).fork(copy, algorithm=algorithm, eta0=eta0, relearn=relearn)
        twin = waiting.wait(made) if relearn and wait else made.state()
    if as_json:
        typer.echo(json.dumps(asdict(twin), indent=2))
        return
    restarts = algorithm is not None or eta0 is not None
    typer.echo(f"{copy} is a fork of {name}: {_how(twin, restarts)}, t {twin.t:,}")


app.command()(shadows)
app.command()(add_shadow)
app.command()(remove_shadow)
app.command()(promote)


@app.command()
def delete(
    names: ManyNamed,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    url: Url = LOCAL,
    key: Key = None,
) -> None:
    """Delete sessions and all that is kept of them.

    Example: llr sessions delete demo --yes
    """
    if not yes and not sys.stdin.isatty():
        end(USAGE, "nobody can be asked here: say --yes")
    if not yes:
        typer.confirm(f"Delete {', '.join(names)} for good?", abort=True)
    with service(url, key) as client:
        for name in names:
            client.session(name).delete()
            typer.echo(f"{name} is deleted")


def _how(twin: State, restarts: bool) -> str:
    """What a fork is, in words."""
    if twin.relearning is not None:
        mean = f", mean loss {_number(twin.loss.mean)}" if twin.t else ""
        return f"{twin.algorithm} on its {twin.relearning.of:,} samples{mean}"
    return f"{twin.algorithm} from its theta" if restarts else "the same to the last bit"


def _check_order(context: typer.Context) -> None:
    """An option before the name of a subcommand would be forgotten: say so."""
    for name in context.params:
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            end(USAGE, f"write options after {context.invoked_subcommand!r}")


def _table(rows: list[Listed]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for place, header in enumerate(COLUMNS):
        word = place < WORDS
        table.add_column(header, justify="left" if word else "right", no_wrap=word)
    for row in rows:
        mean = row.loss.mean if row.loss else None
        regret = row.regret.ml if row.regret else None
        numbers = [_number(row.eta), _number(mean), _number(regret)]
        dim = "" if row.dim is None else str(row.dim)
        table.add_row(row.name, row.model, row.algorithm, dim, f"{row.t:,}", *numbers)
    return table


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


def _told(value: Any) -> str:
    """A member of a state in a line; a long theta is cut."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {_told(part)}" for name, part in value.items())
    if isinstance(value, list):
        cut = ", …" if len(value) > 8 else ""
        return f"[{', '.join(_told(part) for part in value[:8])}{cut}]"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
