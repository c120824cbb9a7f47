"""The commands that talk to a service: what they print, and how they end."""

import contextlib
import hashlib
import io
import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from llr_cli import tables
from llr_cli.watch import View
from llr_client import Client
from llr_service.http.auth import Role, parse_keys
from rich.console import Console
from support.commands import llr, one_line, run
from support.serving import serving

TALKING = (["sessions"], ["sessions", "show", "demo"], ["watch", "demo"], ["push", "FILE"])


def test_no_sessions_are_said_to_be_none(client: Client, address: str) -> None:
    result = run("sessions", url=address)
    assert (result.exit_code, result.stdout) == (0, "there are no sessions\n")
    assert json.loads(run("sessions", "--json", url=address).stdout) == []


def test_sessions_are_listed_with_their_numbers(client: Client, address: str) -> None:
    client.session("demo", model="gaussian").learn_many([1.0, 2.0, 3.0])
    client.session("empty", model="linear")
    result = run("sessions", url=address)
    assert result.exit_code == 0
    first, second = (line.split("\t") for line in result.stdout.splitlines())
    state = client.session("demo").state()
    assert first[:5] == ["demo", "gaussian", "auto", "1", "3"]
    assert state.metrics is not None
    assert state.metrics.rmse is not None
    assert list(map(float, first[5:8])) == [state.eta, state.loss.recent, state.metrics.rmse.recent]
    assert first[8:] == ["learning", state.last_sample_at]
    assert second[:5] == ["empty", "linear", "auto", "", "0"]
    rows = json.loads(run("sessions", "--json", url=address).stdout)
    assert [(row["name"], row["t"]) for row in rows] == [("demo", 3), ("empty", 0)]
    assert rows[0]["loss"]["mean"] > 0


def test_sessions_are_a_table_on_a_terminal(
    client: Client, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "is_terminal", lambda: True)
    client.session("demo", model="gaussian").learn_many([1.0, 2.0, 3.0])
    shown = run("sessions", url=address).stdout
    assert re.search(r"^session +model +algorithm", shown, re.MULTILINE)
    assert re.search(r"^demo +gaussian +auto +1 +3 +\d.* s ago *$", shown, re.MULTILINE)


def test_a_session_is_created_unless_it_exists(client: Client, address: str) -> None:
    create = ("sessions", "create", "mail", "--model", "logistic", "--classes", "ham,spam")
    for _ in range(2):
        done = run(*create, "--dim", "2", "--retain", url=address)
        assert (done.exit_code, done.stdout) == (0, "mail: logistic, auto, t 0\n")
    config = client.session("mail").state().config
    assert (config["classes"], config["dim"], config["retain"]) == (["ham", "spam"], 2, True)
    other = run(*create, "--eta0", "2", url=address)
    assert (other.exit_code, "exists" in one_line(other)) == (1, True)
    named = ("--named", "--option", "delta=2", "--algorithm", "sg", "--eta0", "1", "--json")
    made = run("sessions", "create", "a", "--model", "huber", *named, url=address)
    config = json.loads(made.stdout)["config"]
    assert (config["named"], config["options"], config["algorithm"]) == (True, {"delta": 2}, "sg")


