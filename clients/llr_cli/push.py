"""`llr push`: send a file of samples to a session, and go on where it stopped."""

import json
import os
import re
from pathlib import Path
from typing import Annotated, Any

import typer
from llr_client import Client, LLRError, Problem, Session, SessionNotFound

from llr_cli.connection import (
    LOCAL,
    LONG,
    AsJson,
    BadData,
    Key,
    MaybeNamed,
    Patience,
    Url,
    reach,
    service,
)
from llr_cli.formats import BLOCK, FORMATS, STDIN, Columns, Part, Source, format_of, opened
from llr_cli.producers import producer_of
from llr_cli.progress import Pushing


def _format(given: str | None) -> str | None:
    if given is not None and given not in FORMATS:
        raise typer.BadParameter(f"{given!r} is not one of {', '.join(FORMATS)}")
    return given


def _delimiter(given: str | None) -> str | None:
    found = "\t" if given in ("tab", "\\t") else given
    if found is not None and (len(found) != 1 or found in '\r\n"'):
        raise typer.BadParameter("one character, or tab")
    return found


def _there(file: Path) -> Path:
    if file != STDIN and not (file.is_file() and os.access(file, os.R_OK)):
        raise typer.BadParameter(f"there is no file {file} that can be read")
    return file


def push(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", callback=_there, help="- is stdin."),
    ],
    session: MaybeNamed = None,
    model: Annotated[str | None, typer.Option(help="Create the session with this loss.")] = None,
    dim: Annotated[int | None, typer.Option(min=1, help="Its number of features.")] = None,
    algorithm: Annotated[str | None, typer.Option(help="How it learns.")] = None,
    eta0: Annotated[float | None, typer.Option(help="Its first step size.")] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="Of the model or the algorithm; repeatable."),
    ] = None,
    retain: Annotated[
        bool | None, typer.Option("--retain", help="Keep all samples, for forks that --relearn.")
    ] = None,
    label_column: Annotated[
        str | None, typer.Option(help="Name or number, from 0. (Default: y, or the last.)")
    ] = None,
    columns: Annotated[
        str | None, typer.Option(help="Those of x, with commas. (Default: all others.)")
    ] = None,
    named: Annotated[
        bool, typer.Option("--named", help="Send features by their names, text too.")
    ] = False,
    kind: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="|".join(FORMATS),
            callback=_format,
            help="(Default: by the file's name.)",
        ),
    ] = None,
    delimiter: Annotated[
        str | None,
        typer.Option(callback=_delimiter, help="Between the cells of a csv: a character, or tab."),
    ] = None,
    block: Annotated[int, typer.Option(min=1, max=100_000, help="Samples a request.")] = BLOCK,
    producer: Annotated[
        str | None, typer.Option(help="Number samples under this name. (Default: of the file.)")
    ] = None,
    patience: Patience = LONG,
    as_json: AsJson = False,
    url: Url = LOCAL,
    key: Key = None,
) -> None:
    """Send a file of samples: csv, ndjson, npy or parquet.

    The same command again goes on where it stopped, be it after Ctrl-C, a kill or the end of the
    service. A text file that has grown is sent from where it grew. No sample is learnt twice.

    Example: llr push sales.csv --model linear --label-column price
    """
    config: dict[str, Any] = {"model": model, "dim": dim, "algorithm": algorithm, "eta0": eta0}
    config |= {"options": options_of(option or []), "retain": retain}
    config["named"] = (named and model is not None) or None
    pushing = Pushing(session or _named_as(file), patience)
    with service(url, key, patience, pushing.waiting, pushing.hint) as client:
        reach(url, key)
        wanted, takes_names = _taken(client, pushing.name, model)
        features = tuple(columns.split(",")) if columns else None
        chosen = Columns(label_column, features, wanted, named or takes_names)
        kind = format_of(file, kind)
        client.session(pushing.name, **config)
        known_as = producer or producer_of(client, pushing.name, file, kind, chosen)
        target = client.session(pushing.name, producer=known_as)
        with pushing, opened(file, kind, chosen, delimiter) as source:
            pushing.begin(target.acked() if known_as else None, source.total)
            send(source, target, pushing, block)
        pushing.report(target.state(), as_json)


def send(source: Source, session: Session, pushing: Pushing, block: int) -> None:
    """Send what the service does not have, part by part."""
    for part in source.parts(pushing.before, block):
        try:
            answer = part.learn(session)
        except LLRError as error:
            pushing.sent += error.learnt
            if isinstance(error, Problem):
                raise _placed(error, part) from error
            raise
        pushing.learnt(part, answer)


def _placed(problem: Problem, part: Part) -> Exception:
    """The problem with its place in the file, if it is about one sample."""
    for error in problem.errors:
        index = re.match(r"/(\d+)(/|$)", error.get("pointer", ""))
        if index and int(index[1]) + problem.learnt < part.n:
            place = part.place(int(index[1]) + problem.learnt)
            return BadData(f"{place}: {error['detail']}")
    return problem


def _taken(client: Client, name: str, model: str | None) -> tuple[bool, bool]:
    """Whether the session, made or to be made, takes features, and whether it is known by names."""
    names = False
    if model is None:
        try:
            state = client.session(name).state()
        except SessionNotFound:
            raise BadData(f"there is no session {name!r}: give --model to create it") from None
        model, names = state.model, state.features is not None
    known = {entry["name"]: entry for entry in client.catalog()["models"]}
    return bool(known.get(model, {}).get("features", True)), names


def _named_as(file: Path) -> str:
    """The session's name, from the file's."""
    if file == STDIN:
        raise typer.BadParameter("a pipe has no name: give --session")
    return re.sub(r"[^A-Za-z0-9._-]", "_", file.stem).lstrip("._-")[:128] or "pushed"


def options_of(given: list[str]) -> dict[str, Any] | None:
    """`NAME=VALUE` pairs; values are read as JSON where they are such."""
    found: dict[str, Any] = {}
    for pair in given:
        name, equals, value = pair.partition("=")
        if not equals:
            raise typer.BadParameter(f"--option {pair}: write it as NAME=VALUE")
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value
    return found or None
