"""The SDK against the app: everything it does, and that its two shells do the same."""

import inspect
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import httpx
import llr_client
import numpy as np
import pytest
from llr_client import AsyncClient, AsyncSession, Client, Session, errors
from llr_client.answers import Features
from support.flaky import URL, Flaky, Scripted, Time, lines
from support.samples_of import options_of, samples_of

import llr

RNG = np.random.default_rng(5)
X = RNG.normal(size=(60, 3))
Y = X @ [1.0, -2.0, 3.0]


@pytest.fixture
def sdk(flaky: Flaky) -> Iterator[Client]:
    """A client; what its test created is deleted afterwards."""
    with Client(URL, transport=flaky, clock=Time().clock) as client:
        yield client
        for row in client.sessions():
            client.session(row.name).delete()


def direct(X: Any, y: Any, **config: Any) -> llr.Learner:
    learner = llr.Learner("linear", X.shape[1], regret="exact", **config)
    assert learner.learn(X, y)
    return learner


def test_the_public_names_are_few_sorted_and_documented() -> None:
    assert len(llr_client.__all__) <= 15
    assert llr_client.__all__ == sorted(llr_client.__all__)
    for name in llr_client.__all__:
        assert getattr(llr_client, name).__doc__, name


def test_only_documented_modules_are_public() -> None:
    modules = {module.name for module in pkgutil.iter_modules(llr_client.__path__)}
    public = {name for name in modules if not name.startswith("_")}
    assert public == {"answers", "errors", "retries", "syntax"}
    assert all(f"`{name}`" in (llr_client.__doc__ or "") for name in public)


def test_importing_the_sdk_is_light() -> None:
    heavy = {"llr", "numba", "numpy", "typer", "llr_service", "fastapi", "pydantic"}
    code = "import sys, llr_client; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert not heavy & set(done.stdout.split())


@pytest.mark.parametrize(("one", "other"), [(Client, AsyncClient), (Session, AsyncSession)])
def test_what_waits_and_what_is_awaited_take_the_same(one: type, other: type) -> None:
    def public(kind: type) -> dict[str, list[str]]:
        methods = inspect.getmembers(kind, inspect.isfunction)
        kept = [(n, m) for n, m in methods if n[0] != "_" or n == "__init__"]
        return {name: list(inspect.signature(m).parameters) for name, m in kept}

    assert public(one) == public(other)


def test_a_sample_is_learnt_as_the_library_learns_it(sdk: Client) -> None:
    session = sdk.session("one", model="linear", dim=3)
    answer = session.learn(X[0], Y[0])
    learner = direct(X[:1], Y[:1])
    assert (answer.name, answer.t, answer.accepted, answer.duplicate) == ("one", 1, 1, False)
    assert (answer.eta, answer.log_eta) == (learner.eta, learner.log_eta)
    assert answer.theta == learner.theta.tolist()
    assert (answer.loss.total, answer.loss.mean) == (learner.loss.total, learner.loss.mean)
    assert answer.regret.best_fixed == learner.regret.best_fixed


@pytest.mark.parametrize("model", llr.MODELS)
def test_every_model_learns_one_many_and_streamed_alike(sdk: Client, model: str) -> None:
    options = options_of(model)
    config = {"dim": options.pop("dim", None), "options": options}
    samples = samples_of(model, seed=3, n=30)
    rows = list(zip(*samples, strict=True)) if len(samples) == 2 else samples[0].tolist()
    one = sdk.session("one", model, **config)
    for row in rows:
        one.learn(*row) if isinstance(row, tuple) else one.learn(row)
    many = sdk.session("many", model, **config).learn_many(*samples, chunk_bytes=100)
    *_, streamed = sdk.session("streamed", model, **config).stream(rows, block=7)
    assert one.state().theta == many.theta == streamed.theta
    assert one.state().loss == many.loss == streamed.loss
    assert (many.t, many.accepted, streamed.t, streamed.accepted) == (30, 30, 30, 2)


def test_labels_alone_may_be_given_by_name_or_by_place(sdk: Client) -> None:
    session = sdk.session("coin", model="bernoulli")
    session.learn(1)
    session.learn(y=0)
    assert session.learn_many([1, 0, True]).t == 5
    assert 0 < session.predict() < 1