def test_a_session_is_shown_whole(
    client: Client, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.session("demo", model="linear").learn([0.0] * 20, 1.0)
    pairs = (
        line.split("\t")
        for line in run("sessions", "show", "demo", url=address).stdout.splitlines()
    )
    piped = dict(pairs)
    assert (piped["model"], json.loads(piped["theta"])) == ("linear", [0.0] * 20)
    monkeypatch.setattr(tables, "is_terminal", lambda: True)
    shown = run("sessions", "show", "demo", url=address).stdout
    assert re.search(r"^model +linear$", shown, re.MULTILINE)
    assert re.search(r"^theta +\[0, 0, 0, 0, 0, 0, 0, 0, …\]$", shown, re.MULTILINE)
    state = json.loads(run("sessions", "show", "demo", "--json", url=address).stdout)
    assert (state["t"], len(state["theta"])) == (1, 20)


def test_named_features_are_shown_largest_first(
    client: Client, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "is_terminal", lambda: True)
    names = {f"n{i}": 1.0 for i in range(30)} | {"\x1b[31m": 2.0}
    client.session("demo", model="linear", algorithm="sg", eta0=0.5).learn(names, 1.0)
    shown = run("sessions", "show", "demo", url=address).stdout
    assert re.search(r"^theta +\\x1b\[31m \S+, n0 \S+, .*, … 11 more$", shown, re.MULTILINE)
    assert re.search(r"^features +known 31, ", shown, re.MULTILINE)
    view = View(live=True)
    view.add(client.session("demo").state())
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(view)
    told = console.export_text()
    assert "31 named features" in told
    assert re.search(r"x1b\[31m \S+, n0 \S+, ", told)


def test_a_session_is_forked(client: Client, address: str) -> None:
    client.session("demo", model="gaussian").learn_many([1.0, 2.0])
    told = run("sessions", "fork", "demo", "twin", url=address).stdout
    assert told == "twin is a fork of demo: the same to the last bit, t 2\n"
    told = run("sessions", "fork", "demo", "rival", "--algorithm", "sg/ag", url=address).stdout
    assert told == "rival is a fork of demo: sg/ag from its theta, t 0\n"
    shown = run("sessions", "fork", "demo", "other", "--eta0", "2", "--json", url=address).stdout
    assert json.loads(shown)["config"]["eta0"] == 2
    refused = run("sessions", "fork", "demo", "twin", url=address)
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert "exists" in refused.stderr


def test_a_what_if_is_waited_for(client: Client, address: str) -> None:
    client.session("demo", "gaussian", algorithm="sg/ag", retain=True).learn_many([1.0, 2.0])
    fork = ("sessions", "fork", "demo")
    told = run(*fork, "what-if", "--algorithm", "sg", "--relearn", url=address).stdout
    assert re.fullmatch(
        r"what-if is a fork of demo: sg on its 2 samples, mean loss \S+, t 2\n", told
    )
    shown = run(*fork, "later", "--relearn", "--no-wait", "--json", url=address).stdout
    assert json.loads(shown)["relearning"]["of"] == 2
    stopped = run(*fork, "far", "--algorithm", "sg", "--eta0", "1e300", "--relearn", url=address)
    assert stopped.exit_code == 1
    assert "leave the finite numbers" in one_line(stopped)
    assert "goes on" not in stopped.stderr
    client.session("plain", "gaussian").learn_many([1.0, 2.0])
    refused = run("sessions", "fork", "plain", "no", "--relearn", url=address)
    assert (refused.exit_code, "retain" in one_line(refused)) == (1, True)


def test_a_prediction_is_labelled_later_and_once(
    client: Client, address: str, tmp_path: Path
) -> None:
    session = client.session("late", "linear", dim=2, algorithm="sg/ag")
    assert run("predict", "late", "[1, 2]", "--id", "a", url=address).stdout == "0.0\n"
    shown = run("predict", "late", "[[1, 2], [2, 1]]", "--json", url=address).stdout
    assert json.loads(shown) == {"predictions": [0.0, 0.0]}
    session.predict([[1, 1], [2, 2]], id=["b", "c"])
    assert run("label", "late", "a", "1.5", url=address).stdout == "late: 1 learnt, t 1\n"
    file = tmp_path / "labels.ndjson"
    file.write_text('{"id": "a", "y": 1}\n\n{"id": "c", "y": 2}\n')
    told = run("label", "late", "--file", str(file), "--json", url=address).stdout
    assert json.loads(told) == {"name": "late", "learnt": 1, "t": 2}
    file.write_text('{"id": "b", "y": 1}\n{"y": 2}\n')
    refused = run("label", "late", "--file", str(file), url=address)
    assert (refused.exit_code, "labels.ndjson:2" in one_line(refused)) == (1, True)
    assert session.state().t == 2
    unknown = run("label", "late", "z", "1", url=address)
    assert (unknown.exit_code, "z: unknown or expired" in one_line(unknown)) == (1, True)


@pytest.mark.parametrize(
    "arguments",
    [("label", "late"), ("label", "late", "a"), ("label", "late", "a", "1", "--file", "-")],
)
def test_a_label_needs_an_id_and_a_number_or_a_file(arguments: tuple[str, ...]) -> None:
    result = run(*arguments)
    assert (result.exit_code, "--file" in one_line(result)) == (2, True)


def test_sessions_are_deleted_only_by_those_who_mean_it(client: Client, address: str) -> None:
    for name in ("one", "two", "three"):
        client.session(name, model="gaussian")
    refused = run("sessions", "delete", "one", url=address)
    assert (refused.exit_code, "--yes" in one_line(refused)) == (2, True)
    done = run("sessions", "delete", "one", "two", "--yes", url=address)
    assert (done.exit_code, done.stdout) == (0, "one is deleted\ntwo is deleted\n")
    assert [row.name for row in client.sessions()] == ["three"]


def test_an_option_before_the_subcommand_is_not_forgotten(address: str) -> None:
    result = run("sessions", "--url", address, "show", "demo")
    assert (result.exit_code, "after 'show'" in one_line(result)) == (2, True)


@pytest.mark.parametrize(
    "arguments",
    [
        ["sessions", "show", "nobody"],
        ["sessions", "delete", "nobody", "-y"],
        ["watch", "nobody"],
    ],
    ids=" ".join,
)
def test_a_session_that_is_not_there_is_refused(address: str, arguments: list[str]) -> None:
    result = run(*arguments, url=address)
    assert (result.exit_code, "no such session" in one_line(result)) == (1, True)


@pytest.mark.parametrize("arguments", TALKING, ids=" ".join)
def test_nobody_there_is_3(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("llr_cli.options.SHORT_PATIENCE", 0.0)
    (tmp_path / "a.csv").write_text("1,2\n")
    arguments = [str(tmp_path / "a.csv") if word == "FILE" else word for word in arguments]
    result = run(*arguments)
    assert (result.exit_code, "nothing answers" in one_line(result)) == (3, True)


@pytest.mark.parametrize("arguments", TALKING, ids=" ".join)
def test_the_password_of_an_address_is_not_repeated(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("llr_cli.options.SHORT_PATIENCE", 0.0)
    (tmp_path / "a.csv").write_text("1,2\n")
    arguments = [str(tmp_path / "a.csv") if word == "FILE" else word for word in arguments]
    told = one_line(run(*arguments, url="http://me:secret@127.0.0.1:1"))
    assert ("secret" in told, "me:" in told, "http://127.0.0.1:1:" in told) == (False, False, True)


@pytest.mark.parametrize(
    "arguments",
    [
        ["sessions", "show", "a/b"],
        ["sessions", "fork", "a", "a/b"],
        ["sessions", "delete", "demo", "a b", "--yes"],
        ["sessions", "--key", "ключ"],
        ["watch", ".."],
        ["push", "no such file"],
        ["keys", "a b"],
        ["keys", "acme", "--prefix", "acme"],
    ],
    ids=" ".join,
)
def test_what_cannot_be_is_a_wrong_use(arguments: list[str]) -> None:
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")


@pytest.mark.parametrize("url", ["ftp://here", "http://"])
def test_an_address_that_is_none_is_a_wrong_use(url: str) -> None:
    result = run("sessions", "--url", url)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "address" in result.stderr


def test_keys_are_taken_from_the_option_or_the_environment(tmp_path: Path) -> None:
    made = json.loads(run("keys", "me", "--role", "admin", "--json").stdout)
    with serving("memory:", api_keys=made["entry"]) as address:
        refused = run("sessions", url=address)
        assert (refused.exit_code, "key" in one_line(refused)) == (1, True)
        assert run("sessions", "--key", made["key"], url=address).exit_code == 0
        assert run("sessions", url=address, LLR_KEY=made["key"]).exit_code == 0


@pytest.mark.parametrize("role", list(map(str, Role)))
def test_a_new_key_is_one_the_service_takes(role: str) -> None:
    result = run("keys", "sensor-7", "--role", role)
    key, entry = (line.split()[-1] for line in result.stdout.splitlines())
    (known,) = parse_keys(entry)
    assert (known.name, str(known.role)) == ("sensor-7", role)
    assert known.digest == hashlib.sha256(key.encode()).digest()
    assert re.fullmatch(r"llr_[\w-]{40,}", key, re.ASCII)
    assert key not in run("keys", "sensor-7", "--role", role).stdout


def test_a_tenants_key_has_its_prefix() -> None:
    made = json.loads(run("keys", "acme", "--prefix", "acme-", "--json").stdout)
    (known,) = parse_keys(made["entry"])
    assert (known.role, known.prefix, made["prefix"]) == (Role.WRITE, "acme-", "acme-")


def test_watching_in_a_pipe_prints_a_line_a_state(client: Client, address: str) -> None:
    client.session("demo", model="gaussian").learn_many([1.0, 2.0])
    result = run("watch", "demo", "--count", "1", url=address)
    assert result.exit_code == 0
    assert re.fullmatch(r"t 2  η [\d.]+  recent loss [\d.]+  regret \S+  0/s  ok\n", result.stdout)
    (line,) = run("watch", "demo", "--count", "1", "--json", url=address).stdout.splitlines()
    assert json.loads(line)["t"] == 2


def test_watching_follows_and_ends_with_the_session(client: Client, address: str) -> None:
    session = client.session("demo", model="gaussian")
    with llr("watch", "demo", "--json", url=address) as watching:
        seen = []
        for line in watching.stdout or ():
            seen.append(json.loads(line)["t"])
            session.learn(1.0) if seen[-1] < 3 else session.delete()
        assert watching.wait(20) == 0
    assert seen == [0, 1, 2, 3]


def test_a_service_that_restarts_goes_on_being_watched(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 'llr.db'}"
    with contextlib.ExitStack() as watched:
        with serving(store) as address, Client(address) as client:
            client.session("demo", model="gaussian").learn(1.0)
            watching = watched.enter_context(llr("watch", "demo", "--count", "2", url=address))
            assert watching.stdout is not None
            assert watching.stdout.readline().startswith("t 1 ")
        assert watching.stderr is not None
        assert "does not answer" in watching.stderr.readline()
        with serving(store, port=address.rpartition(":")[2]), Client(address) as client:
            client.session("demo").learn(2.0)
            assert watching.stdout.readline().startswith("t 2 ")
            assert watching.wait(20) == 0


def test_ctrl_c_ends_watching_with_130(client: Client, address: str) -> None:
    client.session("demo", model="gaussian")
    with llr("watch", "demo", url=address) as watching:
        assert watching.stdout is not None
        watching.stdout.readline()
        watching.send_signal(signal.SIGINT)
        assert watching.wait(20) == 130
        assert watching.stderr is not None
        assert watching.stderr.read() == "llr: stopped\n"


def test_the_live_view_shows_the_numbers_their_course_and_trouble(client: Client) -> None:
    from rich.console import Console

    session, view, console = client.session("demo", model="gaussian"), View(True), Console(width=90)
    for y in (5.0, 0.0, 5.0):
        session.learn(y)
        view.add(session.state())
    with console.capture() as capture:
        console.print(view)
    shown = capture.get()
    assert "demo: gaussian, auto, dim 1" in shown
    assert "t 3 " in shown
    assert len(re.findall(r"[▁▂▃▄▅▆▇█]{3}", shown)) == 2
    view.report_lost(Exception("the wire is cut"))  # type: ignore[arg-type]
    with console.capture() as capture:
        console.print(view)
    assert "the wire is cut" in capture.get()


@pytest.mark.parametrize(("words", "code"), [(["serve", "--help"], 0), (["doctor", "llr.db"], 2)])
def test_a_file_of_the_working_directory_is_not_taken_for_the_library(
    tmp_path: Path, words: list[str], code: int
) -> None:
    for name in ("llr.py", "llr_service.py", "numpy.py"):
        (tmp_path / name).write_text("raise SystemExit('not the library')")
    command = [str(Path(sys.executable).with_name("llr")), *words]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)  # noqa: S603
    assert "not the library" not in done.stdout + done.stderr
    assert done.returncode == code, done.stderr
