"""`llr predict` and `llr label`: a prediction now, and its label when it is known."""

import json
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer
from llr_client import Session

from llr_cli.connection import LOCAL, USAGE, AsJson, BadData, Key, Named, Url, end, service
from llr_cli.formats import STDIN

BLOCK = 1000
"""Labels a request."""

Id = Annotated[str | None, typer.Option("--id", help="Keep x under this name for its label.")]


def predict(
    name: Named,
    x: Annotated[
        str | None, typer.Argument(metavar="X", help="A JSON list or object, or many.")
    ] = None,
    id: Id = None,  # noqa: A002
    as_json: AsJson = False,
    url: Url = LOCAL,
    key: Key = None,
) -> None:
    """Predict without learning. With --id x is kept, and learnt when `llr label` tells its label.

    Example: llr predict demo '[0.5, -1.2]' --id order-17
    """
    features = _json(x) if x is not None else None
    with service(url, key) as client:
        found = client.session(name).predict(features, id=id)
    typer.echo(json.dumps({"predictions": found}) if as_json else _shown(found))


def label(
    name: Named,
    id: Annotated[str | None, typer.Argument(metavar="ID", help="Its name.")] = None,  # noqa: A002
    y: Annotated[float | None, typer.Argument(metavar="Y", help="The label.")] = None,
    file: Annotated[
        Path | None, typer.Option(help='Many: {"id": …, "y": …} a line; - is stdin.')
    ] = None,
    as_json: AsJson = False,
    url: Url = LOCAL,
    key: Key = None,
) -> None:
    """Learn from what `llr predict --id` kept, once, however often the label is sent.

    Example: llr label demo order-17 1
    """
    if (file is None) == (id is None or y is None):
        end(USAGE, "give an id and a label, or --file with many")
    known = iter([(id, y)]) if file is None else _lines(file)
    with service(url, key) as client:
        learnt, t = _learnt(client.session(name), known)
    told = {"name": name, "learnt": learnt, "t": t}
    typer.echo(json.dumps(told) if as_json else f"{name}: {learnt:,} learnt, t {t:,}")


def _learnt(session: Session, labels: Iterator[Any]) -> tuple[int, int]:
    """Send labels, many at a time; how many were new, and where the session is."""
    learnt, t = 0, None
    while block := list(islice(labels, BLOCK)):
        ids, y = zip(*block, strict=True)
        answer = session.label(ids, y, theta=False)
        learnt, t = learnt + answer.accepted, answer.t
    return learnt, session.state().t if t is None else t


def _lines(file: Path) -> Iterator[tuple[Any, Any]]:
    """The labels of a file, one a line."""
    try:
        text = sys.stdin.read() if file == STDIN else file.read_text()
    except (OSError, UnicodeDecodeError) as wrong:
        raise BadData(f"{file} cannot be read: {wrong}") from None
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                found = json.loads(line)
                yield found["id"], found["y"]
            except (ValueError, KeyError, TypeError):
                raise BadData(f'{file}:{number}: write it as {{"id": …, "y": …}}') from None


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        end(USAGE, "write x as JSON, such as '[0.5, -1.2]'")


def _shown(found: Any) -> str:
    return f"{found:.6g}" if isinstance(found, float) else json.dumps(found)
