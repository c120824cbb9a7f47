"""`llr figures`: redraw the paper's figures from the sessions of a replay."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from llr_cli.connection import LOCAL, Key, Url, service
from llr_cli.installation import need_figures


def figures(
    out: Annotated[Path, typer.Option(help="Folder for the figures.")] = Path("out"),
    seed: Annotated[int, typer.Option(min=0, help="The seed of the replay.")] = 0,
    seeds: Annotated[
        int, typer.Option(min=0, max=1000, help="Seeds the paper's claims are judged on.")
    ] = 20,
    url: Url = LOCAL,
    key: Key = None,
) -> None:
    """Redraw the paper's figures from what the service kept of `llr replay all`.

    Prints where the page is that shows them all. Figures without any session are left out.
    """
    with service(url, key) as client:
        need_figures()
        from llr_cli.figures.drawing import draw  # noqa: PLC0415 - matplotlib is an extra

        typer.echo(draw(client, out, seed, Console(stderr=True), seeds))
