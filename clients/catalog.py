"""`llr catalog`: what a learner can be made of, read from the library's registries."""

import json
import math
from collections.abc import Iterable
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from llr import ALGORITHMS, MODELS, Config, Model
from llr.parameter import Parameter

ANY_MODEL = "gaussian"  # asked for an algorithm's options; any model that needs none would do


def catalog(
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, for programs.")] = False,
) -> None:
    """List the models, the algorithms and the options each of them takes."""
    if as_json:
        typer.echo(json.dumps(contents(), indent=2))
        return
    tables = (models_table(), "", algorithms_table(), "", options_table())
    Console().print(*tables, highlight=False)


def contents() -> dict[str, list[dict[str, Any]]]:
    """The whole catalogue as plain values.

    >>> contents()["models"][0]["name"], contents()["algorithms"][0]["name"]
    ('gaussian', 'sg')
    """
    return {
        "models": [_model_entry(model) for model in MODELS.values()],
        "algorithms": [_algorithm_entry(name) for name in ALGORITHMS],
    }


def of_model(model: Model) -> list[Parameter]:
    """The options of a model, whatever learns it."""
    return [] if model.parameter is None else [model.parameter]


def of_algorithm(name: str) -> list[Parameter]:
    """The options of an algorithm, whatever it learns: of its base, its rate and the tangent."""
    config = Config(ANY_MODEL, algorithm=name)
    own = of_model(config.of_model)
    return [parameter for parameter in config.parameters.values() if parameter not in own]


def values(parameter: Parameter) -> str:
    """What an option may be, in words.

    >>> values(Parameter("level", "which quantile", "real", 0.5, 0.0, 1.0))
    'above 0, below 1'
    """
    if parameter.kind == "flag":
        return "true, false"
    if parameter.kind == "choice":
        return ", ".join(parameter.choices)
    if parameter.kind == "whole":
        return f"whole, from {parameter.low:g}"
    below = f", below {parameter.high:g}" if math.isfinite(parameter.high) else ""
    return f"above {parameter.low:g}{below}"


def models_table() -> Table:
    """One row a model."""
    table = _table("model", "predicts", "labels", "options")
    for name, model in MODELS.items():
        table.add_row(name, model.summary, model.domain, _names(of_model(model)))
    return table


def algorithms_table() -> Table:
    """One row an algorithm."""
    table = _table("algorithm", "how theta moves; how eta does", "options")
    for name, algorithm in ALGORITHMS.items():
        table.add_row(name, algorithm.summary, _names(of_algorithm(name)))
    return table


def options_table() -> Table:
    """One row an option of any model or algorithm."""
    found = [p for model in MODELS.values() for p in of_model(model)]
    found += [p for name in ALGORITHMS for p in of_algorithm(name)]
    table = _table("option", "meaning", "values", "default")
    for p in dict.fromkeys(found):
        default = "needed" if p.default is None else json.dumps(p.default).strip('"')
        table.add_row(p.name, p.summary, values(p), default)
    return table


def _table(*headers: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    table.add_column(headers[0], no_wrap=True, style="bold")
    for header in headers[1:]:
        table.add_column(header)
    return table


def _names(parameters: Iterable[Parameter]) -> str:
    return ", ".join(parameter.name for parameter in parameters)


def _model_entry(model: Model) -> dict[str, Any]:
    return {
        "name": model.name,
        "summary": model.summary,
        "domain": model.domain,
        "features": model.features,
        "exact_regret": model.comparator is not None,
        "options": [_option_entry(parameter) for parameter in of_model(model)],
    }


def _algorithm_entry(name: str) -> dict[str, Any]:
    algorithm = ALGORITHMS[name]
    return {
        "name": name,
        "summary": algorithm.summary,
        "base": algorithm.base.name,
        "rate": algorithm.rate.name,
        "learns_step_size": algorithm.rate.learns,
        "options": [_option_entry(parameter) for parameter in of_algorithm(name)],
    }


def _option_entry(parameter: Parameter) -> dict[str, Any]:
    return {
        "name": parameter.name,
        "summary": parameter.summary,
        "kind": parameter.kind,
        "values": values(parameter),
        "default": parameter.default,
        "needed": parameter.default is None,
    }
