"""Where a batch is learnt: in the event loop if that takes a millisecond at most, or a thread."""

from typing import Any

import pytest
from llr_service.app import App
from llr_service.sessions.session import Session
from llr_service.settings import Settings
from support.app import DEMO, SAMPLES, Stub, running

pytestmark = pytest.mark.anyio


@pytest.fixture
def threaded(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of the batches that were learnt in a thread."""
    sizes = list[int]()
    step = Session._step_in_thread

    async def noted(session: Session, new: Any, predictions: bool) -> Any:
        sizes.append(new.samples.n)
        return await step(session, new, predictions)

    monkeypatch.setattr(Session, "_step_in_thread", noted)
    return sizes


def rows(dim: int, n: int) -> dict[str, Any]:
    return {"x": [[1.0] * dim] * n, "y": [1.0] * n}


@pytest.mark.parametrize(
    ("config", "body", "quick"),
    [
        ({"model": "linear", "dim": 10}, rows(10, 100), True),
        ({"model": "linear", "dim": 10}, rows(10, 1100), False),
        ({"model": "linear", "dim": 50}, rows(50, 1), True),
        ({"model": "linear", "dim": 50}, rows(50, 240), False),
        ({"model": "linear", "dim": 50, "algorithm": "sg", "regret": "off"}, rows(50, 240), True),
        ({"model": "linear", "dim": 1000, "algorithm": "kalman"}, rows(1000, 10), False),
        (
            {"model": "softmax", "dim": 10, "options": {"classes": 10}},
            rows(10, 200),
            False,
        ),
        ({"model": "gaussian"}, {"y": [1.0] * 1000}, True),
        ({"model": "gaussian"}, {"y": [1.0] * 5000}, False),
        ({"model": "linear"}, rows(10, 1), True),
        ({"model": "linear"}, rows(1000, 10), False),
    ],
)
async def test_the_cost_of_the_steps_decides(
    store: Stub, threaded: list[int], config: dict[str, Any], body: dict[str, Any], quick: bool
) -> None:
    async with running(App(Settings())) as http:
        assert (await http.put(DEMO, json=config)).status_code == 201
        answer = await http.post(SAMPLES, json=body)
        assert (answer.status_code, answer.json()["accepted"]) == (200, len(body["y"]))
    assert threaded == ([] if quick else [len(body["y"])])


async def test_shadows_learn_too(store: Stub, threaded: list[int]) -> None:
    many = rows(10, 400)
    async with running(App(Settings())) as http:
        await http.put(DEMO, json={"model": "linear", "dim": 10})
        await http.post(SAMPLES, json=many)
        assert threaded == []
        for name in ("one", "two"):
            await http.put(f"{DEMO}/shadows/{name}", json={"algorithm": "auto"})
        await http.post(SAMPLES, json=many)
    assert threaded == [400]
