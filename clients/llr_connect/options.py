"""What every connector can be told, whatever it connects."""

import math
from dataclasses import dataclass
from typing import Annotated, Any

import typer
from llr_cli.connection import LOCAL, AsJson, Key, Url
from llr_cli.formats import Columns
from llr_cli.push import options_of
from llr_client.handle import NAME

from llr_connect.feed import BATCH, Policy
from llr_connect.message import session_name


def _template(given: str) -> str:
    if not NAME.fullmatch(session_name(given, "topic")) or len(given) > 128:
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
        typer.Option(
            callback=_template, help="The session; {topic} in it makes one for each topic."
        ),
    ]
    model: Annotated[str | None, typer.Option(help="Create sessions with this loss.")] = None
    dim: Annotated[int | None, typer.Option(min=1, help="Their number of features.")] = None
    algorithm: Annotated[str | None, typer.Option(help="How they learn.")] = None
    eta0: Annotated[float | None, typer.Option(help="Their first step size.")] = None
    option: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="Of the model or the algorithm; repeatable."),
    ] = None
    label_column: Annotated[
        str | None, typer.Option(help="Messages are flat records; this member is the label.")
    ] = None
    columns: Annotated[
        str | None, typer.Option(help="Their members of x, with commas. (Default: all others.)")
    ] = None
    bad: Annotated[
        Policy, typer.Option(help="What to do about a message that cannot be learnt.")
    ] = Policy.STOP
    missing: Annotated[Policy, typer.Option(help="What to do about messages that never came.")] = (
        Policy.STOP
    )
    batch: Annotated[
        int | None,
        typer.Option(min=1, max=10_000, help=f"The most samples a request. (Default: {BATCH}.)"),
    ] = None
    count: Annotated[
        int | None, typer.Option(min=1, help="End when so many samples are learnt.")
    ] = None
    patience: Annotated[
        float | None,
        typer.Option(min=0, help="Seconds to wait for who is away. (Default: for ever.)"),
    ] = None
    as_json: AsJson = False
    url: Url = LOCAL
    key: Key = None

    @property
    def config(self) -> dict[str, Any]:
        """What a session is created with."""
        given = {name: getattr(self, name) for name in ("model", "dim", "algorithm", "eta0")}
        return given | {"options": options_of(self.option or [])}

    @property
    def chosen(self) -> Columns:
        """Which members of a record are what."""
        return Columns(self.label_column, tuple(self.columns.split(",")) if self.columns else None)

    @property
    def seconds(self) -> float:
        """How long who is away is waited for."""
        return math.inf if self.patience is None else self.patience
