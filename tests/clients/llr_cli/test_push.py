"""`llr push`: every sample of a file is learnt once, whatever happens to the command."""

import json
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest
from llr_cli.formats import FORMATS
from llr_client import Client
from pyarrow import parquet
from support.commands import llr, one_line, run
from support.sample_files import X, Y, assert_learnt, write
from support.serving import serving

from llr import Learner, NamedLearner

RNG = np.random.default_rng(9)


@pytest.mark.parametrize("kind", FORMATS)
def test_every_format_is_learnt_and_a_second_push_adds_nothing(
    client: Client, address: str, tmp_path: Path, kind: str
) -> None:
    file = write(tmp_path, kind)
    result = run("push", str(file), "--model", "linear", "--block", "10", url=address)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("samples: 25 samples sent, ")
    assert_learnt(client.session("samples").state(), X, Y)
    again = run("push", str(file), "--json", url=address)
    told = json.loads(again.stdout)
    assert (told["sent"], told["before"], told["t"]) == (0, 25, 25)
    assert_learnt(client.session("samples").state(), X, Y)


@pytest.mark.parametrize("sizes", [(20, 25), (1, 2, 3, 9, 25)])
def test_a_file_that_grew_is_sent_from_where_it_grew(
    client: Client, address: str, tmp_path: Path, sizes: tuple[int, ...]
) -> None:
    client.session("samples", model="linear")
    for before, now in pairwise((0, *sizes)):
        file = write(tmp_path, "csv", X[:now], Y[:now])
        result = run("push", str(file), "--json", url=address)
        told = json.loads(result.stdout)
        assert (told["sent"], told["before"]) == (now - before, before)
        assert (f"{before} samples were sent before" in result.stderr) == (before > 0)
    assert_learnt(client.session("samples").state(), X, Y)


def test_the_sessions_config_is_given_by_options(
    client: Client, address: str, tmp_path: Path
) -> None:
    options = "--session soft --model softmax --dim 3 --algorithm sg --eta0 0.5 --option classes=2"
    file = write(tmp_path, "csv", X, np.arange(25) % 2)
    assert run("push", str(file), *options.split(), url=address).exit_code == 0
    config = client.session("soft").state().config
    assert (config["model"], config["dim"], config["algorithm"]) == ("softmax", 3, "sg")
    assert (config["eta0"], config["options"]) == (0.5, {"classes": 2})


def test_a_model_without_features_takes_the_label_of_a_table(
    client: Client, address: str, tmp_path: Path
) -> None:
    file = str(write(tmp_path, "csv"))
    run("push", file, "--model", "gaussian", "--label-column", "b", url=address)
    learner = Learner("gaussian", regret="exact")
    learner.learn(X[:, 1])
    assert client.session("samples").state().theta == learner.theta.tolist()


def test_a_table_with_text_is_pushed_by_names(client: Client, address: str, tmp_path: Path) -> None:
    file = tmp_path / "towns.csv"
    file.write_text("city,rooms,price\nRome,3,2.1\nOslo,,1.5\n")
    refused = run("push", str(file), "--model", "linear", url=address)
    assert (refused.exit_code, "--named" in one_line(refused)) == (1, True)
    result = run("push", str(file), "--model", "linear", "--named", url=address)
    assert result.stdout.startswith("towns: 2 samples sent")
    learner = NamedLearner("linear")
    learner.learn([{"city": "Rome", "rooms": 3}, {"city": "Oslo"}], [2.1, 1.5])
    state = client.session("towns").state()
    assert (state.theta, state.config["named"]) == (learner.theta, True)
    file.write_text(file.read_text() + "Lima,2,1.0\n")
    assert json.loads(run("push", str(file), "--json", url=address).stdout)["sent"] == 1


def test_a_pipe_is_read_to_its_end(client: Client, address: str) -> None:
    with llr("push", "-", "--session", "piped", "--model", "gaussian", url=address, stdin=-1) as it:
        told, _ = it.communicate('{"y": 1}\n\n{"y": 2}\n{"y": 3}', timeout=60)
    assert (it.returncode, told.startswith("piped: 3 samples sent")) == (0, True)
    assert client.session("piped").state().t == 3


def test_a_pipe_of_a_named_producer_goes_on(client: Client, address: str) -> None:
    sent = ["push", "-", "--session", "piped", "--model", "gaussian", "--producer", "tail"]
    for text in ('{"y": 1}\n{"y": 2}\n', '{"y": 1}\n{"y": 2}\n{"y": 3}\n'):
        with llr(*sent, url=address, stdin=-1) as it:
            it.communicate(text, timeout=60)
    assert client.session("piped").state().t == 3


