"""Shadows and drift by the SDK and the command line."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from llr_cli.cli import app
from llr_client import Client
from llr_client.errors import Invalid, ShadowExists, ShadowNotFound
from llr_service.app import App
from llr_service.settings import Settings
from starlette.testclient import TestClient
from support.serving import serving
from typer.testing import CliRunner

RNG = np.random.default_rng(2)
X = RNG.normal(size=(300, 2))
Y = X @ [1.0, -2.0] + 0.1 * RNG.normal(size=300)
RIVAL = {"rival": {"algorithm": "sg/ag", "eta0": 0.01}}


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    settings = Settings(store=f"sqlite:///{tmp_path / 'llr.db'}")
    with (
        TestClient(App(settings)) as http,
        Client("http://testserver", transport=http._transport) as made,
    ):
        yield made


def test_a_contest_is_held_and_decided(client: Client) -> None:
    session = client.session("contest", "linear", algorithm="sg", shadows=RIVAL)
    answer = session.learn_many(X[:100], Y[:100])
    rival = answer.shadows["rival"]
    assert rival.lead == pytest.approx(answer.loss.mean - rival.loss.mean)  # type: ignore[operator]
    assert session.add_shadow("late", "svrg", eta0=0.02).shadows["late"].since == 100
    with pytest.raises(ShadowExists):
        session.add_shadow("late", "sg")
    state = session.promote("rival")
    assert (state.champion, state.former, state.algorithm) == ("rival", "sg", "sg/ag")
    session.remove_shadow("late")
    with pytest.raises(ShadowNotFound):
        session.promote("late")
    assert set(session.history().shadows) == {"sg"}
    assert session.learn(X[0], Y[0]).t == 101
    with pytest.raises(Invalid):
        client.session("open", "linear").add_shadow("x", "sg")


def test_drift_is_told(client: Client) -> None:
    session = client.session("level", "gaussian", algorithm="sg")
    session.learn_many(RNG.normal(size=500))
    session.learn_many(60.0 + RNG.normal(size=100))
    drift = session.state().drift
    assert drift is not None
    assert drift.alarms == 1
    assert session.history().drift == drift.at
    still = client.session("blind", "gaussian", drift=False)
    assert still.state().drift is None


def test_the_command_line_compares_and_promotes(tmp_path: Path) -> None:
    def llr(*words: str) -> str:
        done = CliRunner().invoke(app, [*words, "--url", f"http://{address}"])
        assert done.exit_code == 0, done.output
        return done.output

    with serving(f"sqlite:///{tmp_path / 'llr.db'}") as address:
        with Client(f"http://{address}") as client:
            session = client.session("demo", "gaussian", algorithm="sg")
            session.learn_many(RNG.normal(size=500))
            llr("sessions", "add-shadow", "demo", "rival", "--algorithm", "auto")
            session.learn_many(60.0 + RNG.normal(size=100))
        table = llr("sessions", "shadows", "demo")
        assert "champion" in table
        assert "rival" in table
        assert "drift at 50" in llr("watch", "demo", "--count", "1")
        assert "is the shadow sg" in llr("sessions", "promote", "demo", "rival")
        assert "no longer" in llr("sessions", "remove-shadow", "demo", "sg")
        assert llr("sessions", "shadows", "demo", "--json") == "{}\n"
