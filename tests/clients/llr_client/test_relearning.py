"""What-ifs through the SDK, against the real service and against one that is made up."""

import asyncio
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from llr_client import AsyncClient, Client, Session, errors
from llr_client.answers import Relearning, Retained, State, parse
from support.serving import serving

RNG = np.random.default_rng(5)
X = RNG.normal(size=(3000, 3))
Y = X @ [1.0, -2.0, 3.0]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with serving("memory:", log_level="error") as found:
        yield f"http://{found}"


@pytest.fixture
def kept(address: str) -> Iterator[Session]:
    """A session with 3000 samples that it keeps."""
    with Client(address) as client:
        session = client.session("kept", "linear", dim=3, algorithm="sg/ag", retain=True)
        session.learn_many(X, Y)
        yield session
        for row in client.sessions():
            client.session(row.name).delete()


def test_a_what_if_is_waited_for_and_tells_how_far_it_is(kept: Session) -> None:
    seen: list[Relearning] = []
    state = kept.fork("rival", algorithm="sg", eta0=0.01, relearn=True).relearnt(seen.append)
    assert seen[-1] == state.relearning == Relearning("kept", 3000, 3000)
    assert [going.done for going in seen] == sorted(going.done for going in seen)
    assert (state.t, state.algorithm, state.status) == (3000, "sg", "ok")
    retained = kept.state().retained
    assert isinstance(retained, Retained)
    assert (retained.samples, retained.complete) == (3000, True)
    assert kept.fork("plain", retain=False).relearnt().relearning is None


def test_a_what_if_can_be_awaited(kept: Session, address: str) -> None:
    async def talk() -> State:
        async with AsyncClient(address) as client:
            session = await client.session("kept")
            return await (await session.fork("rival", relearn=True)).relearnt()

    assert asyncio.run(talk()).theta == kept.state().theta


def test_one_that_stops_is_an_error_that_says_why(kept: Session) -> None:
    rival = kept.fork("rival", algorithm="sg", eta0=1e9, relearn=True)
    with pytest.raises(errors.RelearningStopped, match="leave the finite numbers"):
        rival.relearnt()
    with pytest.raises(errors.RelearningStopped, match="Delete it, then fork again"):
        rival.learn(X[0], Y[0])


def test_what_was_not_kept_cannot_be_learnt_again(kept: Session) -> None:
    plain = kept.fork("plain", retain=False)
    with pytest.raises(errors.NotRetained, match='"retain": true'):
        plain.fork("rival", relearn=True)


@pytest.mark.parametrize("missing", ["retained", "relearning"])
def test_a_state_of_an_older_service_can_be_read(missing: str) -> None:
    members: dict[str, Any] = {
        "name": "old",
        "model": "linear",
        "algorithm": "sg/ag",
        "dim": 3,
        "t": 0,
        "status": "ok",
        "config": {},
        "eta": 1.0,
        "log_eta": 0.0,
        "theta": [],
        "loss": {"total": 0.0, "mean": None},
        "regret": {"ml": None, "best_fixed": None},
    }
    assert getattr(parse(State, members), missing) is None
