"""`llr sessions shadows` and its like: other algorithms beside a session's, and which leads."""

import json
from dataclasses import asdict
from typing import Annotated

import typer
from llr_client import State
from llr_client.answers import Shadow
from rich import box
from rich.console import Console
from rich.table import Table

from llr_cli.connection import LOCAL, AsJson, Key, Named, ShadowNamed, Url, service

COLUMNS = ("name", "algorithm", "t", "eta", "mean loss", "regret ml", "lead", "status")


def shadows(name: Named, as_json: AsJson = False, url: Url = LOCAL, key: Key = None) -> None:
    """List the champion and the shadows of a session: a lead above 0 does better than it.

    Example: llr sessions shadows demo
    """
    with service(url, key) as client:
        state = client.session(name).state()
    if as_json:
        typer.echo(json.dumps(asdict(state)["shadows"], indent=2))
        return
    Console().print(_table(state), highlight=False)


def add_shadow(
    name: Named,
    shadow: ShadowNamed,
    algorithm: Annotated[str, typer.Option(help="How it learns.")],
    eta0: Annotated[float | None, typer.Option(help="Its first step size.")] = None,
    url: Url = LOCAL,
    key: Key = None,
) -> None:
    """Let another algorithm learn the samples of a session from now on, to compare.

    Example: llr sessions add-shadow demo rival --algorithm sg/ag
    """
    with service(url, key) as client:
        state = client.session(name).add_shadow(shadow, algorithm, eta0=eta0)
    typer.echo(f"{shadow} learns {algorithm} beside {name} from t {state.t:,} on")


def remove_shadow(name: Named, shadow: ShadowNamed, url: Url = LOCAL, key: Key = None) -> None:
    """Remove a shadow of a session and what it has learnt.

    Example: llr sessions remove-shadow demo rival
    """
    with service(url, key) as client:
        client.session(name).remove_shadow(shadow)
    typer.echo(f"{shadow} is no longer beside {name}")


def promote(name: Named, shadow: ShadowNamed, url: Url = LOCAL, key: Key = None) -> None:
    """Make a shadow the champion of a session; the champion becomes a shadow.

    Example: llr sessions promote demo rival
    """
    with service(url, key) as client:
        state = client.session(name).promote(shadow)
    told = f"{shadow} ({state.algorithm}) is the champion of {name} at t {state.t:,}"
    typer.echo(f"{told}; the one before is the shadow {state.former}")


def _table(state: State) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for place, header in enumerate(COLUMNS):
        word = place < 2 or header == "status"
        table.add_column(header, justify="left" if word else "right", no_wrap=True)
    table.add_row(*_cells(state.champion or "champion", state, None))
    for name, one in state.shadows.items():
        table.add_row(*_cells(name, one, one.lead))
    return table


def _cells(name: str, one: State | Shadow, lead: float | None) -> list[str]:
    numbers = (one.eta, one.loss.mean, one.regret.ml, lead)
    told = ["" if value is None else f"{value:.4g}" for value in numbers]
    return [name, one.algorithm, f"{one.t:,}", *told, one.status]
