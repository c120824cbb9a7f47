"""The options that all connectors share."""

import math
import re
from dataclasses import dataclass
from typing import Annotated, Any

import typer
from llr_cli.formats import Columns
from llr_cli.options import DEFAULT_URL, AsJson, Key, Url, options_of
from llr_client.syntax import NAME

from llr_connect.messages import PLACEHOLDER, fill_template
from llr_connect.pump import DEFAULT_BATCH, Policy

TOPIC = frozenset({"topic"})
KAFKA = re.compile(r"topic|partition|key|value\..+")


def _template(context: typer.Context, given: str) -> str:
    """Check a session's name; Kafka has more placeholders than other sources."""
    names = PLACEHOLDER.findall(given)
    known = KAFKA.fullmatch if context.info_name == "kafka" else TOPIC.__contains__
    filled = fill_template(given, dict.fromkeys(names, "topic"))
    if not NAME.fullmatch(filled) or len(given) > 128 or not all(map(known, names)):
        raise typer.BadParameter(
            "a session's name has 1 to 128 letters, digits, dots, _ and -, and starts with a letter"
            " or a digit; {topic} stands for the topic"
        )
    return given


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options all connectors share."""

    session: Annotated[
        str,
        typer.Option(callback=_template, help="The session; {topic} makes one session per topic."),
    ]
    model: Annotated[str | None, typer.Option(help="Create sessions with this model.")] = None
    dim: Annotated[int | None, typer.Option(min=1, help="Their number of features.")] = None
    algorithm: Annotated[str | None, typer.Option(help="Their algorithm.")] = None
    eta0: Annotated[float | None, typer.Option(help="Their initial step size.")] = None
    option: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="An option of the model or algorithm; repeatable."),
    ] = None
    label_column: Annotated[
        str | None, typer.Option(help="Messages are flat records; the member with the label.")
    ] = None
    weight: Annotated[
        str | None, typer.Option(metavar="MEMBER", help="The member of flat records with w.")
    ] = None
    named: Annotated[
        bool, typer.Option("--named", help="Send the features of flat records by name, text too.")
    ] = False
    classes: Annotated[
        str | None, typer.Option(metavar="A,B", help="The names of the classes of new sessions.")
    ] = None
    columns: Annotated[
        str | None, typer.Option(help="The members of x, comma-separated. (Default: all others.)")
    ] = None
    bad: Annotated[
        Policy, typer.Option(help="What to do with a message that cannot be learnt.")
    ] = Policy.STOP
    missing: Annotated[Policy, typer.Option(help="What to do when messages are missing.")] = (
        Policy.STOP
    )
    batch: Annotated[
        int | None,
        typer.Option(
            min=1, max=10_000, help=f"The most samples per request. (Default: {DEFAULT_BATCH}.)"
        ),
    ] = None
    count: Annotated[int | None, typer.Option(min=1, help="Stop after this many samples.")] = None
    patience: Annotated[
        float | None,
        typer.Option(min=0, help="Seconds to retry when a peer is away. (Default: for ever.)"),
    ] = None
    metrics: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="Serve Prometheus metrics; HOST is 127.0.0.1."),
    ] = None
    as_json: AsJson = False
    url: Url = DEFAULT_URL
    key: Key = None

    @property
    def config(self) -> dict[str, Any]:
        """The config of new sessions."""
        given = {name: getattr(self, name) for name in ("model", "dim", "algorithm", "eta0")}
        classes = self.classes.split(",") if self.classes else None
        return given | {"classes": classes, "options": options_of(self.option or [])}

    @property
    def chosen(self) -> Columns:
        """The roles of a record's members."""
        features = tuple(self.columns.split(",")) if self.columns else None
        return Columns(self.label_column, features, named=self.named, weight=self.weight)

    @property
    def seconds(self) -> float:
        """Seconds of retries when a peer is away."""
        return math.inf if self.patience is None else self.patience
