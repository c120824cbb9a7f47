"""`llr catalog`: the models, algorithms and options in the library's registries."""

import json
from collections.abc import Callable, Iterable
from typing import Annotated

import typer

from llr import ALGORITHMS, MODELS
from llr.config import catalog as library_catalog
from llr.parameter import Parameter
from llr_cli.tables import Column, print_table


def catalog(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the models, the algorithms and their options.

    Example: llr catalog --json
    """
    if as_json:
        typer.echo(json.dumps(library_catalog(), indent=2))
        return
    tables: tuple[Callable[[], None], ...] = (print_models, print_algorithms, print_options)
    for place, print_one in enumerate(tables):
        if place:
            typer.echo()
        print_one()


def print_models() -> None:
    """Print one row per model."""
    print_table(
        _columns("model", "predicts", "labels", "options"),
        (
            (name, model.summary, model.domain, _names(model.parameters))
            for name, model in MODELS.items()
        ),
    )


def print_algorithms() -> None:
    """Print one row per algorithm."""
    print_table(
        _columns("algorithm", "how theta moves; how eta does", "options"),
        (
            (name, algorithm.summary, _names(algorithm.parameters))
            for name, algorithm in ALGORITHMS.items()
        ),
    )


def print_options() -> None:
    """Print one row per option of any model or algorithm."""
    found = [p for model in MODELS.values() for p in model.parameters]
    found += [p for algorithm in ALGORITHMS.values() for p in algorithm.parameters]
    print_table(
        _columns("option", "meaning", "values", "default"),
        ((p.name, p.summary, p.domain, _default(p)) for p in dict.fromkeys(found)),
    )


def _columns(*headers: str) -> list[Column]:
    return [Column(headers[0]), *(Column(header, wraps=True) for header in headers[1:])]


def _default(parameter: Parameter) -> str:
    return "needed" if parameter.default is None else json.dumps(parameter.default).strip('"')


def _names(parameters: Iterable[Parameter]) -> str:
    return ", ".join(parameter.name for parameter in parameters)
