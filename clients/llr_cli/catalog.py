"""`llr catalog`: the models, algorithms and options in the library's registries."""

import json
from collections.abc import Iterable
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from llr import ALGORITHMS, MODELS
from llr.config import catalog as library_catalog
from llr.parameter import Parameter


def catalog(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the models, the algorithms and their options.

    Example: llr catalog --json
    """
    if as_json:
        typer.echo(json.dumps(library_catalog(), indent=2))
        return
    tables = (models_table(), "", algorithms_table(), "", options_table())
    Console().print(*tables, highlight=False)


def models_table() -> Table:
    """A table with one row per model."""
    table = _table("model", "predicts", "labels", "options")
    for name, model in MODELS.items():
        table.add_row(name, model.summary, model.domain, _names(model.parameters))
    return table


def algorithms_table() -> Table:
    """A table with one row per algorithm."""
    table = _table("algorithm", "how theta moves; how eta does", "options")
    for name, algorithm in ALGORITHMS.items():
        table.add_row(name, algorithm.summary, _names(algorithm.parameters))
    return table


def options_table() -> Table:
    """A table with one row per option of any model or algorithm."""
    found = [p for model in MODELS.values() for p in model.parameters]
    found += [p for algorithm in ALGORITHMS.values() for p in algorithm.parameters]
    table = _table("option", "meaning", "values", "default")
    for p in dict.fromkeys(found):
        default = "needed" if p.default is None else json.dumps(p.default).strip('"')
        table.add_row(p.name, p.summary, p.domain, default)
    return table


def _table(*headers: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    table.add_column(headers[0], no_wrap=True, style="bold")
    for header in headers[1:]:
        table.add_column(header)
    return table


def _names(parameters: Iterable[Parameter]) -> str:
    return ", ".join(parameter.name for parameter in parameters)
