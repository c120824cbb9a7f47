"""`llr predict` and `llr label`: predict now, learn the label later."""

import json
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer
from llr_client import Prediction, Session

from llr_cli.exits import USAGE, fail
from llr_cli.formats import STDIN
from llr_cli.options import DEFAULT_URL, AsJson, BadData, Key, SessionName, Url, open_client
from llr_cli.tables import is_terminal

BLOCK = 1000
"""Labels per request."""

Id = Annotated[str | None, typer.Option("--id", help="Keep x under this id for its label.")]


def predict(
    name: SessionName,
    x: Annotated[
        str | None, typer.Argument(metavar="X", help="A JSON list or object, or a list of them.")
    ] = None,
    id: Id = None,  # noqa: A002
    interval: Annotated[
        float | None, typer.Option(help="Add the bounds at this level, such as 0.9.")
    ] = None,
    as_json: AsJson = False,
    url: Url = DEFAULT_URL,
    key: Key = None,
) -> None:
    """Predict without learning. With --id, x is kept and learnt when `llr label` sends its label.

    Example: llr predict demo '[0.5, -1.2]' --id order-17
    """
    features = _json(x) if x is not None else None
    with open_client(url, key) as client:
        found = client.session(name).predict(features, id=id, interval=interval)
    if isinstance(found, Prediction):
        members = {key: getattr(found, key) for key in ("predictions", "lower", "upper", "set")}
        shown = {key: value for key, value in members.items() if value is not None}
        typer.echo(json.dumps(shown) if as_json else _format_interval(shown))
    else:
        typer.echo(json.dumps({"predictions": found}) if as_json else _format(found))


def label(
    name: SessionName,
    id: Annotated[str | None, typer.Argument(metavar="ID", help="The id.")] = None,  # noqa: A002
    y: Annotated[
        str | None, typer.Argument(metavar="Y", help="The label: a number, or a class.")
    ] = None,
    weight: Annotated[float | None, typer.Option(min=0, help="The sample's weight.")] = None,
    file: Annotated[
        Path | None, typer.Option(help='One {"id": …, "y": …} per line; - is stdin.')
    ] = None,
    as_json: AsJson = False,
    url: Url = DEFAULT_URL,
    key: Key = None,
) -> None:
    """Learn the x that `llr predict --id` kept, exactly once, also if the label is sent again.

    Example: llr label demo order-17 1
    """
    if (file is None) == (id is None or y is None):
        fail(USAGE, "give an id and a label, or --file with many")
    with open_client(url, key) as client:
        session = client.session(name)
        known = iter([(id, y, weight)]) if file is None else _lines(file)
        if file is None and _is_number(y) and not session.state().config.get("classes"):
            known = iter([(id, float(str(y)), weight)])
        learnt, t = _send_labels(session, known)
    shown = {"name": name, "learnt": learnt, "t": t}
    typer.echo(json.dumps(shown) if as_json else f"{name}: {learnt:,} learnt, t {t:,}")


def _send_labels(session: Session, labels: Iterator[Any]) -> tuple[int, int]:
    """Send labels in blocks; returns the number of new ones, and the session's t."""
    learnt, t = 0, None
    while block := list(islice(labels, BLOCK)):
        ids, y, w = zip(*block, strict=True)
        weights = (
            None if all(one is None for one in w) else [1 if one is None else one for one in w]
        )
        answer = session.label(ids, y, w=weights, theta=False)
        learnt, t = learnt + answer.accepted, answer.t
    return learnt, session.state().t if t is None else t


def _is_number(text: str | None) -> bool:
    try:
        float(text or "")
    except ValueError:
        return False
    return True


def _lines(file: Path) -> Iterator[tuple[Any, Any, Any]]:
    """Read the labels of a file, one per line."""
    try:
        text = sys.stdin.read() if file == STDIN else file.read_text()
    except (OSError, UnicodeDecodeError) as wrong:
        raise BadData(f"{file} cannot be read: {wrong}") from None
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                found = json.loads(line)
                yield found["id"], found["y"], found.get("w")
            except (ValueError, KeyError, TypeError):
                raise BadData(f'{file}:{number}: write it as {{"id": …, "y": …}}') from None


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        fail(USAGE, "write x as JSON, such as '[0.5, -1.2]'")


def _format_interval(shown: dict[str, Any]) -> str:
    texts = {key: _format(value) for key, value in shown.items()}
    bounds = f" [{texts['lower']}, {texts['upper']}]" if "lower" in texts else ""
    classes = f" {texts['set']}" if "set" in texts else ""
    return texts["predictions"] + bounds + classes


def _format(found: Any) -> str:
    if isinstance(found, float) and is_terminal():
        return f"{found:.6g}"
    return found if isinstance(found, str) else json.dumps(found)
