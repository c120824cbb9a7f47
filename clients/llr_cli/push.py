"""`llr push`: sends a file of samples to a session, and continues where it stopped.

The producer's name identifies the file, so that the same command continues. A binary file is
identified by its content. Text is identified by its first 16 lines, which stay when it grows; while
it has fewer, by the first 8, 4, 2 or 1. A file that has grown may therefore have an earlier name,
and the service is asked for all of them.
"""

import hashlib
import json
import os
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer
from llr_client import Client, LLRError, Problem, Session, SessionNotFound

from llr_cli.formats import (
    BLOCK,
    FORMATS,
    STDIN,
    TEXT,
    Batch,
    Columns,
    Source,
    format_of,
    open_source,
)
from llr_cli.options import (
    DEFAULT_URL,
    LONG_PATIENCE,
    AsJson,
    BadData,
    Key,
    OptionalSession,
    Patience,
    Url,
    check_reachable,
    open_client,
)
from llr_cli.progress import PushProgress


def _format(given: str | None) -> str | None:
    if given is not None and given not in FORMATS:
        raise typer.BadParameter(f"{given!r} is not one of {', '.join(FORMATS)}")
    return given


def _delimiter(given: str | None) -> str | None:
    found = "\t" if given in ("tab", "\\t") else given
    if found is not None and (len(found) != 1 or found in '\r\n"'):
        raise typer.BadParameter("one character, or tab")
    return found


def _readable(file: Path) -> Path:
    if file != STDIN and not (file.is_file() and os.access(file, os.R_OK)):
        raise typer.BadParameter(f"there is no file {file} that can be read")
    return file


def push(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", callback=_readable, help="- is stdin."),
    ],
    session: OptionalSession = None,
    model: Annotated[str | None, typer.Option(help="Create the session with this model.")] = None,
    dim: Annotated[int | None, typer.Option(min=1, help="Its number of features.")] = None,
    algorithm: Annotated[str | None, typer.Option(help="Its algorithm.")] = None,
    eta0: Annotated[float | None, typer.Option(help="Its initial step size.")] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="An option of the model or algorithm; repeatable."),
    ] = None,
    retain: Annotated[
        bool | None, typer.Option("--retain", help="Retain all samples, for forks with --relearn.")
    ] = None,
    label_column: Annotated[
        str | None, typer.Option(help="Its name or index, from 0. (Default: y, or the last.)")
    ] = None,
    weight: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The column of the samples' weights.")
    ] = None,
    classes: Annotated[
        str | None, typer.Option(help="The names of the classes, comma-separated.")
    ] = None,
    columns: Annotated[
        str | None, typer.Option(help="The columns of x, comma-separated. (Default: all others.)")
    ] = None,
    named: Annotated[
        bool, typer.Option("--named", help="Send features by name, also text.")
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
        typer.Option(callback=_delimiter, help="The delimiter of a CSV: a character, or tab."),
    ] = None,
    block: Annotated[int, typer.Option(min=1, max=100_000, help="Samples per request.")] = BLOCK,
    producer: Annotated[
        str | None, typer.Option(help="The producer's name. (Default: derived from the file.)")
    ] = None,
    patience: Patience = LONG_PATIENCE,
    as_json: AsJson = False,
    url: Url = DEFAULT_URL,
    key: Key = None,
) -> None:
    """Send a file of samples: csv, ndjson, npy or parquet.

    The same command continues where it stopped, also after a crash of it or of the service. Of a
    text file that has grown only the new lines are sent. No sample is learnt twice.

    Example: llr push sales.csv --model linear --label-column price
    """
    config: dict[str, Any] = {"model": model, "dim": dim, "algorithm": algorithm, "eta0": eta0}
    config |= {"options": options_of(option or []), "retain": retain}
    config["named"] = (named and model is not None) or None
    config["classes"] = classes.split(",") if classes else None
    pushing = PushProgress(session or _session_name(file), patience)
    with open_client(url, key, patience, pushing.waiting, pushing.hint) as client:
        check_reachable(url, key)
        wanted, takes_names, words = _feature_kind(client, pushing.name, model)
        features = tuple(columns.split(",")) if columns else None
        words = words or classes is not None
        chosen = Columns(label_column, features, wanted, named or takes_names, weight, words)
        kind = format_of(file, kind)
        client.session(pushing.name, **config)
        known_as = producer or known_producer(client, pushing.name, file, kind, chosen)
        target = client.session(pushing.name, producer=known_as)
        with pushing, open_source(file, kind, chosen, delimiter) as source:
            pushing.begin(target.acked() if known_as else None, source.total)
            send(source, target, pushing, block)
        pushing.report(target.state(), as_json)


def send(source: Source, session: Session, pushing: PushProgress, block: int) -> None:
    """Send the samples that the service does not have, in batches."""
    for batch in source.batches(pushing.before, block):
        try:
            answer = batch.learn(session)
        except LLRError as error:
            pushing.sent += error.learnt
            if isinstance(error, Problem):
                raise _with_place(error, batch) from error
            raise
        pushing.learnt(batch, answer)


def _with_place(problem: Problem, batch: Batch) -> Exception:
    """Convert a problem about one sample to an error with its place in the file."""
    for error in problem.errors:
        index = re.match(r"/(\d+)(/|$)", error.get("pointer", ""))
        if index and int(index[1]) + problem.learnt < batch.n:
            place = batch.place(int(index[1]) + problem.learnt)
            return BadData(f"{place}: {error['detail']}")
    return problem


def _feature_kind(client: Client, name: str, model: str | None) -> tuple[bool, bool, bool]:
    """Whether the session's model takes features, and whether they and its classes have names."""
    names = words = False
    if model is None:
        try:
            state = client.session(name).state()
        except SessionNotFound:
            raise BadData(f"there is no session {name!r}: give --model to create it") from None
        model, names = state.model, state.features is not None
        words = state.config.get("classes") is not None
    known = {entry["name"]: entry for entry in client.catalog()["models"]}
    return bool(known.get(model, {}).get("features", True)), names, words


def _session_name(file: Path) -> str:
    """Derive the session's name from the file's."""
    if file == STDIN:
        raise typer.BadParameter("a pipe has no name: give --session")
    return re.sub(r"[^A-Za-z0-9._-]", "_", file.stem).lstrip("._-")[:128] or "pushed"


def options_of(given: list[str]) -> dict[str, Any] | None:
    """Parse `NAME=VALUE` pairs; values are parsed as JSON if possible."""
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


HEADS = (16, 8, 4, 2, 1)


def known_producer(client: Client, session: str, names: Sequence[str]) -> str | None:
    """The first producer name that the session knows, or the first of all; None without names."""
    known = (name for name in names if client.session(session, producer=name).acked())
    return next(known, next(iter(names), None))


def producer_names(path: Path, kind: str, columns: Columns) -> list[str]:
    """The producer names that a file may have, the present one first. They depend on `columns`."""
    if path == STDIN:
        return []
    plain = re.sub(r"[^A-Za-z0-9._-]", "_", path.name)[:64]
    # a file pushed before an option existed keeps its name
    how = repr(columns).replace(", weight=None", "").replace(", words=False", "")
    shown = how.replace(", named=False", "").encode()
    heads = _heads(path) if kind in TEXT else [_digest(path)]
    return [f"push:{plain}:{hashlib.sha256(shown + head).hexdigest()[:16]}" for head in heads]


def _heads(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        lines = [line.rstrip() for line in islice(file, HEADS[0])]
    for head in HEADS:
        if head <= max(1, len(lines)):
            yield b"\n".join(lines[:head])


def _digest(path: Path) -> bytes:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()