def test_numbers_of_numpy_are_numbers(sdk: Client) -> None:
    session = sdk.session("numpy", model="linear", theta0=np.ones(2), dim=2)
    assert session.learn(np.array([1, 2], np.float32), np.float32(0.5)).t == 1
    assert session.learn((1, 2), np.array(3)).t == 2


def test_many_of_32_bits_travel_as_such(sdk: Client, flaky: Flaky) -> None:
    small = X.astype(np.float32), Y.astype(np.float32)
    answer = sdk.session("small", model="linear").learn_many(*small)
    assert len(flaky.requests[-1].content) < 60 * 4 * 4 + 200
    assert answer.theta == direct(*(part.astype(float) for part in small)).theta.tolist()


def test_progress_is_told_after_each_chunk(sdk: Client) -> None:
    told: list[llr_client.Answer] = []
    session = sdk.session("chunks", model="linear")
    last = session.learn_many(X, Y, chunk_bytes=25 * 4 * 8, progress=told.append)
    assert [(answer.t, answer.accepted) for answer in told] == [(25, 25), (50, 50), (60, 60)]
    assert told[-1] == last


def test_theta_can_be_left_out_and_predictions_asked_for(sdk: Client) -> None:
    session = sdk.session("asked", model="linear", dim=3)
    first = session.learn(X[0], Y[0], theta=False, predictions=True)
    assert (first.theta, first.predictions) == (None, [0.0])
    many = session.learn_many(X[1:], Y[1:], theta=False, predictions=True, chunk_bytes=500)
    assert many.theta is None
    assert many.predictions is not None
    assert len(many.predictions) == 59
    assert many.predictions[0] == pytest.approx(float(direct(X[:1], Y[:1]).predict(X[1])))


def test_samples_of_a_stream_may_be_dicts(sdk: Client) -> None:
    session = sdk.session("dicts", model="linear")
    answers = list(session.stream(({"x": x, "y": y} for x, y in zip(X, Y, strict=True)), block=40))
    assert [(answer.t, answer.accepted) for answer in answers] == [(40, 40), (60, 20)]
    assert answers[-1].theta == direct(X, Y).theta.tolist()


def test_a_stream_is_read_no_faster_than_it_is_learnt(sdk: Client) -> None:
    taken = 0

    def samples() -> Iterator[float]:
        nonlocal taken
        for y in range(100):
            taken += 1
            yield y

    answers = sdk.session("slow", model="gaussian").stream(samples(), block=10)
    assert (next(answers).t, taken) == (10, 10)


def test_predictions_are_one_for_a_row_and_many_for_rows(sdk: Client) -> None:
    session = sdk.session("predict", model="linear")
    session.learn_many(X, Y)
    state = session.state()
    assert session.predict(X[0]) == pytest.approx(X[0] @ state.theta + state.intercept, rel=0.01)
    assert session.predict(X[:4])[0] == session.predict(X[0].tolist())
    assert session.state().t == 60


def test_late_labels_are_learnt_in_their_order(sdk: Client) -> None:
    session = sdk.session("late", "linear", dim=3, algorithm="sg/ag", label_seconds=60)
    assert session.predict(X[0], id="a") == 0.0
    assert session.predict(X[1:3], id=("b", "c")) == [0.0, 0.0]
    assert session.state().kept == 3
    assert session.label(["c", "a"], Y[[2, 0]], predictions=True).predictions[0] == 0.0  # type: ignore[index]
    answer = session.label("b", Y[1], theta=False)
    assert (answer.t, answer.accepted, answer.theta) == (3, 1, None)
    assert (
        session.state().theta
        == direct(X[[2, 0, 1]], Y[[2, 0, 1]], algorithm="sg/ag").theta.tolist()
    )
    with pytest.raises(errors.IdNotFound) as unknown:
        session.label("d", 1.0)
    assert unknown.value.errors[0]["id"] == "d"
    with pytest.raises(errors.IdTaken):
        session.predict(X[5], id="a")
    with pytest.raises(ValueError, match="zip"):
        session.label(["a", "b"], [1.0])


def test_the_state_says_all_of_a_session(sdk: Client) -> None:
    config: dict[str, Any] = {"algorithm": "sg/ag", "options": {"memory": True}}
    state = sdk.session("state", "linear", dim=3, eta0=0.01, **config).state()
    assert (state.name, state.t, state.model, state.algorithm) == ("state", 0, "linear", "sg/ag")
    assert (state.dim, state.status, state.eta, state.theta) == (3, "ok", 0.01, [0.0] * 3)
    assert state.config["options"] == {"memory": True}


