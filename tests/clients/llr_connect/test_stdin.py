"""`llr connect stdin`: every line is learnt once, and those that cannot be are not lost."""

import json
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest
from llr_cli.options import BadData
from llr_client import Client
from llr_connect.channels import Journal
from support.commands import run
from support.connecting import COUNT, X, Y, connector, sample, stopped, until
from support.sample_files import assert_learnt

LINEAR = ("stdin", "--session", "demo", "--model", "linear")


def lines(numbers: range) -> str:
    return "".join(f"{sample(number)}\n" for number in numbers)


def fed(*arguments: str, text: str, address: str, home: Path) -> tuple[int, str, str]:
    """A connector in this process with all of its input: its exit code and what it said."""
    kept = os.dup(0)
    (home / "text").write_text(text)
    with (home / "text").open() as file:
        os.dup2(file.fileno(), 0)
    try:
        result = run("connect", *arguments, url=address, XDG_DATA_HOME=str(home))
    finally:
        os.dup2(kept, 0)
        os.close(kept)
    return result.exit_code, result.stdout, result.stderr


def test_the_same_input_again_goes_on_where_the_connector_was_killed(
    client: Client, address: str, tmp_path: Path
) -> None:
    client.session("demo", model="linear")
    (tmp_path / "input").write_text(lines(range(COUNT)))
    for mark in (30, 120):
        with (
            (tmp_path / "input").open() as file,
            connector(*LINEAR, "--batch", "3", url=address, home=tmp_path, stdin=file) as it,
        ):
            until(client, "demo", mark)
            it.kill()
    seen = client.session("demo").state().t
    assert 120 <= seen < COUNT
    code, told, said = fed(*LINEAR, text=lines(range(COUNT)), address=address, home=tmp_path)
    found = re.fullmatch(r"(\d+) samples came before: they are skipped\n", said)
    assert code == 0, said
    assert found, said
    half = int(found[1])
    assert seen <= half <= seen + 3  # the batch that was on its way may be learnt after the kill
    assert told.startswith(f"demo: {COUNT - half} samples learnt, {half} came again, ")
    assert_learnt(client.session("demo").state(), X, Y)


@pytest.mark.parametrize("given", [("--continue",), ("--from", "10")])
def test_an_input_that_does_not_repeat_itself_is_learnt_whole(
    client: Client, address: str, tmp_path: Path, given: tuple[str, ...]
) -> None:
    fed(*LINEAR, text=lines(range(10)), address=address, home=tmp_path)
    code, _, said = fed(*LINEAR, *given, text=lines(range(10, 15)), address=address, home=tmp_path)
    assert (code, said) == (0, "")
    assert_learnt(client.session("demo").state(), X[:15], Y[:15])


def test_bad_lines_stop_it_or_are_left_out_for_good_with_their_numbers(
    client: Client, address: str, tmp_path: Path
) -> None:
    bad = ['{"x": [1], "y": 2}', "nonsense", '{"x": [1, 2, 3], "y": "high"}', "[1]"]
    text = lines(range(5)) + "\n" + "\n".join(bad) + "\n" + lines(range(5, 10))
    code, _, said = fed(*LINEAR, text=text, address=address, home=tmp_path)
    assert (code, client.session("demo").state().t) == (1, 5)
    assert "line 7 cannot be learnt: has 1 features, the learner has 3; go on" in said
    skip = (*LINEAR, "--bad", "skip")
    code, told, _ = fed(*skip, text=text, address=address, home=tmp_path)
    assert (code, "5 samples learnt, 5 came again, 4 left out" in told) == (0, True)
    text += lines(range(10, 12))
    code, told, _ = fed(*skip, "--json", text=text, address=address, home=tmp_path)
    assert (json.loads(told)["learnt"], json.loads(told)["repeated"]) == (2, 14)
    assert_learnt(client.session("demo").state(), X[:12], Y[:12])
    (journal,) = (tmp_path / "llr" / "connect").iterdir()
    kept = [json.loads(line) for line in journal.read_text().splitlines()]
    assert [(line["first"], line["message"]) for line in kept] == list(
        zip(range(5, 9), bad, strict=True)
    )


def test_rows_of_a_csv_are_samples_too(client: Client, address: str, tmp_path: Path) -> None:
    rows = "".join(
        f"{','.join(map(repr, x.tolist()))},{y!r}\n"
        for x, y in zip(X[:9], Y[:9].tolist(), strict=True)
    )
    text = "a,b,c,price\n" + rows + "1,2,x,4\n1,2\n"
    told = (*LINEAR, "--format", "csv", "--bad", "skip")
    code, _, said = fed(*told, text=text, address=address, home=tmp_path)
    assert code == 0
    assert "line 11 is left out: 'x' is not a finite number" in said
    assert "line 12 is left out: 2 cells, where the first row has 4" in said
    assert_learnt(client.session("demo").state(), X[:9], Y[:9])


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_signal_ends_it_when_what_came_is_learnt(
    client: Client, address: str, tmp_path: Path, number: int, code: int
) -> None:
    client.session("demo", model="linear")
    with connector(*LINEAR, url=address, home=tmp_path, stdin=subprocess.PIPE) as it:
        assert it.stdin is not None
        it.stdin.write(lines(range(7)))
        it.stdin.flush()
        until(client, "demo", 7)
        told, said = stopped(it, number)
    assert it.returncode == code
    assert "7 samples learnt" in (told if code == 0 else said)


@pytest.mark.parametrize(
    ("arguments", "code", "why"),
    [
        (["--session", "demo"], 1, "give --model to create it"),
        (["--session", "a-{topic}"], 2, "one stream"),
        (["--session", "../"], 2, "a session's name"),
        (["--session", "demo", "--from", "3", "--continue"], 2, "not both"),
        (["--session", "demo", "--model", "linear", "--bad", "hide"], 2, "hide"),
        (["--session", "demo", "--model", "linear", "--option", "classes"], 2, "NAME=VALUE"),
    ],
)
def test_what_cannot_be_done_is_told(
    client: Client, address: str, tmp_path: Path, arguments: list[str], code: int, why: str
) -> None:
    result = run("connect", "stdin", *arguments, url=address, XDG_DATA_HOME=str(tmp_path))
    assert (result.exit_code, why in result.stderr) == (code, True), result.stderr


def test_a_journal_knows_which_number_is_next(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "journal"
    journal = Journal(path)
    assert (journal.expected("s", "p", 7), path.exists()) == (7, False)
    for numbers in (range(5), range(8, 9), range(9, 10)):
        journal.add("s", "p", "never came", numbers)
    journal.add("s", "other", "no number", None, "text")
    with pytest.raises(BadData, match="another connector"):
        Journal(path)
    journal.close()
    path.write_bytes(path.read_bytes() + b'{"session": "s", "produ')  # a write that was cut short
    again = Journal(path)
    assert [again.expected("s", "p", acked) for acked in (0, 2, 3, 4)] == [5, 7, 10, 11]
    assert again.expected("s", "other", 3) == 3
    again.close()
    assert path.read_bytes().endswith(b"}\n")


def test_a_file_that_is_no_journal_is_not_taken_for_one(tmp_path: Path) -> None:
    for text in ("hello\n", '{"first": 1}\n'):
        (tmp_path / "journal").write_text(text)
        with pytest.raises(BadData, match="line 1: not a line of a journal"):
            Journal(tmp_path / "journal")