@pytest.mark.parametrize(
    ("name", "text", "why", "t"),
    [
        ("a.csv", "a,y\n1,2\n3,4\n5,six\n", "line 4: 'six' is not a finite number", 2),
        ("a.ndjson", '{"x":[1],"y":2}\n{"x":[1],"y":2}\n{"x":[1],"y":"3"}', "line 3: must be", 2),
        ("a.ndjson", '{"x":[1],"y":2}\n{"x":[1],"y":2}\n\n{"x":[1,2],"y":2}', "line 4: ", 2),
    ],
)
def test_bad_data_is_1_with_its_place_and_mended_it_goes_on(
    client: Client, address: str, tmp_path: Path, name: str, text: str, why: str, t: int
) -> None:
    (tmp_path / name).write_text(text)
    options = ("--session", "bad", "--model", "linear", "--block", "2")
    result = run("push", str(tmp_path / name), *options, url=address)
    assert result.exit_code == 1
    assert why in one_line(result)
    assert f"{t} samples are learnt, the same command goes on there" in result.stderr
    assert client.session("bad").state().t == t


@pytest.mark.parametrize(
    ("arguments", "code", "why"),
    [
        (["--session", "nobody"], 1, "give --model to create it"),
        (["--model", "nonsense"], 1, "not valid"),
        (["--model", "linear", "--label-column", "price"], 1, "no column 'price'"),
        (["--model", "linear", "--format", "xlsx"], 2, "xlsx"),
        (["--model", "linear", "--option", "classes"], 2, "NAME=VALUE"),
        (["--model", "linear", "--delimiter", ";;"], 2, "one character"),
        (["--model", "linear", "--delimiter", ""], 2, "one character"),
    ],
)
def test_what_cannot_be_pushed_is_told(
    client: Client, address: str, tmp_path: Path, arguments: list[str], code: int, why: str
) -> None:
    result = run("push", str(write(tmp_path, "csv")), *arguments, url=address)
    assert result.exit_code == code
    assert why in result.stderr
    assert "Traceback" not in result.output


@pytest.mark.parametrize("given", ["tab", "\\t", "\t"])
def test_a_tab_can_be_named(client: Client, address: str, tmp_path: Path, given: str) -> None:
    file = tmp_path / "tabs.csv"
    file.write_text("1,5\t2\n3,5\t4\n")
    options = ("--model", "gaussian", "--delimiter", given)
    assert run("push", str(file), *options, url=address).exit_code == 0
    assert client.session("tabs").state().t == 1  # the first row has more than numbers: names


def test_a_part_that_is_more_than_a_request_is_learnt_and_counted_to_where_it_came(
    client: Client, address: str, tmp_path: Path
) -> None:
    line = '{"x": [%s], "y": %s}\n'  # numbers that are longer when they are sent
    many = ",".join(["1e-5"] * 99 + ["1e15"] * 900)
    file = tmp_path / "wide.ndjson"
    file.write_text("".join(line % (many, y) for y in ["1"] * 180 + ['"x"'] + ["1"]))
    result = run("push", str(file), "--model", "linear", "--block", "1000", url=address)
    assert result.exit_code == 1
    assert "line 181: must be a number" in one_line(result)
    t = client.session("wide").state().t
    assert 0 < t <= 180
    assert f"{t} samples are learnt" in result.stderr
    file.write_text("".join(line % (many, 1) for _ in range(182)))
    assert run("push", str(file), url=address).exit_code == 0
    assert client.session("wide").state().t == 182


@pytest.fixture
def long(tmp_path: Path) -> tuple[Path, Any, Any]:
    """A file that takes a while, sample by sample."""
    X, y = RNG.normal(size=(900, 3)), RNG.normal(size=900)
    return write(tmp_path, "csv", X, y), X, y


@pytest.mark.parametrize(("signal", "code"), [("kill", -9), ("interrupt", 130)])
def test_a_push_that_is_stopped_half_way_goes_on_exactly_there(
    client: Client, address: str, long: tuple[Path, Any, Any], signal: str, code: int
) -> None:
    file, X, y = long
    session = client.session("long", model="linear", dim=3)
    pushed = ("push", str(file), "--session", "long", "--block", "3")
    with llr(*pushed, url=address) as push:
        for state in session.events():
            if state.t >= 60:
                push.kill() if signal == "kill" else push.send_signal(2)
                break
        assert push.wait(20) == code
    half = session.state().t
    assert 60 <= half < 900
    result = run("push", str(file), "--session", "long", url=address)
    assert result.exit_code == 0
    assert f"{half:,} samples were sent before" in result.stderr.replace("\n", " ")
    assert_learnt(session.state(), X, y)


