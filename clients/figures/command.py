"""`llr figures`: redraw the paper's figures from the sessions of a replay."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from clients import Client, LLRError
from clients.replay.command import Key, Url


def figures(
    out: Annotated[Path, typer.Option(help="Folder for the figures.")] = Path("out"),
    seed: Annotated[int, typer.Option(min=0, help="The seed of the replay.")] = 0,
    url: Url = "http://127.0.0.1:8080",
    key: Key = None,
) -> None:
    """Redraw the paper's figures from what the service kept of `llr replay all`.

    Prints where the page is that shows them all. Figures without any session are left out.
    """
    from clients.figures.drawing import draw  # noqa: PLC0415 - other commands need no matplotlib

    errors = Console(stderr=True)
    try:
        with Client(
            url, key, on_retry=lambda error, _: errors.print(f"waiting: {error}")
        ) as client:
            page = draw(client, out, seed, errors)
    except (LLRError, OSError) as error:
        errors.print(f"llr figures: {error}", style="red", highlight=False)
        raise typer.Exit(1) from None
    typer.echo(page)
