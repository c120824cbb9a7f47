"""A change that is stored upon one whose outcome was not known is shown by its own answer."""

import asyncio
import threading
from collections.abc import Sequence

import pytest
from llr_service.app import App
from llr_service.settings import Settings
from llr_service.stores.memory import Memory
from llr_service.stores.store import Change, Result, StoreUnavailable
from support.app import DEMO, SAMPLES, running, settle, until

pytestmark = pytest.mark.anyio


class Ambiguous(Memory):
    """Stores the group that waits at its gate, and fails."""

    def __init__(self) -> None:
        super().__init__()
        self.open, self.waiting = threading.Event(), False
        self.open.set()

    def write(self, group: Sequence[Change]) -> list[Result]:
        held = not self.open.is_set()
        self.waiting = held
        assert self.open.wait(20)
        results = super().write(group)
        if held:
            raise StoreUnavailable("after it wrote")
        return results


async def test_an_added_shadow_is_in_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    store = Ambiguous()
    monkeypatch.setattr("llr_service.app.open_store", lambda _: store)
    async with running(App(Settings(store="memory:"))) as http:
        await http.put(DEMO, json={"model": "linear", "dim": 2})
        store.open.clear()
        learning = asyncio.ensure_future(http.post(SAMPLES, json={"x": [1.0, 0.0], "y": 1.0}))
        await until(lambda: store.waiting)
        body = {"algorithm": "sg"}
        adding = asyncio.ensure_future(http.put(f"{DEMO}/shadows/more", json=body))
        await settle()
        store.open.set()
        assert (await learning).status_code == 503
        added = await adding
        assert added.status_code == 201
        assert (added.json()["t"], [*added.json()["shadows"]]) == (1, ["more"])