def test_a_service_that_dies_is_waited_for(long: tuple[Path, Any, Any], tmp_path: Path) -> None:
    file, X, y = long
    store = f"sqlite:///{tmp_path / 'llr.db'}"
    with ExitStack() as pushing:
        with serving(store) as address, Client(address) as client:
            session = client.session("long", model="linear", dim=3)
            pushed = ("push", str(file), "--session", "long", "--block", "3")
            push = pushing.enter_context(llr(*pushed, url=address))
            next(state for state in session.events() if state.t >= 60)
        assert push.stderr is not None
        assert "trying again for 300 s" in push.stderr.readline()
        with serving(store, port=address.rpartition(":")[2]), Client(address) as client:
            told, said = push.communicate(timeout=60)
            state = client.session("long").state()
    assert (push.returncode, "the service answers again" in said) == (0, True)
    assert told.startswith("long: 900 samples sent")
    assert_learnt(state, X, y)


def test_a_service_that_stays_away_is_3_and_says_how_to_go_on(
    long: tuple[Path, Any, Any],
) -> None:
    options = ("--session", "long", "--block", "3", "--patience", "0.2")
    with ExitStack() as pushing:
        with serving("memory:") as address, Client(address) as client:
            session = client.session("long", model="linear", dim=3)
            push = pushing.enter_context(llr("push", str(long[0]), *options, url=address))
            next(state for state in session.events() if state.t >= 60)
        _, said = push.communicate(timeout=60)
    assert push.returncode == 3
    assert "the same command goes on there" in said.splitlines()[-1]


@pytest.mark.parametrize("kind", ["csv", "npy", "ndjson", "parquet"])
def test_a_column_may_hold_weights(client: Client, address: str, tmp_path: Path, kind: str) -> None:
    w = np.arange(25) % 4 / 2
    names, table = ["a", "b", "w", "y"], np.column_stack([X[:, :2], w, Y])
    file = tmp_path / f"weighed.{kind}"
    if kind == "csv":
        lines = [",".join(map(repr, row)) for row in table.tolist()]
        file.write_text("\n".join([",".join(names), *lines]))
    elif kind == "npy":
        np.save(file, table)
    elif kind == "parquet":
        parquet.write_table(pyarrow.table(dict(zip(names, table.T, strict=True))), file)
    else:
        rows = [dict(zip(names, row, strict=True)) for row in table.tolist()]
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    column = "2" if kind == "npy" else "w"
    options = ("--model", "linear", "--label-column", "3" if kind == "npy" else "y")
    result = run("push", str(file), "--weight", column, *options, url=address)
    assert result.exit_code == 0, result.output
    learner = Learner("linear", 2, regret="exact")
    assert learner.learn(X[:, :2], Y, w=w)
    assert client.session("weighed").state().theta == learner.theta.tolist()


def test_labels_may_be_the_names_of_classes(client: Client, address: str, tmp_path: Path) -> None:
    words = ["yes" if y > 0 else "no" for y in Y]
    file = tmp_path / "words.csv"
    rows = [f"{x[0]!r},{x[1]!r},{word}" for x, word in zip(X.tolist(), words, strict=True)]
    file.write_text("\n".join(["a,b,y", *rows[:20]]))
    options = ("--model", "logistic", "--classes", "no,yes")
    result = run("push", str(file), *options, url=address)
    assert result.exit_code == 0, result.output
    file.write_text("\n".join(["a,b,y", *rows]))
    assert run("push", str(file), url=address).exit_code == 0
    learner = Learner("logistic", 2)
    assert learner.learn(X[:, :2], [float(word == "yes") for word in words])
    state = client.session("words").state()
    assert (state.t, state.theta) == (25, learner.theta.tolist())
    assert run("predict", "words", "[5, 5]", "--id", "a", url=address).stdout.strip() in (
        "no",
        "yes",
    )
    label = run("label", "words", "a", "yes", "--weight", "2", url=address)
    assert label.stdout.startswith("words: 1 learnt")
    file.write_text("a,b,y\n1,2,maybe\n")
    wrong = run("push", str(file), url=address)
    assert wrong.exit_code != 0
    assert "line 2: 'maybe' is not a class: there are no, yes" in wrong.stderr
