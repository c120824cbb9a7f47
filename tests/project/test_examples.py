"""The examples run against a fresh service, and what they print is so."""

import runpy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.image import imread
from support.root import ROOT
from support.serving import serving

FOLDER = ROOT / "examples"
Told = dict[str, Any]


def sensor(told: Told) -> None:
    assert told["before"] < 0.1
    assert told["delay"] <= 60
    assert told["after"] < 0.1
    assert told["average_after"] > 1
    [alarm] = told["alarms"]
    assert told["MOVED"] < alarm <= told["MOVED"] + 60


def clicks(told: Told) -> None:
    assert told["worst"] < 0.1
    assert told["state"].t == told["N"]
    assert told["waiting"] == 0


def prices(told: Told) -> None:
    assert told["errors"]["huber"][-1] < 3
    assert told["errors"]["linear"][-1] > 15
    assert np.allclose(told["learnt"]["huber"][1:], told["WORTH"], rtol=0.1)
    assert told["lead"] < 0


def digits(told: Told) -> None:
    assert told["first"] < 0.85
    assert told["last"] > 0.95
    assert told["answer"].t == told["N"]


CHECKS: dict[str, Callable[[Told], None]] = {
    check.__name__: check for check in (sensor, clicks, prices, digits)
}


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(f"sqlite:///{tmp_path_factory.mktemp('examples') / 'llr.db'}") as started:
        yield started


def test_every_example_is_checked_and_listed() -> None:
    assert {path.stem for path in FOLDER.glob("*.py")} == set(CHECKS)
    readme = (FOLDER / "README.md").read_text()
    assert all(f"[{name}.py]({name}.py)" in readme for name in CHECKS)


@pytest.mark.parametrize("name", CHECKS)
def test_an_example_says_what_is_so_and_draws_it(
    name: str,
    address: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LLR_URL", f"http://{address}")
    told = runpy.run_path(str(FOLDER / f"{name}.py"))
    CHECKS[name](told)
    assert f"drawn: out/{name}.png" in capsys.readouterr().out
    picture = imread(tmp_path / "out" / f"{name}.png")
    assert min(picture.shape[:2]) > 300
    assert picture[..., :3].std() > 0.05, "nothing is drawn"
