"""The checker of histories finds what cannot be, and lets pass what can."""

import json
from pathlib import Path

import pytest
from support.checker import Seen, check

from stress.journal import Journal, load
from stress.recorded import PLANTED, plant

NAME = "store demo"


def _history() -> list[Seen]:
    """Two producers, an answer that was lost, and looks between them."""
    rows = [
        Seen(NAME, "make", status=201, t=0, version=0, digest="0"),
        Seen(NAME, "learn", 3, "a", 0, True, 200, 3, 0, "3", 3),
        Seen(NAME, "read", status=200, t=3, version=0, digest="3"),
        Seen(NAME, "learn", 2, "b", 0, True, None),
        Seen(NAME, "learn", 2, "a", 3, True, 200, 7, 0, "7", 2),
        Seen(NAME, "read", status=200, t=7, producers={"a": 5, "b": 2}, summed=True),
        Seen(NAME, "learn", 2, "b", 0, True, 200, 7, 0, "7", 0),
        Seen(NAME, "read", status=200, t=7, version=0, digest="7"),
    ]
    for place, one in enumerate(rows):
        one.asked, one.told = 2.0 * place, 2.0 * place + 1
    return rows


def test_a_history_that_can_be_breaks_no_rule() -> None:
    checker, faults = check(_history())
    assert faults == []
    assert all(checker.counts.values())


@pytest.mark.parametrize("name", PLANTED)
def test_a_violation_that_is_planted_is_found(name: str) -> None:
    assert plant(_history(), name) is True


def test_a_look_that_began_before_an_answer_may_miss_it() -> None:
    history = _history()
    history[2].t, history[2].asked, history[2].digest = 0, 2.5, ""
    assert check(history)[1] == []
    history[2].asked = 3.5
    assert "after 3 was told" in check(history)[1][0]


def test_a_name_may_stand_for_another_session_after_a_deletion() -> None:
    history = [*_history(), Seen(NAME, "delete", status=204, asked=20.0, told=21.0)]
    again = [
        Seen(NAME, "make", status=201, t=0, asked=22.0, told=23.0),
        Seen(NAME, "read", status=200, t=0, version=0, digest="0", asked=24.0, told=25.0),
    ]
    assert check([*history, *again])[1] == []
    lost = Seen(NAME, "read", status=200, t=1, asked=26.0, told=27.0)
    assert "0 samples were sent" in check([*_history(), *history[8:], *again, lost])[1][0]


def test_a_journal_reads_requests_and_answers(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "history.jsonl")
    journal.serves("here:1", "memory:")

    def ask(method: str, path: str, body: object, status: int | None, answer: object) -> None:
        sent = json.dumps(body).encode()
        seen = journal.asked("here:1", method, path, sent, "application/json")
        journal.answered(seen, status, json.dumps(answer).encode())

    told = {"theta": [0.5], "log_eta": 0.0, "loss": {"total": 1.0}}
    ask("PUT", "/v1/sessions/a%20b", {}, 201, {"t": 0, **told})
    samples = [{"x": [1.0], "y": 1.0}] * 2
    path = "/v1/sessions/a%20b/samples?producer=p&seq=4"
    ask("POST", path, samples, 200, {"t": 2, "accepted": 2, **told})
    ask("POST", path, {"x": [[1.0]], "y": [1.0]}, None, {})
    ask(
        "GET",
        "/v1/sessions/a%20b/snapshot",
        None,
        200,
        {"t": 2, "state": {}, "producers": {"p": 6}},
    )
    ask("GET", "/livez", None, 200, {})
    journal.close()
    made, learnt, lost, snapshot = load(journal.path)
    assert made.session == learnt.session == "memory: a b"
    assert (learnt.n, learnt.producer, learnt.seq, learnt.accepted) == (2, "p", 4, 2)
    assert (learnt.t, learnt.version, learnt.digest, learnt.whole) == (2, 0, made.digest, True)
    assert (lost.status, lost.n) == (None, 1)
    assert (snapshot.producers, snapshot.summed, snapshot.kind) == ({"p": 6}, True, "read")
