"""`llr connect kafka` against librdkafka's mock cluster: every message is learnt once."""

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from llr_client import Client
from support.commands import one_line, run
from support.connecting import COUNT, X, Y, connector, finished, sample, stopped, until
from support.kafka import MockKafka, mock_kafka
from support.sample_files import assert_learnt

import llr

FAST = ["--property", "session.timeout.ms=6000", "--property", "heartbeat.interval.ms=500"]


@pytest.fixture
def kafka() -> Iterator[MockKafka]:
    with mock_kafka() as cluster:
        yield cluster


def command(kafka: MockKafka, *more: str, session: str = "demo") -> list[str]:
    told = ["kafka", "readings", "--servers", kafka.servers, "--session", session]
    return [*told, "--model", "linear", *FAST, *more]


def values(first: int = 0, last: int = COUNT) -> list[str]:
    return [sample(number) for number in range(first, last)]


def test_a_message_is_learnt_once_however_often_the_connector_is_killed(
    client: Client, address: str, kafka: MockKafka, tmp_path: Path
) -> None:
    """The position is the service's: other groups each time, so that none is committed."""
    client.session("demo", model="linear")
    kafka.send("readings", *values())
    for run_number, mark in enumerate((30, 200)):
        more = command(kafka, "--batch", "3", "--group", f"g{run_number}")
        with connector(*more, url=address, home=tmp_path) as it:
            until(client, "demo", mark)
            it.kill()
        assert client.session("demo").state().t < COUNT
    last = command(kafka, "--group", "last")
    with connector(*last, url=address, home=tmp_path) as it:
        until(client, "demo", COUNT)
        told, said = stopped(it)
    assert (it.returncode, said) == (0, "")
    assert told.startswith("demo: ")
    assert_learnt(client.session("demo").state(), X, Y)
    assert kafka.committed("last", "readings") == COUNT


def keyed(number: int) -> str:
    return "abc"[number % 3]


def assert_keyed(client: Client) -> None:
    """Each key's session is what learning its samples directly makes of it."""
    for key in "abc":
        chosen = [number for number in range(COUNT) if keyed(number) == key]
        assert_learnt(client.session(f"by-{key}").state(), X[chosen], Y[chosen])


