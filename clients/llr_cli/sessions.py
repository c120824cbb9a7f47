"""`llr sessions`: lists, shows, creates, forks and deletes sessions; manages their shadows."""

import json
import sys
from dataclasses import asdict
from typing import Annotated, Any

import typer
from llr_client import Listed, State
from llr_client.answers import Shadow

from llr_cli.exits import USAGE, fail
from llr_cli.formatting import ago, format_theta
from llr_cli.options import (
    DEFAULT_URL,
    Algorithm,
    AsJson,
    Classes,
    CopyName,
    Dim,
    Eta0,
    Key,
    NewName,
    Options,
    Retain,
    SessionName,
    SessionNames,
    ShadowName,
    Url,
    open_client,
    options_of,
)
from llr_cli.progress import RelearnProgress
from llr_cli.tables import Column, print_record, print_table

app = typer.Typer(
    help="List sessions, create, show, fork, compare or delete them.\n\nExample: llr sessions",
    context_settings={"help_option_names": ["-h", "--help"]},
)
COLUMNS = (
    Column("session"),
    Column("model"),
    Column("algorithm"),
    Column("dim"),
    Column("t"),
    Column("eta"),
    Column("recent\nloss"),
    Column("recent RMSE\nor accuracy"),
    Column("activity"),
    Column("last\nsample", ago),
)
SHADOW_COLUMNS = tuple(
    map(Column, ("name", "algorithm", "t", "eta", "mean loss", "regret ml", "lead", "status"))
)
LARGEST = 20
"""The most named features that `show` prints."""


@app.callback(invoke_without_command=True)
def listed(
    context: typer.Context, as_json: AsJson = False, url: Url = DEFAULT_URL, key: Key = None
) -> None:
    """List the sessions. Numbers are shown for sessions in the service's memory.

    In a pipe a session is a line of tab-separated values, without a header.

    Example: llr sessions | cut -f 1
    """
    if context.invoked_subcommand is not None:
        _check_order(context)
        return
    with open_client(url, key) as client:
        rows = list(client.sessions())
    if as_json:
        typer.echo(json.dumps([asdict(row) for row in rows], indent=2))
    elif not rows:
        typer.echo("there are no sessions")
    else:
        print_table(COLUMNS, map(_row, rows))


@app.command()
def show(
    name: SessionName, as_json: AsJson = False, url: Url = DEFAULT_URL, key: Key = None
) -> None:
    """Show the state of a session.

    Example: llr sessions show demo
    """
    with open_client(url, key) as client:
        state = asdict(client.session(name).state())
    if as_json:
        typer.echo(json.dumps(state, indent=2))
        return
    print_record(state, _member)


@app.command()
def create(
    name: NewName,
    model: Annotated[str, typer.Option(help="Its model; `llr catalog` lists them.")],
    dim: Dim = None,
    named: Annotated[bool | None, typer.Option("--named", help="Its features have names.")] = None,
    algorithm: Algorithm = None,
    eta0: Eta0 = None,
    option: Options = None,
    classes: Classes = None,
    retain: Retain = None,
    as_json: AsJson = False,
    url: Url = DEFAULT_URL,
    key: Key = None,
) -> None:
    """Create a session, unless it exists with the same config.

    Example: llr sessions create prices --model linear --named
    """
    with open_client(url, key) as client:
        state = client.session(
            name,
            model,
            dim=dim,
            named=named,
            algorithm=algorithm,
            eta0=eta0,
            options=options_of(option or []),
            classes=classes.split(",") if classes else None,
            retain=retain,
        ).state()
    if as_json:
        typer.echo(json.dumps(asdict(state), indent=2))
        return
    typer.echo(f"{name}: {state.model}, {state.algorithm}, t {state.t:,}")


@app.command()
def fork(
    name: SessionName,
    copy: CopyName,
    algorithm: Annotated[str | None, typer.Option(help="Another algorithm.")] = None,
    eta0: Annotated[float | None, typer.Option(help="Another first step size.")] = None,
    relearn: Annotated[
        bool, typer.Option("--relearn", help="Learn all its samples again, from the first.")
    ] = False,
    wait: Annotated[bool, typer.Option(help="Wait until all samples are learnt.")] = True,
    as_json: AsJson = False,
    url: Url = DEFAULT_URL,
    key: Key = None,
) -> None:
    """Copy a session. With another algorithm or step size the copy restarts from its theta.

    With --relearn the copy learns the session's samples again with that algorithm. The session
    must retain its samples, as `llr push --retain` creates it.

    Example: llr sessions fork demo rival --algorithm sg/ag --relearn
    """
    waiting = RelearnProgress(copy)
    with open_client(url, key, hint=waiting.hint) as client:
        made = client.session(name).fork(copy, algorithm=algorithm, eta0=eta0, relearn=relearn)
        twin = waiting.wait(made) if relearn and wait else made.state()
    if as_json:
        typer.echo(json.dumps(asdict(twin), indent=2))
        return
    restarts = algorithm is not None or eta0 is not None
    typer.echo(f"{copy} is a fork of {name}: {_describe_fork(twin, restarts)}, t {twin.t:,}")


