"""Tables and records: aligned on a terminal, tab-separated values in a pipe.

In a pipe there is no header, and every value is whole: numbers with all digits, times as RFC 3339.
On a terminal a table is as wide as its numbers and names need; the terminal wraps what is wider.
"""

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import typer
from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table

from llr_cli.formatting import printable


class Column(NamedTuple):
    """A column of a table.

    Attributes:
        header: its header on a terminal.
        show: formats a value for a terminal; by default numbers with four digits.
        wraps: whether its text may be wrapped.
    """

    header: str
    show: Callable[[Any], str] | None = None
    wraps: bool = False


def is_terminal() -> bool:
    """Whether stdout is a terminal, also if colours are forced on."""
    return sys.stdout.isatty()


def print_table(columns: Sequence[Column], rows: Iterable[Sequence[Any]]) -> None:
    """Print rows of plain values; None is empty."""
    found = list(rows)
    if not is_terminal():
        for row in found:
            typer.echo("\t".join(map(plain, row)))
        return
    console = Console()
    console.width = max(console.width, _needed(columns, found))
    console.print(_table(columns, found), highlight=False)


def _needed(columns: Sequence[Column], rows: Sequence[Sequence[Any]]) -> int:
    """The least width of a table that cuts nothing: whole lines, or words where text wraps."""
    total = 0
    for place, column in enumerate(columns):
        cells = [column.header, *(_cell(column, row[place]) for row in rows)]
        parts = (part for cell in cells for part in _parts(column, cell))
        total += max(map(cell_len, parts), default=0) + 2  # padding and divider
    return total


def _parts(column: Column, cell: str) -> list[str]:
    return cell.split() if column.wraps else cell.split("\n")


def print_record(members: Mapping[str, Any], show: Callable[[str, Any], str]) -> None:
    """Print names and values, one pair a line; `show` formats a value for a terminal."""
    width = max(map(len, members), default=0)
    for name, value in members.items():
        if is_terminal():
            typer.echo(f"{name:<{width}}  {show(name, value)}")
        else:
            typer.echo(f"{name}\t{plain(value)}")


def plain(value: Any) -> str:
    r"""A value in full, without tabs and line breaks.

    >>> plain(1234567.890625), plain(None), plain("a\tb"), plain([1, "x"])
    ('1234567.890625', '', 'a\\tb', '[1, "x"]')
    """
    if value is None:
        return ""
    return printable(value) if isinstance(value, str) else json.dumps(value)


def _table(columns: Sequence[Column], rows: Sequence[Sequence[Any]]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for place, column in enumerate(columns):
        numbers = any(isinstance(row[place], int | float) for row in rows)
        table.add_column(
            column.header,
            justify="right" if numbers else "left",
            no_wrap=not column.wraps,
            overflow="fold",
            style="bold" if not place else "",
        )
    for row in rows:
        table.add_row(*(_cell(one, value) for one, value in zip(columns, row, strict=True)))
    return table


def _cell(column: Column, value: Any) -> str:
    if column.show is not None:
        return column.show(value)
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else plain(value)