def test_sessions_by_key_drop_what_comes_again(
    client: Client, address: str, kafka: MockKafka, tmp_path: Path
) -> None:
    """A killed connector's offsets are committed late or never; no sample is learnt twice."""
    for number in range(COUNT):
        kafka.producer.produce("readings", sample(number), key=keyed(number), partition=0)
    kafka.producer.flush(30)
    client.session("by-a", model="linear")
    with connector(
        *command(kafka, "--batch", "7", session="by-{key}"), url=address, home=tmp_path
    ) as it:
        until(client, "by-a", 40)
        it.kill()
    # another group starts from the first message: what is known is dropped
    again = command(kafka, "--group", "other", "--json", session="by-{key}")
    with connector(*again, url=address, home=tmp_path) as it:
        until(client, "by-c", COUNT // 3)
        until(client, "by-a", COUNT // 3)
        until(client, "by-b", COUNT // 3)
        told, said = stopped(it)
    assert (it.returncode, said) == (0, "")
    report = json.loads(told)
    assert report["repeated"] >= 120
    assert report["learnt"] + report["repeated"] == COUNT
    assert_keyed(client)


def test_two_connectors_share_the_partitions_and_one_takes_over(
    client: Client, address: str, kafka: MockKafka, tmp_path: Path
) -> None:
    for partition in range(4):
        kafka.send("readings", *values(0, 60), partition=partition)
    names = [f"part-{partition}" for partition in range(4)]
    for name in names:
        client.session(name, model="linear")
    more = command(kafka, "--batch", "2", session="part-{partition}")
    with connector(*more, url=address, home=tmp_path) as first:
        until(client, "part-0", 10)
        with connector(*more, url=address, home=tmp_path) as second:
            for partition in range(4):
                kafka.send("readings", *values(60, 200), partition=partition)
            until(client, "part-3", 100)
            first.send_signal(signal.SIGKILL)
            for partition in range(4):
                kafka.send("readings", *values(200, COUNT), partition=partition)
            for name in names:
                until(client, name, COUNT)
            assert stopped(second)[1] == ""
    for name in names:
        assert_learnt(client.session(name).state(), X, Y)


def test_poison_stops_at_its_place_and_may_be_skipped_to_a_topic(
    client: Client, address: str, kafka: MockKafka, tmp_path: Path
) -> None:
    kafka.send("readings", sample(0), "no json", None, sample(1), '{"x": [1], "y": 2}', sample(2))
    code, _, said = finished(*command(kafka), url=address, home=tmp_path)
    assert code == 1
    assert "readings[0] offset 1 cannot be learnt: not JSON" in said
    more = ["--bad", "skip", "--dead-letter", "letters", "--count", "2"]
    code, _, said = finished(*command(kafka, *more), url=address, home=tmp_path)
    assert code == 0, said
    assert_learnt(client.session("demo").state(), X[:3], Y[:3])
    letters = [letter for p in range(4) for letter in kafka_letters(kafka, p)]
    assert sorted(letters) == [
        ("readings[0] offset 1", b"no json"),
        ("readings[0] offset 2", None),
        ("readings[0] offset 4", b'{"x": [1], "y": 2}'),
    ]


def kafka_letters(kafka: MockKafka, partition: int) -> list[tuple[str, Any]]:
    """The dead letters of a partition, with the places they name."""
    count = kafka.size("letters", partition)
    found = kafka.messages("letters", count, partition) if count else []
    return [(dict(one.headers())["llr-place"].decode(), one.value()) for one in found]


def test_a_skipped_end_is_not_read_again(
    client: Client, address: str, kafka: MockKafka, tmp_path: Path
) -> None:
    """The service's number moves past a last message that was skipped."""
    kafka.send("readings", sample(0), "no json")
    with connector(*command(kafka, "--bad", "skip"), url=address, home=tmp_path) as it:
        assert it.stderr is not None
        assert "offset 1 is left out" in it.stderr.readline()
        kafka.send("readings", sample(1))
        until(client, "demo", 2)
    cluster = kafka.producer.list_topics(timeout=30).cluster_id
    demo = client.session("demo", producer=f"kafka:{cluster}:readings:0")
    assert demo.acked() == 3


def test_csv_headers_and_a_session_by_field(
    client: Client, address: str, kafka: MockKafka, tmp_path: Path
) -> None:
    for number in range(20):
        row = f"{'ab'[number % 2]},{float(X[number, 0])!r},{float(Y[number])!r}"
        load = [("load", repr(float(X[number, 1])).encode())]
        kafka.send("readings", row, headers=load)
    more = ["--format", "csv", "--header", "town,size,price", "--label-column", "price"]
    more += ["--headers", "load", "--count", "20", "--metrics", "127.0.0.1:0"]
    code, _, said = finished(
        *command(kafka, *more, session="flats-{value.town}"), url=address, home=tmp_path
    )
    assert code == 0, said
    for place, town in enumerate("ab"):
        chosen = slice(place, 20, 2)
        assert_learnt(client.session(f"flats-{town}").state(), X[chosen, :2], Y[chosen])


def test_a_wrong_address_and_wrong_options_are_reported(address: str) -> None:
    nowhere = ["kafka", "t", "--servers", "127.0.0.1:1", "--session", "demo"]
    away = run("connect", *nowhere, url=address)
    assert away.exit_code == 3
    assert "127.0.0.1:1 does not answer" in one_line(away)
    for wrong in (["--dead-letter", "t"], ["--property", "x"], ["--session", "{nothing}"]):
        assert run("connect", *nowhere, *wrong, url=address).exit_code == 2
    unknown = run("connect", *nowhere, "--property", "no.such=1", url=address)
    assert unknown.exit_code == 1


def test_new_messages_alone_if_asked(
    client: Client, address: str, kafka: MockKafka, tmp_path: Path
) -> None:
    kafka.send("readings", *values(0, 5))
    with connector(
        *command(kafka, "--start", "latest", "--dim", "3"), url=address, home=tmp_path
    ) as it:
        cluster = kafka.producer.list_topics(timeout=30).cluster_id
        client.session("demo", model="linear", dim=3)
        demo = client.session("demo", producer=f"kafka:{cluster}:readings:0")
        while demo.acked() < 5:  # its start is durable
            assert it.poll() is None
        kafka.send("readings", *values(5, 9))
        until(client, "demo", 4)
    learner = llr.Learner("linear", 3, regret="exact")
    assert learner.learn(X[5:9], Y[5:9])
    assert client.session("demo").state().theta == learner.theta.tolist()


def test_keys_that_look_alike_have_sessions_of_their_own(
    client: Client, address: str, kafka: MockKafka, tmp_path: Path
) -> None:
    for key in (b"a/b", b"a b", b"a_b", "é".encode(), "ü".encode(), b"\xff", b"\xfe"):
        kafka.producer.produce("readings", sample(0), key=key, partition=0)
    kafka.producer.flush(30)
    more = command(kafka, "--count", "7", session="by-{key}")
    code, _, said = finished(*more, url=address, home=tmp_path)
    assert code == 0, said
    names = [one.name for one in client.sessions()]
    assert len(names) == 7
    assert "by-a_b" in names


def test_weights_and_classes_are_learnt(
    client: Client, address: str, kafka: MockKafka, tmp_path: Path
) -> None:
    kafka.send("readings", *(sample(number, w=2.5) for number in range(5)))
    code, _, said = finished(*command(kafka, "--count", "5"), url=address, home=tmp_path)
    assert code == 0, said
    learner = llr.Learner("linear", 3, regret="exact")
    assert learner.learn(X[:5], Y[:5], w=2.5)
    assert client.session("demo").state().theta == learner.theta.tolist()
    mail = [{"words": n % 7, "kind": "spam" if n % 2 else "ham", "w": 2} for n in range(6)]
    kafka.send("mail", *map(json.dumps, mail))
    flat = ["kafka", "mail", "--servers", kafka.servers, "--session", "mail", *FAST]
    flat += ["--model", "logistic", "--classes", "ham,spam", "--label-column", "kind"]
    flat += ["--weight", "w", "--named", "--count", "6"]
    code, _, said = finished(*flat, url=address, home=tmp_path)
    assert code == 0, said
    filter_ = llr.NamedLearner("logistic", classes=["ham", "spam"])
    for each in mail:
        assert filter_.learn({"words": each["words"]}, each["kind"], w=2.0)
    assert client.session("mail").state().theta == filter_.theta


def test_an_assignment_that_moves_single_partitions_is_refused(address: str) -> None:
    nowhere = ["kafka", "t", "--servers", "127.0.0.1:1", "--session", "demo"]
    sticky = "partition.assignment.strategy=cooperative-sticky"
    found = run("connect", *nowhere, "--property", sticky, url=address)
    assert found.exit_code == 1
    assert "range or roundrobin" in one_line(found)