NAMED: list[dict[str, Any]] = [
    {"rooms": i % 4, "city": ("Rome", "Oslo")[i % 2], "lift": i % 3 == 0} if i % 5 else {}
    for i in range(30)
]


def test_features_may_have_names(sdk: Client) -> None:
    learner = llr.NamedLearner("linear")
    learner.learn(NAMED, Y[:30])
    one, many, streamed = (sdk.session(name, model="linear") for name in ("one", "many", "some"))
    for x, y in zip(NAMED, Y[:30], strict=True):
        answer = one.learn(x, y)
    *_, last = streamed.stream(zip(NAMED, Y[:30], strict=True), block=7)
    whole = many.learn_many(NAMED, Y[:30], chunk_bytes=300)
    assert answer.theta == last.theta == whole.theta == learner.theta
    assert (whole.accepted, whole.t) == (30, 30)
    state = many.state()
    assert isinstance(state.theta, dict)
    assert state.features == Features(known=4, max_features=100_000, hash_bits=18, hashing=False)
    asked: list[dict[str, Any]] = [{"rooms": 2}, {"city": "Rome", "lift": np.bool_(True)}]
    assert many.predict(asked) == learner.predict(asked).tolist()
    assert many.predict(asked[0], id="late") == learner.predict(asked[0])
    assert many.label("late", 1.0).t == 31
    past = one.history(theta=["lift", "city=Rome"])
    assert past.coordinates == ["lift", "city=Rome"]
    assert past.theta[-1] == [learner.theta["lift"], learner.theta["city=Rome"]]
    assert one.fork("twin").state().theta == learner.theta
    with pytest.raises(errors.Invalid, match="an object of named features"):
        many.learn([1.0], 2.0)


def test_dicts_need_their_labels(sdk: Client) -> None:
    session = sdk.session("short", model="linear", named=True, max_features=10, hash_bits=4)
    with pytest.raises(ValueError, match="y is missing"):
        session.learn({"a": 1})
    with pytest.raises(ValueError, match="a number for each"):
        session.learn_many([{"a": 1}], [])
    assert session.state().t == 0


def test_the_past_has_the_points_and_coordinates_asked_for(sdk: Client) -> None:
    session = sdk.session("past", model="linear")
    session.learn_many(X, Y)
    past = session.history(points=10, theta=[2, 0])
    assert (len(past.t), past.t[-1], past.coordinates) == (10, 60, [2, 0])
    state = session.state()
    assert isinstance(state.theta, list)
    assert past.theta[-1] == [state.theta[2], state.theta[0]]
    assert past.loss[-1] == state.loss.total
    assert session.history().coordinates == [0, 1, 2]


def test_a_snapshot_goes_on_elsewhere_to_the_last_bit(sdk: Client) -> None:
    session = sdk.session("origin", model="linear")
    session.learn_many(X[:30], Y[:30])
    twin = sdk.restore("twin", session.snapshot())
    assert twin.learn_many(X[30:], Y[30:]).theta == session.learn_many(X[30:], Y[30:]).theta


def test_a_fork_goes_its_own_way(sdk: Client) -> None:
    session = sdk.session("origin", model="linear", producer="p")
    session.learn_many(X[:30], Y[:30])
    twin = session.fork("twin", producer="p")
    assert (twin.name, twin.acked()) == ("twin", 30)
    assert twin.learn_many(X[30:], Y[30:]).theta == session.learn_many(X[30:], Y[30:]).theta
    rival = session.fork("rival", algorithm="sg/ag", eta0=0.5, theta0=np.zeros(3), regret="off")
    state = rival.state()
    assert (state.t, state.eta, state.algorithm, state.theta) == (0, 0.5, "sg/ag", [0, 0, 0])
    assert rival.learn(X[0], Y[0]).accepted == 1
    with pytest.raises(errors.SessionExists):
        session.fork("rival")
    with pytest.raises(ValueError, match="no session's name"):
        session.fork("a/b")


