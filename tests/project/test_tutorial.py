"""docs/tutorial.md: every command is carried out, in order, and says what the page says it does."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from socket import socket
from tempfile import TemporaryDirectory

import pytest
from support.root import ROOT
from support.transcript import Exchange, exchanges, shell

PAGE = (ROOT / "docs" / "tutorial.md").read_text()


def carried_out(folder: Path) -> Iterator[tuple[Exchange, str]]:
    """Every exchange of the page, with what was said to it here."""
    with socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    here = {"LLR_PORT": port, "LLR_URL": f"http://127.0.0.1:{port}"}
    here["XDG_DATA_HOME"] = str(folder / "data")  # a folder llr here would hide the library's
    with shell(folder, 600, **here) as typed:
        for exchange in exchanges(PAGE.replace("8080", port)):
            yield exchange, typed.run(exchange)


@pytest.fixture(scope="module")
def transcript(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Exchange, str]]:
    return list(carried_out(tmp_path_factory.mktemp("tutorial")))


def test_every_command_says_what_the_page_says_it_does(
    transcript: list[tuple[Exchange, str]],
) -> None:
    assert len(transcript) > 30
    for exchange, said in transcript:
        assert exchange.fits(said), f"$ {exchange.command}\n{said}"


def test_there_are_ten_steps_and_nothing_is_shown_that_is_not_carried_out() -> None:
    steps = re.findall(r"^## (\d+)\. ", PAGE, re.MULTILINE)
    assert steps == [str(n) for n in range(1, 11)]
    kinds = re.findall(r"^```(\w+)$", PAGE, re.MULTILINE)
    assert set(kinds) == {"console"}


def test_every_page_it_leads_to_is_there() -> None:
    docs = ROOT / "docs"
    for link in re.findall(r"\]\(([\w./-]+)[)#]", PAGE):
        assert (docs / link).exists(), link


def test_a_transcript_fits_with_gaps_and_other_breaks_of_lines_only() -> None:
    page = 'a\n```console\n$ echo 1 \\\n  2\n1 2\n$ true\n$ x\n{"a": …,\n "b": 2}\n```\n'
    first, second, third = exchanges(page)
    assert first == Exchange("echo 1 \\\n  2", "1 2\n")
    assert (second.said, third.command) == ("", "x")
    assert third.fits('{"a":[1,2],"b":2}\n')
    assert not third.fits('{"a":1,"b":23}')
    assert not second.fits("anything")


if __name__ == "__main__":
    with TemporaryDirectory() as scratch:
        for exchange, said in carried_out(Path(scratch)):
            mark = " " if exchange.fits(said) else "!"
            sys.stdout.write(f"{mark} $ {exchange.command}\n{said}\n")
            sys.stdout.flush()