@app.command()
def shadows(
    name: SessionName, as_json: AsJson = False, url: Url = DEFAULT_URL, key: Key = None
) -> None:
    """List the champion and the shadows of a session. A lead above 0 beats the champion.

    Example: llr sessions shadows demo
    """
    with open_client(url, key) as client:
        state = client.session(name).state()
    if as_json:
        typer.echo(json.dumps(asdict(state)["shadows"], indent=2))
        return
    rows = [_shadow_row(state.champion or "champion", state, None)]
    rows += [_shadow_row(name, one, one.lead) for name, one in state.shadows.items()]
    print_table(SHADOW_COLUMNS, rows)


@app.command()
def add_shadow(
    name: SessionName,
    shadow: ShadowName,
    algorithm: Annotated[str, typer.Option(help="Its algorithm.")],
    eta0: Annotated[float | None, typer.Option(help="Its initial step size.")] = None,
    url: Url = DEFAULT_URL,
    key: Key = None,
) -> None:
    """Add a shadow: another algorithm that learns the session's samples from now on.

    Example: llr sessions add-shadow demo rival --algorithm sg/ag
    """
    with open_client(url, key) as client:
        state = client.session(name).add_shadow(shadow, algorithm, eta0=eta0)
    typer.echo(f"{shadow} learns {algorithm} beside {name} from t {state.t:,} on")


@app.command()
def remove_shadow(
    name: SessionName, shadow: ShadowName, url: Url = DEFAULT_URL, key: Key = None
) -> None:
    """Delete a shadow of a session and its state.

    Example: llr sessions remove-shadow demo rival
    """
    with open_client(url, key) as client:
        client.session(name).remove_shadow(shadow)
    typer.echo(f"{shadow} is no longer beside {name}")


@app.command()
def promote(name: SessionName, shadow: ShadowName, url: Url = DEFAULT_URL, key: Key = None) -> None:
    """Make a shadow the champion of a session; the champion becomes a shadow.

    Example: llr sessions promote demo rival
    """
    with open_client(url, key) as client:
        state = client.session(name).promote(shadow)
    line = f"{shadow} ({state.algorithm}) is the champion of {name} at t {state.t:,}"
    typer.echo(f"{line}; the previous one is the shadow {state.former}")


@app.command()
def delete(
    names: SessionNames,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    url: Url = DEFAULT_URL,
    key: Key = None,
) -> None:
    """Delete sessions and all their data.

    Example: llr sessions delete demo --yes
    """
    if not yes and not sys.stdin.isatty():
        fail(USAGE, "stdin is no terminal, so there is no confirmation: give --yes")
    if not yes:
        typer.confirm(f"Delete {', '.join(names)} for good?", abort=True)
    with open_client(url, key) as client:
        for name in names:
            client.session(name).delete()
            typer.echo(f"{name} is deleted")


def _describe_fork(twin: State, restarts: bool) -> str:
    """Describe a fork in words."""
    if twin.relearning is not None:
        mean = f", mean loss {_number(twin.loss.mean)}" if twin.t else ""
        return f"{twin.algorithm} on its {twin.relearning.of:,} samples{mean}"
    return f"{twin.algorithm} from its theta" if restarts else "the same to the last bit"


def _check_order(context: typer.Context) -> None:
    """Refuse options before the name of a subcommand, which would be ignored."""
    for name in context.params:
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            fail(USAGE, f"write options after {context.invoked_subcommand!r}")


def _row(row: Listed) -> tuple[Any, ...]:
    recent = row.loss.recent if row.loss else None
    fixed = (row.name, row.model, row.algorithm, row.dim, row.t, row.eta, recent)
    return (*fixed, _quality(row), row.activity, row.last_sample_at)


def _quality(row: Listed) -> float | None:
    """The recent RMSE, or of classes the recent accuracy."""
    found = row.metrics and (row.metrics.rmse or row.metrics.accuracy)
    return found.recent if found else None


def _member(name: str, value: Any) -> str:
    """A member of a state for a terminal."""
    named = name == "theta" and isinstance(value, dict)
    return format_theta(value, LARGEST) if named else _format(value)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


def _format(value: Any) -> str:
    """Format a member of a state in one line; a long theta is cut."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {_format(part)}" for name, part in value.items())
    if isinstance(value, list):
        cut = ", …" if len(value) > 8 else ""
        return f"[{', '.join(_format(part) for part in value[:8])}{cut}]"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _shadow_row(name: str, one: State | Shadow, lead: float | None) -> tuple[Any, ...]:
    numbers = (one.t, one.eta, one.loss.mean, one.regret.ml, lead)
    return (name, one.algorithm, *numbers, one.status)