def test_the_list_goes_over_all_pages(sdk: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("llr_client._operations.PAGE_SIZE", 2)
    names = [f"s{n}" for n in range(5)]
    for name in names:
        sdk.session(name, model="gaussian")
    assert [row.name for row in sdk.sessions()] == names
    assert {row.model for row in sdk.sessions()} == {"gaussian"}


def test_the_catalog_and_the_version_come_as_they_are(sdk: Client) -> None:
    assert {entry["name"] for entry in sdk.catalog()["models"]} == set(llr.MODELS)
    assert sdk.version()["version"] == llr.__version__


def test_a_session_is_created_once_and_found_again(sdk: Client) -> None:
    sdk.session("again", model="linear", dim=3).learn(X[0], Y[0])
    assert sdk.session("again", model="linear", dim=3).state().t == 1
    with pytest.raises(llr_client.SessionExists) as taken:
        sdk.session("again", model="gaussian")
    assert taken.value.extra["config"]["model"] == "linear"


def test_without_a_model_nothing_is_sent(sdk: Client, flaky: Flaky) -> None:
    session = sdk.session("nobody")
    assert flaky.requests == []
    with pytest.raises(llr_client.SessionNotFound):
        session.learn(1.0)
    with pytest.raises(TypeError, match="without a model"):
        sdk.session("nobody", dim=3)


def test_a_deleted_session_is_gone(sdk: Client) -> None:
    session = sdk.session("short", model="gaussian")
    session.delete()
    with pytest.raises(llr_client.SessionNotFound):
        session.delete()


def test_the_key_goes_with_every_request() -> None:
    transport = Scripted(httpx.Response(200, json={"store": "memory"}))
    with Client(URL, "llr_secret", transport=transport) as client:
        client.version()
    assert transport.requests[0].headers["authorization"] == "Bearer llr_secret"


@pytest.mark.parametrize("key", ["", "two words", "new\nline", "ключ"])
def test_a_key_that_no_header_can_carry_is_refused(key: str) -> None:
    with pytest.raises(ValueError, match="visible ASCII") as refused:
        Client(URL, key)
    assert not key or key not in str(refused.value)


@pytest.mark.parametrize("name", ["", "..", "a/b", "a b", "é", "-a", "a" * 129, "a\n"])
def test_a_name_that_would_lead_elsewhere_is_refused(sdk: Client, name: str) -> None:
    with pytest.raises(ValueError, match="name"):
        sdk.session(name)


@pytest.mark.parametrize("url", ["", "ftp://host", "http://", "http://a b:x/"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="address"):
        Client(url)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ((X, Y[:-1]), "a row and y a number"),
        ((X[0], Y[0]), "a row and y a number"),
        ((np.empty((0, 3)), []), "no samples"),
        ((X, [None] * len(Y)), "numbers"),
        ((X * 1j, Y), "numbers"),
    ],
)
def test_arrays_that_are_no_samples_are_refused_unsent(
    sdk: Client, flaky: Flaky, arguments: tuple[Any, ...], why: str
) -> None:
    session = sdk.session("arrays")
    with pytest.raises(ValueError, match=why):
        session.learn_many(*arguments)
    assert flaky.requests == []


def test_many_labels_for_one_sample_are_refused_unsent(sdk: Client, flaky: Flaky) -> None:
    with pytest.raises(ValueError, match="learn_many"):
        sdk.session("labels").learn(X, Y)
    assert flaky.requests == []


STATE = (
    b'data: {"name": "w", "t": %d, "model": "gaussian", "algorithm": "sg", "dim": 1,'
    b' "status": "ok", "config": {}, "eta": 1.0, "log_eta": 0.0, "theta": [0],'
    b' "loss": {"total": 0, "mean": null}, "regret": {"ml": null, "best_fixed": null},'
    b' "of a later version": 1}\n\n'
)


def test_events_come_back_after_a_break_with_the_last_that_was_seen() -> None:
    gone = {"type": "urn:llr:problem:session-not-found", "detail": "gone"}
    ids = [b"id: 1\n", b"id: 5\n", b"id: 6-0f\n"]
    first = lines(b"retry: 1000\n\n", ids[0], STATE % 1, ids[1], broken=True)
    second = lines(ids[1], STATE % 5, ids[2], STATE % 6)
    time = Time()
    transport = Scripted(
        httpx.Response(200, content=first),
        httpx.Response(503, headers={"retry-after": "1"}),
        httpx.Response(200, content=second),
        httpx.Response(404, json=gone),
    )
    with Client(URL, transport=transport, clock=time.clock) as client:
        assert [state.t for state in client.session("w").events()] == [1, 5, 6]
    sent = [request.headers.get("last-event-id") for request in transport.requests]
    assert sent == [None, "1", "1", "6-0f"]
    assert len(time.slept) == 3


