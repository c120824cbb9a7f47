"""`llr push`: sends a file of samples to a session, and continues where it stopped.

A session is created with the first block: the block is parsed before, and if the service refuses
it, the session is deleted again.

The producer's name identifies the file, so that the same command continues. A binary file is
identified by its content. Text is identified by its first 16 lines, which stay when it grows; while
it has fewer, by the first 8, 4, 2 or 1. A file that has grown may therefore have an earlier name,
and the service is asked for all of them.
"""

import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain, islice
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer
from llr_client import Client, LLRError, SessionNotFound, Unreachable

from llr_cli import bad_rows
from llr_cli.bad_rows import BadRows
from llr_cli.formats import (
    BLOCK,
    FORMATS,
    STDIN,
    TEXT,
    Batch,
    Columns,
    format_of,
    open_source,
)
from llr_cli.options import (
    DEFAULT_URL,
    LONG_PATIENCE,
    Algorithm,
    AsJson,
    BadData,
    Classes,
    Dim,
    Eta0,
    Key,
    OptionalSession,
    Options,
    Patience,
    Retain,
    Url,
    check_reachable,
    open_client,
    options_of,
)
from llr_cli.progress import PushProgress
from llr_cli.sending import first_checked, send


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
    dim: Dim = None,
    algorithm: Algorithm = None,
    eta0: Eta0 = None,
    option: Options = None,
    retain: Retain = None,
    label_column: Annotated[
        str | None, typer.Option(help="Its name or index, from 0. (Default: y, or the last.)")
    ] = None,
    weight: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The column of the samples' weights.")
    ] = None,
    classes: Classes = None,
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
    bad: Annotated[
        str,
        typer.Option(
            metavar="stop|skip|FILE",
            callback=bad_rows.parse_choice,
            help="At a bad row: stop, skip it, or append it to a file and go on.",
        ),
    ] = bad_rows.STOP,
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
    refused = BadRows(bad, pushing.say)
    with open_client(url, key, patience, pushing.waiting, pushing.hint) as client:
        check_reachable(url, key)
        target = _look(client, pushing.name, model)
        features = tuple(columns.split(",")) if columns else None
        words = target.words or classes is not None
        by_name = named or target.named
        chosen = Columns(label_column, features, target.features, by_name, weight, words)
        kind = format_of(file, kind)
        if target.exists:
            client.session(pushing.name, **config)  # refuses another config
        names = [producer] if producer else producer_names(file, kind, chosen)
        known_as = next(iter(names), None)
        if target.exists:
            known_as = known_producer(client, pushing.name, names)
        there = client.session(pushing.name, producer=known_as)
        with pushing, open_source(file, kind, chosen, delimiter, refused.tolerant) as source:
            start = there.acked() if known_as and target.exists else 0
            pushing.begin(start if known_as else None, source.total)
            batches = source.batches(start, block)
            if target.exists:
                send(batches, there, pushing, refused)
            else:
                first = _first(batches, file)
                with creation(client, pushing.name, config):
                    send(chain([first], batches), there, pushing, refused)
        pushing.report(there.state(), as_json, refused)


class _Target(NamedTuple):
    """The session: whether it exists, takes features, and by name; whether classes have names."""

    exists: bool
    features: bool
    named: bool
    words: bool


def _look(client: Client, name: str, model: str | None) -> _Target:
    exists = named = words = False
    try:
        state = client.session(name).state()
        exists, named = True, state.features is not None
        words = state.config.get("classes") is not None
        model = model or state.model
    except SessionNotFound:
        if model is None:
            raise BadData(f"there is no session {name!r}: give --model to create it") from None
    known = {entry["name"]: entry for entry in client.catalog()["models"]}
    return _Target(exists, bool(known.get(model, {}).get("features", True)), named, words)


def _first(batches: Iterator[Batch], file: Path) -> Batch:
    """The first batch of a file for a new session."""
    batch = next(batches, None)
    if batch is None:
        raise BadData(f"{file} has no samples, so the session is not created")
    return first_checked(batch)


@contextmanager
def creation(client: Client, name: str, config: dict[str, Any]) -> Iterator[None]:
    """Create a session, and delete it again if this block fails before it has learnt anything."""
    session = client.session(name, **config)
    try:
        yield
    except BaseException as error:
        if not isinstance(error, Unreachable):
            with suppress(LLRError):
                session.delete(if_t=0)
        raise


def _session_name(file: Path) -> str:
    """Derive the session's name from the file's."""
    if file == STDIN:
        raise typer.BadParameter("a pipe has no name: give --session")
    return re.sub(r"[^A-Za-z0-9._-]", "_", file.stem).lstrip("._-")[:128] or "pushed"


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