def test_events_of_another_session_of_the_name_begin_anew() -> None:
    gone = {"type": "urn:llr:problem:session-not-found", "detail": "gone"}
    transport = Scripted(
        httpx.Response(200, content=lines(b"id: 0\n", STATE % 0, b"id:\n\n")),
        httpx.Response(200, content=lines(b"id: 0\n", STATE % 0)),
        httpx.Response(404, json=gone),
    )
    with Client(URL, transport=transport, clock=Time().clock) as client:
        assert [state.t for state in client.session("w").events()] == [0, 0]
    sent = [request.headers.get("last-event-id") for request in transport.requests]
    assert sent == [None, None, "0"]


def test_events_of_a_session_that_is_not_there_say_so(sdk: Client) -> None:
    with pytest.raises(llr_client.SessionNotFound):
        next(sdk.session("nobody").events())


def test_what_is_not_this_service_is_told_apart() -> None:
    for answer in (
        httpx.Response(200, text="<html>"),
        httpx.Response(200, json=[]),
        httpx.Response(302, headers={"location": "/login"}),
    ):
        client = Client(URL, transport=Scripted(answer))
        with client, pytest.raises(errors.UnexpectedAnswer):
            client.session("s").learn(1.0)


@pytest.mark.parametrize("answer", [{"hello": 1}, [], 7])
@pytest.mark.parametrize(
    "ask",
    [
        lambda client: list(client.sessions()),
        lambda client: client.catalog(),
        lambda client: client.version(),
        lambda client: client.session("s").predict([1.0]),
        lambda client: client.session("s").acked(),
    ],
)
def test_what_is_asked_of_another_service_is_told_apart(ask: Any, answer: Any) -> None:
    client = Client(URL, transport=Scripted(httpx.Response(200, json=answer)))
    with client, pytest.raises(errors.UnexpectedAnswer):
        ask(client)


@pytest.mark.parametrize("chunk_bytes", [100, 10**6])
def test_samples_may_have_numbers_with_holes(sdk: Client, chunk_bytes: int) -> None:
    session = sdk.session("holes", model="linear", dim=3, producer="offsets")
    assert session.learn(X[0], Y[0], seq=4).accepted == 1
    numbers = np.arange(5, 65, 2)
    answer = session.learn_many(X[1:31], Y[1:31], seq=numbers, chunk_bytes=chunk_bytes)
    assert (answer.accepted, session.acked()) == (30, 64)
    again = session.learn_many(X[1:32], Y[1:32], seq=[*numbers, 80], chunk_bytes=chunk_bytes)
    assert (again.accepted, again.t) == (1, 32)
    rows = [{"a": each} for each in range(3)]
    named = sdk.session("named-holes", model="linear", producer="offsets")
    assert named.learn_many(rows, [1.0, 2.0, 3.0], seq=[7, 8, 30]).accepted == 3
    assert named.acked() == 31
    with pytest.raises(ValueError, match="seq increases"):
        session.learn_many(X[:2], Y[:2], seq=[90, 90])
    assert session.snapshot()["state"] == direct(X[:32], Y[:32]).to_plain()


def test_numbers_are_skipped_with_and_without_samples(client: Client) -> None:
    session = client.session("holes", model="linear", producer="p")
    assert session.learn([1.0, 2.0], 1.0, seq=4, next=9).accepted == 1
    assert session.acked() == 9
    assert session.learn_many(X[:4, :2], Y[:4], seq=[9, 12, 13, 20], next=30, chunk_bytes=40).t == 5
    assert (session.acked(), session.skip_to(41), session.skip_to(7)) == (30, 41, 41)
    assert client.session("holes", producer="p").acked() == 41
    list(session.stream([{"x": [1.0, 2.0], "y": 1.0, "seq": seq} for seq in (40, 41, 50)], block=2))
    assert (session.acked(), session.state().t) == (51, 7)
